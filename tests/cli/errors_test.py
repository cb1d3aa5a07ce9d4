"""What the command says when an argument is wrong: the option as it was spelled, the nearest known name, the exit code."""

import json
import os
import resource
import subprocess

import pytest


def message(sherd, *arguments):
    """The one line on stderr of a usage error."""
    ran = sherd(*arguments)
    assert ran.code == 2, ran.stderr
    assert ran.stderr.startswith("sherd: ") and ran.stderr.count("\n") == 1
    return ran.stderr.removeprefix("sherd: ").strip()


@pytest.fixture
def source(sherd):
    sherd.ok("create", "a.zarr", "--shape", "8,8,8", "--dtype", "uint16", "--chunks", "4,4,4", "--shards", "8,8,8")
    sherd.ok("write", "a.zarr", "--value", "3")
    return "a.zarr"


@pytest.fixture
def volume(sherd):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "8,8,8", "--dtype", "uint8", "--chunks", "4,4,4",
             "--resolution", "8,8,8")
    return "em"


CODECS = [("ztsd", "unknown codec 'ztsd'; did you mean 'zstd'?"), ("frobnicate", "unknown codec 'frobnicate'"),
          ('{"name": "ztsd"}', "unknown codec 'ztsd'; did you mean 'zstd'?"),
          ("zstd:99", "'99' after the colon must be an integer from -131072 to 22"),
          ('{"name": "gzip", "configuration": {"level": 99}}',
           "configuration.level: gzip: 'level' must be an integer from 0 to 9, not 99")]
LENGTHS = [(["--chunks", "3,3"], "--chunks: 2 lengths for an array of 3 dimensions"),
           (["--chunks", "0,1,1"], "--chunks: must be 1 or more, not 0"),
           (["--shards", "1,1"], "--shards: 2 lengths for an array of 3 dimensions"),
           (["--chunks", "x"], "--chunks: 'x' is not a shape; write it as 512,512")]


@pytest.mark.parametrize("codec, text", CODECS)
def test_a_wrong_codec_is_an_error_of_its_option_in_every_command(sherd, source, tmp_path, codec, text):
    (tmp_path / "d.raw").write_bytes(bytes(8))
    raw = ["--from", "raw", "--shape", "8", "--dtype", "uint8"]
    for command in (["copy", source, "bad"], ["create", "bad", "--shape", "8", "--dtype", "uint8"],
                    ["create", "bad", "--shape", "8", "--dtype", "uint8", "--shards", "8", "--chunks", "4"],
                    ["import", "d.raw", "bad", *raw]):
        assert message(sherd, *command, "--codec", codec) == f"--codec: {text}"
        assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize("options, text", LENGTHS)
def test_wrong_lengths_are_an_error_of_their_option_in_every_command(sherd, source, tmp_path, options, text):
    for command in (["copy", source, "bad"], ["create", "bad", "--shape", "8,8,8", "--dtype", "uint8"]):
        assert message(sherd, *command, *options) == text
        assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize("options, text", [
    (["--to", "zarr3", "--axes", "q"], "--axes: 'q' is not an axis"), (["--to", "zarr3", "--axes", "z,y"], "--axes: must be"),
    (["--to", "zarr3", "--codec", "ztsd"], "--codec: unknown codec 'ztsd'; did you mean 'zstd'?"),
    (["--to", "zarr3", "--chunks", "3,3"], "--chunks: 2 lengths"), (["--sharding", "{}"], "--sharding: @type: is missing"),
    (["--codec", "zstd"], "--codec: cannot be used with a volume; use encoding"),
    (["--shards", "8,8,8"], "--shards: cannot be used with a volume; use sharding")])
def test_options_of_a_volumes_copy_are_named_too(sherd, volume, tmp_path, options, text):
    assert message(sherd, "copy", volume, "bad", *options).startswith(text)
    assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize("options, text", [
    (["--dtype", "unit8"], "--dtype: unknown data type 'unit8'; did you mean 'uint8'?"),
    (["--dtype", ">u2"], "--dtype: '>u2' includes a byte order; use uint16"),
    (["--dtype", "<u3"], "--dtype: unknown data type '<u3'"),
    (["--dtype", '{"name": "unit8"}'], "--dtype: unknown data type 'unit8'; did you mean 'uint8'?"),
    (["--dtype", '{"nam": "uint8"}'], "--dtype: nam: a data type has no member of this name"),
    (["--dtype", "uint8", "--fill-value", "300"], "--fill-value: 300 does not fit uint8 (0 to 255)"),
    (["--dtype", "uint8", "--dimension-names", "a"], "--dimension-names: 1 names for an array of 2 dimensions"),
    (["--dtype", "uint8", "--attributes", "[1]"], "--attributes: must be an object"),
    (["--dtype", "uint8", "--index-location", "start"], "--index-location: "),
    (["--dtype", "uint8", "--attributes", "{"], "--attributes: not JSON")])
