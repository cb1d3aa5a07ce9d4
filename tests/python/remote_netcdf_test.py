"""netCDF files on servers, opened in Python."""

import pickle
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import sherd
import xarray

VALUES = np.arange(2_000_000, dtype="i4").reshape(20, 100_000)


@pytest.fixture(scope="module", params=["NETCDF4", "NETCDF3_64BIT_OFFSET"])
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("netcdf") / "a.nc"
    with netCDF4.Dataset(path, "w", format=request.param) as dataset:
        dataset.createDimension("t", None)
        dataset.createDimension("x", 100_000)
        for name in ("first", "second"):
            dataset.createVariable(name, "i4", ("t", "x"))[:] = VALUES
        dataset.title = "a"
    return path


def test_elements_are_read_when_they_are_asked_for(nginx, file):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a.nc", file.read_bytes())
    dataset = sherd.netcdf.open_dataset(nginx.at(bucket, "a.nc") + "#mode=bytes")

    def requests():  # other tests may use the same server meanwhile
        return [each for each in nginx.requests() if each["target"] == f"/plain/{bucket}/a.nc"]

    before = len(requests())
    assert before > 0 and dataset.attributes["title"] == "a" and dataset["second"].shape == VALUES.shape
    assert len(requests()) == before
    np.testing.assert_array_equal(dataset["second"][3:5, 10:90_000:7], VALUES[3:5, 10:90_000:7])
    sent = sum(each["sent"] for each in requests()[before:])
    assert sent < file.stat().st_size / 4
    np.testing.assert_array_equal(dataset["first"][:, 99_999], VALUES[:, 99_999])
    np.testing.assert_array_equal(dataset["first"][:], VALUES)


def test_a_file_in_a_private_bucket_is_read_with_credentials(radosgw, file):
    bucket = radosgw.create_bucket()
    radosgw.put(bucket, "in/a.nc", file.read_bytes())
    options = {"key": radosgw.key, "secret": radosgw.secret, "endpoint": radosgw.url, "region": radosgw.region}
    dataset = sherd.netcdf.open_dataset(f"s3://{bucket}/in/a.nc#mode=bytes", config={"storage_options": options})
    np.testing.assert_array_equal(dataset["second"][7], VALUES[7])


def test_a_file_that_was_replaced_is_a_conflict(nginx, file):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a.nc", file.read_bytes())
    dataset = sherd.netcdf.open_dataset(nginx.at(bucket, "a.nc") + "#mode=bytes")
    nginx.put(bucket, "a.nc", file.read_bytes() + b"\0")
    with pytest.raises(sherd.Conflict, match="a.nc"):
        dataset["second"][19]


def test_a_server_that_fails_is_named_not_the_file(fault_proxy, file):
    proxy = fault_proxy()
    proxy.put("b/a.nc", file.read_bytes())
    dataset = sherd.netcdf.open_dataset(f"{proxy.url}/b/a.nc#mode=bytes", config={"storage_options": {"attempts": 2}})
    proxy.set({"status": 403, "body": "no"})
    with pytest.raises(sherd.Error, match="403"):
        dataset["second"][19]
    proxy.set()
    np.testing.assert_array_equal(dataset["second"][19], VALUES[19])


def test_a_dataset_that_threads_read_and_drop_is_closed(nginx, file):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a.nc", file.read_bytes())
    program = f"""if True:
        import concurrent.futures, sherd
        def read(i):
            return int(sherd.netcdf.open_dataset({nginx.at(bucket, "a.nc") + "#mode=bytes"!r})["first"][i, i])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            print(sum(pool.map(read, range(20))))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{sum(VALUES[i, i] for i in range(20))}\n", "")


def test_xarray_reads_a_file_by_ranges_and_its_pickle_opens_it_again(nginx, file):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a.nc", file.read_bytes())
    url = nginx.at(bucket, "a.nc") + "#mode=bytes"
    opened = xarray.open_dataset(url, engine="sherd")
    with xarray.open_dataset(url, engine="netcdf4") as theirs:
        xarray.testing.assert_identical(opened, theirs)
    again = pickle.loads(pickle.dumps(xarray.open_dataset(url, engine="sherd")))
    np.testing.assert_array_equal(again["second"].isel(t=[3, 5], x=slice(10, 90_000, 7)), VALUES[[3, 5], 10:90_000:7])


def test_xarray_reads_a_file_in_a_private_bucket(radosgw, file):
    bucket = radosgw.create_bucket()
    radosgw.put(bucket, "in/a.nc", file.read_bytes())
    options = {"key": radosgw.key, "secret": radosgw.secret, "endpoint": radosgw.url, "region": radosgw.region}
    dataset = xarray.open_dataset(f"s3://{bucket}/in/a.nc#mode=bytes", engine="sherd", storage_options=options)
    np.testing.assert_array_equal(dataset["second"][7], VALUES[7])
