"""ncdump and nccopy of netCDF datasets and files on servers, by the URLs that netCDF defines."""

import os
import pathlib
import signal
import subprocess
import urllib.parse

import h5py
import netCDF4
import numpy as np
import pytest
from interrupts import heed_interrupts

ROOT = pathlib.Path(__file__).parents[2]
MiB = 2**20


def run(*arguments, env=None):
    done = subprocess.run(["sherd", *map(str, arguments)], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})})
    return done.returncode, done.stdout, done.stderr


class Counted:
    """The requests to nginx for one object inside of it. Other tests may use the same server meanwhile."""

    def __init__(self, server, url):
        self.server, self.target = server, urllib.parse.urlsplit(url).path

    def _ranges(self):
        return [each for each in self.server.requests() if each["target"] == self.target]

    def __enter__(self):
        self.before = len(self._ranges())
        return self

    def __exit__(self, *error):
        ranges = self._ranges()[self.before:]
        self.requests, self.sent = len(ranges), sum(each["sent"] for each in ranges)


def make_file(path, format="NETCDF4"):
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("time", 5)
        variable = file.createVariable("v", "f4", ("time",))
        variable[:] = np.arange(5)
        variable.units = "m"
    return path


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("fragment", ["#mode=bytes", "#bytes", "?sig=a/b.c#mode=bytes"])
def test_a_netcdf_file_on_a_server_is_dumped_as_a_local_one(nginx, tmp_path, format, fragment):
    file = make_file(tmp_path / "a b.nc", format)
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a b.nc", file.read_bytes())
    url = nginx.at(bucket, "a b.nc") + fragment
    expected = subprocess.run(["ncdump", file], capture_output=True, text=True, check=True).stdout
    assert run("ncdump", url) == (0, expected, "")
    assert run("nccopy", url, tmp_path / "copy.zarr")[0] == 0
    assert run("ncdump", tmp_path / "copy.zarr")[1].splitlines()[1:5] == expected.splitlines()[1:5]
    assert not [name for name in os.listdir("/tmp") if name.startswith(f"sherd-{os.getpid()}-")]


def make_large_file(path, format):
    """Four variables of 6 MiB, and a short one behind them."""
    with netCDF4.Dataset(path, "w", format=format) as file:
        for name, length in (("time", None), ("y", 256), ("x", 512)):
            file.createDimension(name, length)
        chunks = {"chunksizes": (1, 128, 512), "zlib": True, "complevel": 1} if format == "NETCDF4" else {}
        for name in "abcd":
            variable = file.createVariable(name, "f4", ("time", "y", "x"), **chunks)
            variable[:] = np.random.default_rng(ord(name)).random((12, 256, 512), dtype="f4")
            variable.title = name * 1000
        file.createVariable("rows", "i2", ("y",))[:] = np.arange(256)
        file.about = "large"
    return path