def test_create_names_the_option_that_is_wrong(sherd, tmp_path, options, text):
    assert message(sherd, "create", "bad", "--shape", "8,8", *options).startswith(text)
    assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize("options, text", [
    (["--key", "../x"], "--key: is outside the store"), (["--sharding", "{}"], "--sharding: @type: is missing"),
    (["--key", "info"], "--key: 'info' is the path of the info document; choose another key")])
def test_create_names_the_option_of_a_volume_that_is_wrong(sherd, tmp_path, options, text):
    volume = ["--store-format", "precomputed", "--shape", "8,8,8", "--dtype", "uint8", "--resolution", "8,8,8"]
    assert message(sherd, "create", "bad", *volume, *options) == text
    assert not (tmp_path / "bad").exists()


def test_picture_names_the_option_that_is_out_of_range(sherd, source):
    assert message(sherd, "picture", source, "p.png", "--axis", "4") == "--axis: is 4, but the array has 3 axes: 0, 1, 2"
    assert message(sherd, "picture", source, "p.png", "--index", "8") == "--index: is 8, but axis 0 has length 8"


def test_an_error_of_the_source_still_names_its_document(sherd, source, tmp_path):
    path = tmp_path / source / "zarr.json"
    path.write_text(path.read_text().replace('"zstd"', '"ztsd"'))
    ran = sherd("copy", source, "bad", "--codec", "gzip")
    assert ran.code == 5 and "'zarr.json' codecs" in ran.stderr and "--codec" not in ran.stderr


@pytest.mark.parametrize("line, text", [
    ("copy a b --chunk 3,3", "unknown option --chunk; did you mean --chunks?"),
    ("copy --chunk 3,3 a b", "unknown option --chunk; did you mean --chunks?"),
    ("copy a --shard=3", "unknown option --shard; did you mean --shards?"),
    ("info --jsno", "unknown option --jsno; did you mean --json?"),
    ("--jsno info a", "unknown option --jsno; did you mean --json?"),
    ("kv get --jsno a 3", "unknown option --jsno; did you mean --json?"),
    ("info --frobnicate a", "unknown option --frobnicate; see 'sherd info --help'"),
    ("info --zzz --jsno a", "unknown option --zzz; see 'sherd info --help'"),
    ("info a b c", "unexpected argument 'b'; see 'sherd info --help'"),
    ("import a b --frobnicate x", "unknown option --frobnicate; see 'sherd import --help'"),
    ("import a b --pyramid --axes z,y,x", "--pyramid needs a value: mean|mode[:LEVELS]; see 'sherd import --help'"),
    ("inof --jsno a", "unknown subcommand 'inof'; did you mean 'info'?"),
    ("exprot a", "unknown subcommand 'exprot'; did you mean 'export'?"),
    ("k get a", "unknown subcommand 'k'; did you mean 'kv'?"),
    ("kv gte a", "unknown subcommand 'gte'; did you mean 'get'?"), ("kv", "A subcommand is required; see 'sherd kv --help'")])
def test_the_first_unknown_word_is_named_with_the_nearest_known_one(sherd, line, text):
    assert message(sherd, *line.split()) == text