@pytest.fixture(scope="module", params=["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def large(request, nginx, tmp_path_factory):
    """A file, and its URL."""
    file = make_large_file(tmp_path_factory.mktemp("large") / "large.nc", request.param)
    bucket = nginx.create_bucket()
    nginx.put(bucket, "large.nc", file.read_bytes())
    return file, nginx.at(bucket, "large.nc") + "#mode=bytes"


def test_the_header_of_a_large_file_takes_few_requests(nginx, large):
    file, url = large
    assert file.stat().st_size > 19 * MiB
    with Counted(nginx, url) as header:
        assert run("ncdump", "-h", url) == run("ncdump", "-h", file)
    with file.open("rb") as opened:
        is_classic = opened.read(3) == b"CDF"
    assert header.requests <= (1 if is_classic else 8) and header.sent <= 2 * MiB
    with Counted(nginx, url) as short:
        assert run("ncdump", "-v", "rows", url) == run("ncdump", "-v", "rows", file)
    assert short.requests <= header.requests + 1 and short.sent <= header.sent + MiB


def test_a_variable_is_read_without_the_others(nginx, large):
    file, url = large
    with Counted(nginx, url) as counted:
        assert run("ncdump", "-v", "c", url) == run("ncdump", "-v", "c", file)
    assert counted.requests <= 40 and counted.sent <= 14 * MiB
    with Counted(nginx, url) as whole:
        assert run("ncdump", url) == run("ncdump", file)
    assert whole.requests <= 100 and whole.sent <= file.stat().st_size * 1.2


def test_netcdf_c_reads_the_same_values_with_more_requests(nginx, large):
    file, url = large
    peer = ROOT / ".venv-netcdf4-1.7.5/bin/python"
    with Counted(nginx, url) as theirs:
        done = subprocess.run([peer, "-c", f"import netCDF4; d = netCDF4.Dataset({url!r}); print(*d['rows'][:], d.about)"],
                              capture_output=True, text=True)
    assert done.stdout.split() == [*map(str, range(256)), "large"], done.stderr
    with Counted(nginx, url) as ours:
        text = run("ncdump", "-v", "rows", url)[1]
    assert " rows = 0, 1, 2, 3, 4" in text and "about = \"large\"" in text
    assert ours.requests < theirs.requests


def pad(file, name):
    """Parts of the file around it are not read together."""
    file.createVariable(name, "u1", ("padding",))[:] = 1


def add_types(file):
    for name in ("t", "u"):
        file.createDimension(name, None)
    file.createDimension("x", 3)
    file.createVariable("fill", "f4", ("t", "x"), fill_value=-5)[:4] = 1
    file.createVariable("short", "i2", ("t",))[:2] = [1, 2]  # is filled up to the length of the dimension
    file.createVariable("corner", "f8", ("t", "u"), fill_value=False)[0, 0] = 1
    pad(file, "pad1")
    file.createVariable("square", "i4", ("t", "u"), endian="big")[:2, :5] = np.arange(10).reshape(2, 5)
    file.createVariable("letters", "S1", ("t", "x"))[0] = [b"a", b"b", b"c"]
    file.createVariable("texts", str, ("t",))[0] = "hello"
    file.createVariable("filled", str, ("t", "u"), fill_value="FILL")[0, 0] = "one"
    file.createVariable("scalar", "f8")[...] = 2.5
    pad(file, "pad2")
    file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
    file.createVariable("flag", file.createEnumType("u1", "enum", {"A": 0, "B": 1}), ("x",))


def add_metadata(file):
    file.createDimension("x", 3)
    file.setncattr_string("strings", ["a", "b"])
    for i in range(40):
        group = file.createGroup(f"g{i}/inner")
        group.createVariable("v", "i4", ("x",))[:] = i
        if i % 10 == 5:
            pad(file, f"pad{i}")
    for i in range(30):
        file["g7/inner/v"].setncattr(f"a{i}", np.arange(i + 1))
        file["g8/inner/v"].setncattr(f"text{i}", "t" * 100 * i)
    file.long = "y" * 100_000


FILLERS = {"types": add_types, "metadata": add_metadata}


@pytest.mark.parametrize("release", [None, "1.6.3", "1.6.5", "1.7.3", "1.7.5"])
@pytest.mark.parametrize("filler", FILLERS)
def test_scattered_definitions_are_read_alike(nginx, tmp_path, filler, release):
    """By Debian's netCDF-C and by those in the wheels of netCDF4, with HDF5 1.10 to 2."""
    file = tmp_path / "x.nc"
    with netCDF4.Dataset(file, "w") as dataset:
        dataset.createDimension("padding", 8 * MiB)
        FILLERS[filler](dataset)
    bucket = nginx.create_bucket()
    nginx.put(bucket, "x.nc", file.read_bytes())
    env = {}
    if release is not None:
        wheel, = (ROOT / f".venv-netcdf4-{release}/lib").glob("python*/site-packages/[nN]et[cC][dD][fF]4.libs")
        (tmp_path / "lib").mkdir()
        for library in wheel.iterdir():
            (tmp_path / "lib" / library.name).symlink_to(library)
        (tmp_path / "lib/libnetcdf.so.19").symlink_to(next(wheel.glob("libnetcdf-*")))
        env["LD_LIBRARY_PATH"] = str(tmp_path / "lib")
    with netCDF4.Dataset(file) as dataset:
        names = ",".join(name for name, variable in dataset.variables.items() if name != "flag" and "padding" not in variable.dimensions)
    arguments = ["ncdump", "-v", names] if names else ["ncdump", "-h"]
    with Counted(nginx, nginx.at(bucket, "x.nc")) as counted:
        there = run(*arguments, nginx.at(bucket, "x.nc") + "#mode=bytes", env=env)
    assert there == run(*arguments, file, env=env) and there[0] == 0
    assert counted.requests < 30 and counted.sent < file.stat().st_size / 2


def test_a_file_behind_a_user_block_is_read(nginx, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w", userblock_size=4 * MiB) as file:
        file["v"] = np.arange(1000.0)
        file["texts"] = np.array([b"ab", b"c"], dtype="S5")
    bucket = nginx.create_bucket()
    nginx.put(bucket, "x.h5", (tmp_path / "x.h5").read_bytes())
    there = run("ncdump", nginx.at(bucket, "x.h5") + "#bytes")
    assert there == run("ncdump", tmp_path / "x.h5") and there[0] == 0


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_a_file_that_was_cut_off_is_refused_by_its_url(nginx, tmp_path, format):
    file = make_large_file(tmp_path / "x.nc", format)
    (tmp_path / "cut.nc").write_bytes(file.read_bytes()[:-4 * MiB])
    bucket = nginx.create_bucket()
    nginx.put(bucket, "cut.nc", (tmp_path / "cut.nc").read_bytes())
    here, there = run("ncdump", tmp_path / "cut.nc"), run("ncdump", nginx.at(bucket, "cut.nc") + "#mode=bytes")
    assert there == (here[0], here[1], here[2].replace(str(tmp_path / "cut.nc"), nginx.at(bucket, "cut.nc"))) and here[0] == 4


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("begin", [2 * MiB, 0])
def test_an_interrupt_ends_a_dump_of_a_file_on_a_silent_server(fault_proxy, tmp_path, format, begin):
    """That is silent from a request on that begins there: while elements are read, or the definitions."""
    proxy = fault_proxy(None, {"silent": True, "skip": 1} if begin else {"silent": True})
    proxy.put("b/x.nc", make_large_file(tmp_path / "x.nc", format).read_bytes())
    dump = subprocess.Popen(["sherd", "ncdump", f"{proxy.url}/b/x.nc#mode=bytes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env={"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}, preexec_fn=heed_interrupts)
    while len([each for each in proxy.requests() if "x.nc" in each["target"]]) < (2 if begin else 1):
        assert dump.poll() is None, dump.stderr.read()
    dump.send_signal(signal.SIGINT)
    assert dump.wait() == 128 + signal.SIGINT  # the server would never end it


def test_what_is_no_netcdf_file_is_refused_by_its_url(nginx, tmp_path):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "text", b"no netCDF file")
    code, _, error = run("ncdump", nginx.at(bucket, "text") + "#mode=bytes")
    assert (code, error) == (2, f"sherd: '{nginx.at(bucket, 'text')}' is not a netCDF file\n")
    code, _, error = run("ncdump", nginx.at(bucket, "none.nc") + "#mode=bytes")
    assert code == 3 and "does not exist" in error
    code, _, error = run("ncdump", f"{make_file(tmp_path / 'a.nc')}#mode=bytes")
    assert code == 2 and "mode=bytes is for a netCDF file on a server" in error


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_the_error_of_a_file_without_its_mode_names_the_mode(nginx, radosgw, tmp_path, format):
    file, bucket, name = make_file(tmp_path / "x.nc", format), radosgw.create_bucket(), nginx.create_bucket()
    radosgw.put(bucket, "in/x.nc", file.read_bytes())
    nginx.put(name, "x.nc", file.read_bytes())
    env = {"AWS_ACCESS_KEY_ID": radosgw.key, "AWS_SECRET_ACCESS_KEY": radosgw.secret, "AWS_ENDPOINT_URL_S3": radosgw.url}
    for url in (f"s3://{bucket}/in/x.nc", nginx.at(name, "x.nc")):
        for command in (["ncdump", url], ["nccopy", url, tmp_path / "y.zarr"], ["info", url]):
            code, _, error = run(*command, env=env)
            assert code == 5 and f"{url} is a netCDF" in error and "'#mode=bytes' after its URL" in error, error
        assert run("ncdump", f"{url}#mode=bytes", env=env)[:2] == run("ncdump", file)[:2]


@pytest.mark.parametrize("form", ["s3", "path", "path and macro"])
def test_a_dataset_in_a_bucket_is_opened_by_each_url_of_netcdf(radosgw, tmp_path, form):
    dataset = tmp_path / "d.zarr"
    assert run("nccopy", make_file(tmp_path / "d.nc"), dataset)[0] == 0
    bucket = radosgw.create_bucket()
    radosgw.put_folder(bucket, dataset, "in/d.zarr/")
    keys = {"AWS_ACCESS_KEY_ID": radosgw.key, "AWS_SECRET_ACCESS_KEY": radosgw.secret}
    url, more = {
        "s3": (f"s3://{bucket}/in/d.zarr#mode=nczarr,s3", {"AWS_ENDPOINT_URL_S3": radosgw.url}),
        "path": (f"{radosgw.url}/{bucket}/in/d.zarr#mode=nczarr,s3", {}),
        "path and macro": (f"{radosgw.url}/{bucket}/in/d.zarr#s3&mode=nczarr&aws.region=us-east-1", {}),
    }[form]
    code, out, error = run("ncdump", url, env=keys | more)
    assert (code, error) == (0, "")
    assert out == run("ncdump", dataset)[1]


def test_a_profile_of_the_fragment_signs_the_requests(radosgw, tmp_path):
    dataset = tmp_path / "d.zarr"
    assert run("nccopy", make_file(tmp_path / "d.nc"), dataset)[0] == 0
    bucket = radosgw.create_bucket()
    radosgw.put_folder(bucket, dataset, "d.zarr/")
    (tmp_path / "credentials").write_text(
        f"[other]\naws_access_key_id = {radosgw.key}\naws_secret_access_key = {radosgw.secret}\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"), "AWS_CONFIG_FILE": str(tmp_path / "none"),
             "AWS_EC2_METADATA_DISABLED": "true"}
    url = f"{radosgw.url}/{bucket}/d.zarr#mode=nczarr,s3"
    assert run("ncdump", "-h", url + "&aws.profile=other", env=files)[0] == 0
    assert "no credentials for S3" in run("ncdump", "-h", url, env=files)[2]
    assert "anonymous" in run("ncdump", "-h", url + "&awsprofile=none", env=files)[2]