def test_errors_are_valid_utf8_whatever_the_arguments_are(sherd, tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9\x1b"
    for options, text in ((["--json"], r"caf\xe9"), ([], r"caf\xe9\x1b")):
        done = subprocess.run([sherd.binary, "info", name, *options], capture_output=True)
        assert done.returncode == 3
        said = done.stderr.decode("utf-8")
        assert text in (json.loads(said)["error"]["message"] if options else said)
    done = subprocess.run([sherd.binary, "create", name, "--shape", "2", "--dtype", "uint8", "--json"], capture_output=True)
    assert done.returncode == 0 and json.loads(done.stdout.decode("utf-8"))["shape"] == [2]


@pytest.mark.parametrize("option", ["--dimension-names", "--fill-value", "--dtype", "--codec"])
def test_options_that_are_stored_must_be_utf8(sherd, tmp_path, option):
    done = subprocess.run([sherd.binary, "create", "a", "--shape", "2", *(["--dtype", "uint8"] if option != "--dtype" else []),
                           option, b"caf\xe9", "--json"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 2 and option in json.loads(done.stderr.decode("utf-8"))["error"]["message"]
    assert not (tmp_path / "a").exists()


def test_the_home_directory_is_expanded(sherd, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    there = {"HOME": str(home)}
    (home / "attributes.json").write_text('{"who": "me"}')
    sherd.ok("create", "~/a.zarr", "--shape", "2", "--dtype", "uint8", "--attributes=@~/attributes.json", env=there)
    assert (home / "a.zarr" / "zarr.json").exists() and not (tmp_path / "~").exists()
    sherd.ok("read", "~/a.zarr", "--output=~/x.npy", env=there)
    assert (home / "x.npy").exists()
    assert "HOME is not set; write the directory instead of ~" in sherd("info", "~/a.zarr", env={"HOME": ""}).stderr
    sherd.ok("create", "./~/b", "--shape", "2", "--dtype", "uint8", env=there)
    sherd.ok("create", "~c", "--shape", "2", "--dtype", "uint8", env=there)
    assert (tmp_path / "~" / "b").exists() and (tmp_path / "~c").exists()


def test_paths_are_shown_as_typed(sherd, tmp_path):
    sherd.ok("create", "a/b.zarr/x", "--shape", "4", "--dtype", "uint8")
    for typed, shown in [("none", "none"), ("./none/", "./none"), ("a/../none", "a/../none"), (f"{tmp_path}/none", f"{tmp_path}/none")]:
        assert sherd("info", typed).stderr.startswith(f"sherd: directory does not exist: {shown}; tried\n")
    (tmp_path / "a/b.zarr/x/zarr.json").write_text("{")
    for typed, store in [("a/b.zarr/x", "a/b.zarr/x"), ("a/b.zarr", "a/b.zarr"), (f"{tmp_path}/a/b.zarr", f"file://{tmp_path}/a/b.zarr")]:
        assert sherd("tree", typed).stderr.endswith(f" (in {store})\n")
    sherd.ok("create", "ab", "--shape", "4", "--dtype", "uint8")
    assert sherd("copy", "ab", "a/b.zarr/x").stderr.endswith(" (in a/b.zarr)\n")
    assert f"{tmp_path}/none" in sherd("info", "none", "--json").error["message"]


def test_a_suffix_of_another_format_causes_a_warning(sherd, volume, source, tmp_path):
    said = sherd.ok("copy", volume, "x.zarr").stderr
    assert "warning: x.zarr is a directory of the format precomputed" in said and "the format zarr3" in said
    assert "warning: x.tif is a directory of the format zarr3" in sherd.ok("copy", source, "x.tif").stderr
    assert "'sherd export'" in sherd.ok("create", "y.tiff", "--shape", "2", "--dtype", "uint8").stderr
    for line in (["copy", volume, "y.zarr", "--to", "zarr3"], ["copy", source, "z.zarr"], ["copy", volume, "plain"],
                 ["copy", volume, "w.zarr", "--quiet"]):
        assert "warning" not in sherd.ok(*line).stderr


@pytest.mark.parametrize("arguments", [("info", "a"), ("read", "a"), ("check", "a"), ("--version",), ("ncdump", "a"),
                                       ("create", "b", "--shape", "4", "--dtype", "uint8")])
def test_a_command_without_memory_ends_with_the_code_for_that(sherd, tmp_path, arguments):
    """At each limit of the address space up to one that suffices, from the first at which the program can be loaded."""
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "2")
    codes = []
    for kibibytes in range(16 << 10, 64 << 10, 512):
        ran = subprocess.run(["sh", "-c", f'ulimit -v {kibibytes}; exec "$0" "$@"', sherd.binary, *arguments],
                             cwd=tmp_path, capture_output=True)
        if ran.returncode == 127 or b"libgomp" in ran.stderr:
            continue  # the libraries do not fit
        codes.append(ran.returncode)
        assert ran.returncode in (0, 8), (kibibytes, ran)
        assert ran.returncode == 0 or ran.stderr == b"sherd: out of memory\n", (kibibytes, ran)
        if ran.returncode == 0:
            break
    assert codes[-1] == 0


HUGE = str(2**31)


@pytest.mark.parametrize("arguments", [["write", "huge.zarr", "--value", "3"], ["copy", "small.zarr", "c.zarr", "--chunks", HUGE]])
def test_a_chunk_beyond_the_memory_of_the_process_is_unavailable(sherd, tmp_path, arguments):
    for name, length in (("huge.zarr", HUGE), ("small.zarr", "1048576")):
        sherd.ok("create", name, "--shape", HUGE, "--dtype", "uint8", "--chunks", length)
    sherd.ok("write", "small.zarr", "--select", "0:1", "--value", "3")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2**30, resource.RLIM_INFINITY))

    ran = subprocess.run([sherd.binary, *arguments], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limit)
    assert ran.returncode == 8 and "out of memory" in ran.stderr, ran.stderr
    assert sherd("info", "c.zarr").code == 3 and not list((tmp_path / "huge.zarr").glob("c/*"))
