"""What the command line promises whatever the subcommand: help, versions, errors and exit codes, limits, completion."""

import json
import os
import re
import subprocess
import sys

import numpy
import pytest

COMMANDS = ["create", "info", "tree", "ls", "read", "write", "append", "import", "export", "copy", "check", "compact", "attrs", "resize",
            "consolidate", "rename", "link", "rm", "picture", "nccopy", "ncdump", "ncgen", "zmap", "completion"]
KV = ["kv get", "kv put", "kv ls", "kv rm", "kv compact", "kv build"]


def test_help_lists_every_subcommand_on_stdout(sherd):
    ran = sherd.ok("--help")
    assert re.findall(r"^  ([a-z]+) ", ran.text.split("Subcommands:")[1], re.M) == [*COMMANDS, "annotations", "kv"]
    assert ran.stderr == ""


def test_help_lists_the_subcommands_for_values_by_id(sherd):
    words = re.findall(r"^  ([a-z]+) ", sherd.ok("kv", "--help").text.split("Subcommands:")[1], re.M)
    assert [f"kv {word}" for word in words] == KV


def test_help_is_a_subcommand_too(sherd):
    assert sherd.ok("help").text == sherd.ok("--help").text
    assert sherd.ok("help", "copy").text == sherd.ok("copy", "--help").text
    assert sherd.ok("help", "kv", "get").text == sherd.ok("kv", "get", "--help").text


@pytest.mark.parametrize("line", ["help attr", "attr --help", "attr"])
def test_help_of_an_unknown_subcommand_names_the_nearest_one(sherd, line):
    ran = sherd(*line.split())
    assert (ran.code, ran.stdout, ran.stderr) == (2, b"", "sherd: unknown subcommand 'attr'; did you mean 'attrs'?\n")


@pytest.mark.parametrize("word, meant", [("mv", "rename"), ("cp", "copy"), ("delete", "rm"), ("cat", "read")])
def test_subcommands_in_the_words_of_other_programs_are_named(sherd, word, meant):
    assert sherd(word, "a", "b").stderr == f"sherd: unknown subcommand '{word}'; did you mean '{meant}'?\n"


@pytest.mark.parametrize("command", [*COMMANDS, *KV, "annotations build"])
def test_each_subcommand_explains_itself_with_examples(sherd, command):
    text = sherd.ok(*command.split(), "--help").text
    assert f"Usage: sherd {command} [OPTIONS]" in text
    assert f"sherd {command} " in text.split("Examples:")[1]
    assert "--json" in text and "--threads N" in text


def test_the_version_is_printed_before_and_after_a_subcommand(sherd):
    assert re.fullmatch(r"sherd \d+\.\d+\.\d+\n", sherd.ok("--version").text)
    assert sherd.ok("info", "--version").text == sherd.ok("--version").text


def test_no_arguments_print_the_help_on_stderr_as_a_usage_error(sherd):
    ran = sherd()
    assert (ran.code, ran.stdout) == (2, b"")
    assert "Subcommands:" in ran.stderr


def test_a_mistyped_subcommand_is_answered_with_the_nearest(sherd):
    ran = sherd("inof", "x")
    assert (ran.code, ran.stderr) == (2, "sherd: unknown subcommand 'inof'; did you mean 'info'?\n")
    assert "did you mean" not in sherd("frobnicate").stderr


@pytest.mark.parametrize("arguments", [
    ["info"], ["info", "a", "b"], ["info", "--bogus", "a"], ["--bogus", "info", "a"],
    ["info", "--threads", "many", "a"], ["info", "--threads", "1000000000", "a"], ["info", "--limit", "nothing=1", "a"],
    ["info", "--progress", "sometimes", "a"], ["completion", "tcsh"], ["info", "--store-format", "zarr9", "a"],
    ["info", "--limit", "chunk_bytes", "a"],
])
def test_a_usage_error_is_one_line(sherd, arguments):
    ran = sherd(*arguments)
    assert (ran.code, ran.stdout) == (2, b"")
    assert re.fullmatch(r"sherd: .+\n", ran.stderr)


def test_a_usage_error_is_json_too_on_request(sherd):
    error = sherd("info", "--json").error
    assert error["code"] == "invalid_argument"
    assert set(error) == {"code", "message", "key", "slot"}


def test_global_options_may_precede_or_follow_the_subcommand(sherd):
    assert sherd("--json", "info", "none.zarr").error == sherd("info", "--json", "none.zarr").error


WRITERS = ["create a --shape 4 --dtype int8", "write a --value 1", "import a.npy b", "copy a b", "append a"]


@pytest.mark.parametrize("line, name", [
    *[(f"{writer} {option}", option.split(" ")[0]) for writer in WRITERS
      for option in ["--layout hdf5"]]])
def test_planned_features_are_refused_by_name(sherd, tmp_path, line, name):
    ran = sherd(*line.split())
    assert ran.code == 5
    assert ran.stderr.startswith(f"sherd: {name}") and ran.stderr.endswith(" is not supported by this version\n")
    assert sherd("--json", *line.split()).error["code"] == "unsupported"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("writer", WRITERS[:1])
@pytest.mark.parametrize("option", ["--update auto", "--update rewrite", "--update in_place", "--layout plain", "--slack 4KiB", "--slack 0.25", "--chunk-order arrival"])
def test_default_behaviour_can_be_requested_explicitly(sherd, writer, option):
    sherd.ok(*writer.split(), *option.split())


def test_help_names_nothing_that_is_refused(sherd):
    for command in COMMANDS:
        help_text = sherd.ok(command, "--help").text
        for option in ["hdf5"]:
            assert option not in help_text


def test_stats_say_how_shards_were_changed_and_why(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "64", "--dtype", "uint8", "--chunks", "8", "--shards", "32")
    sherd.ok("write", "a", "--value", "1", "--select", "0:32")
    ran = sherd.ok("write", "a", "--value", "2", "--select", "0:8", "--update", "rewrite", "--stats")
    assert json.loads(ran.stderr)["updates"] == {"rewrite: as configured": 1}
    (tmp_path / "again").hardlink_to(tmp_path / "a" / "c" / "0")
    ran = sherd.ok("write", "a", "--value", "3", "--select", "0:8", "--stats")
    assert json.loads(ran.stderr)["updates"] == {"rewrite: the file has several names": 1}


@pytest.mark.parametrize("format", ["zarr3", "draft2022"])
def test_stats_say_why_a_shard_was_not_changed_in_place(sherd, tmp_path, format):
    sherd.ok("create", "a", "--store-format", format, "--shape", "64", "--dtype", "uint8", "--chunks", "8", "--shards", "32", "--codec", "bytes")
    sherd.ok("write", "a", "--value", "1", "--select", "0:32")
    change = ("write", "a", "--select", "0:8", "--update", "in_place", "--stats")
    assert json.loads(sherd.ok(*change, "--value", "2").stderr)["updates"] == {"in_place": 1}
    shard = next(path for path in tmp_path.rglob("*0") if path.is_file())
    before = shard.stat().st_ino
    (tmp_path / "again").hardlink_to(shard)
    ran = sherd.ok(*change, "--value", "3")
    assert json.loads(ran.stderr)["updates"] == {"rewrite: the file has several names": 1}
    assert shard.stat().st_ino != before


def test_stats_say_that_a_chunk_did_not_fit_in_place(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "8192", "--dtype", "uint8", "--chunks", "4096", "--shards", "8192", "--codec", "gzip")
    sherd.ok("write", "a", "--value", "1")
    (tmp_path / "noise").write_bytes(os.urandom(4096))
    ran = sherd.ok("write", "a", "--select", "0:4096", "--input", "noise", "--format", "raw", "--update", "in_place", "--max-unused", "1", "--stats")
    [(how, count)] = json.loads(ran.stderr)["updates"].items()  # where a file cannot be appended to in one step, it is rewritten
    assert how in ("append: not all of it fits in place", "rewrite: not all of it fits in place") and count == 1


def test_appending_rewrites_where_too_much_would_be_dead(sherd, tmp_path):
    sharding = {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 6, "hash": "identity", "minishard_bits": 0,
                "shard_bits": 0, "minishard_index_encoding": "raw", "data_encoding": "raw"}
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "32,32,32", "--dtype", "uint8", "--resolution",
             "8,8,8", "--chunks", "8,8,8", "--sharding", json.dumps(sharding), "--key", "s")
    sherd.ok("write", "em", "--value", "1")
    shard = tmp_path / "em" / "s" / "0.shard"
    first = shard.stat().st_ino
    sherd.ok("write", "em", "--value", "2", "--select", "0:8,0:8,0:8,:", "--update", "append")
    assert shard.stat().st_ino == first
    sherd.ok("write", "em", "--value", "3", "--select", "0:8,0:8,0:8,:", "--update", "append", "--max-unused", "0")
    assert shard.stat().st_ino != first
    assert sherd.ok("read", "em", "--select", "0,0,0,0").stdout.endswith(b"\x03")


@pytest.mark.parametrize("command", ["create", "write", "import", "copy"])
def test_every_writing_command_accepts_the_write_options(sherd, command):
    help_text = sherd.ok(command, "--help").text
    for option in ["--chunk-order", "--update", "--max-unused", "--write-empty-chunks", "--no-durable", "--threads"]:
        assert option in help_text


@pytest.mark.parametrize("command", ["write", "append", "copy", "import", "resize", "kv put", "kv rm"])
def test_every_command_that_changes_shards_is_told_how(sherd, command):
    help_text = sherd.ok(*command.split(), "--help").text
    assert "--update" in help_text and "--max-unused" in help_text


@pytest.mark.parametrize("share", ["2", "-1", "50 %", "half", ""])
def test_a_share_is_a_number_from_0_to_1(sherd, share):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "int8", "--max-unused", "30%")
    ran = sherd("write", "a", "--value", "1", f"--max-unused={share}")
    assert ran.code == 2 and "--max-unused" in ran.stderr


@pytest.mark.parametrize("number", ["-1", "abc", "1.5", "", "18446744073709551616"])
@pytest.mark.parametrize("line, name", [("info a --threads", "--threads"), ("picture a p.png --width", "--width"),
                                        ("picture a p.png --level", "--level")])
def test_an_invalid_number_names_the_option_and_what_it_accepts(sherd, line, name, number):
    *words, option = line.split()
    ran = sherd(*words, f"{option}={number}") if number else sherd(*words, option, "")
    assert ran.code == 2
    assert ran.stderr.startswith(f"sherd: {name}: '{number}' is not a whole number from 0 to 2^64-1; see"), ran.stderr


@pytest.mark.parametrize("codec", ["wavpack", "wavpack:2", "imagecodecs_jpeg2k"])
def test_codecs_of_other_versions_are_refused_by_name(sherd, codec):
    ran = sherd("create", "a", "--shape", "4", "--dtype", "int8", "--codec", codec)
    assert ran.code == 5
    assert f"the codec '{codec.split(':')[0]}' is not supported by this version" in ran.stderr


@pytest.mark.parametrize("name", ["float", "int", "uint", "complex", "double", "half", "single", "byte", "short", "long", "?", "=i4",
                                  "<u2", "|u1", "d", "B", "longlong", "cdouble"])
def test_names_of_types_mean_what_numpy_means_by_them(sherd, name):
    sherd.ok("create", "a", "--shape", "2", "--dtype", name)
    assert sherd.ok("info", "a", "--json").json["dtype"] == numpy.dtype(name).name


@pytest.mark.parametrize(("dtype", "value"), [("int4", -8), ("uint2", 3), ("float8_e4m3", "Infinity"), ("float4_e2m1fn", 6.0),
                                              ("complex_float16", [1.0, "NaN"])])
def test_types_of_few_bits_are_given_by_their_names(sherd, dtype, value):
    sherd.ok("create", "a", "--shape", "2", "--dtype", dtype, "--fill-value", json.dumps(value))
    assert json.loads(sherd.ok("read", "a", "--format", "json").stdout) == [value] * 2


def test_types_that_do_not_exist_are_refused_by_name(sherd):
    ran = sherd("create", "a", "--shape", "4", "--dtype", "int3")
    assert ran.code == 2 and "unknown data type 'int3'; did you mean" in ran.stderr


def test_exit_codes_identify_the_kind_of_failure(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    assert sherd("read", "a", "--select", "9").code == 2
    assert sherd("info", "nothing").code == 3
    assert sherd("info", "nothing://bucket/key").code == 5
    assert sherd("create", "a", "--shape", "4", "--dtype", "uint8").code == 6
    (tmp_path / "a/zarr.json").write_text("{")
    assert sherd("info", "a").code == 4


def test_a_full_disk_is_an_input_output_error(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sherd.binary, "read", "a"], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path)
    assert done.returncode == 7
    assert b"No space left on device" in done.stderr


def test_a_lack_of_file_descriptors_is_unavailable(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    limited = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", limited, sherd.binary, "info", "a", "--json"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 8
    assert json.loads(done.stderr)["error"]["code"] == "unavailable"


def test_errors_name_key_and_slot(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "8", "--dtype", "uint8", "--chunks", "2", "--shards", "8", "--codec", "crc32c")
    sherd.ok("write", "a", "--value", "7")
    shard = tmp_path / "a/c/0"
    raw = bytearray(shard.read_bytes())
    raw[0] ^= 1
    shard.write_bytes(raw)
    error = sherd("read", "a", "--json").error
    assert (error["code"], error["key"]) == ("corrupt", "c/0")
    assert error["slot"] in range(4)
    assert sherd("read", "a").stderr.startswith(f"sherd: 'c/0' slot {error['slot']}: ")


def test_names_from_a_store_cannot_steer_the_terminal(sherd):
    ran = sherd("import", "no\x1b[31mthing.npy", "a")
    assert "\x1b" not in ran.stderr
    assert r"\x1b[31m" in ran.stderr


def test_limits_come_from_options_and_from_the_environment(sherd):
    sherd.ok("create", "a", "--shape", "1000", "--dtype", "uint8", "--chunks", "1000")
    small = {"SHERD_LIMIT_CHUNK_BYTES": "999"}
    assert "chunk_bytes" in sherd("info", "a", env=small).stderr
    assert sherd("info", "a", env=small).code == 5
    assert sherd("info", "a", "--limit", "chunk_bytes=999").code == 5
    sherd.ok("info", "a", "--limit", "chunk_bytes=1KiB", env=small)
    sherd.ok("read", "a", env={"SHERD_LIMIT_CHUNK_BYTES": str(2**64 - 1), "SHERD_LIMIT_METADATA_BYTES": str(2**64 - 1)})
    assert sherd("info", "a", env={"SHERD_LIMIT_CHUNK_BYTES": "lots"}).code == 2
    mistyped = sherd("info", "a", env={"SHERD_LIMIT_CHUNKS_BYTES": "999"})
    assert mistyped.code == 2 and "SHERD_LIMIT_CHUNKS_BYTES" in mistyped.stderr


@pytest.mark.parametrize("size, code", [("1000", 0), ("1KiB", 0), ("1kB", 0), ("0.5MiB", 0), ("1 GiB", 0), ("2G", 0),
                                        ("999", 5), ("999B", 5), ("0.5KiB", 5), ("-1", 2), ("1XB", 2), ("", 2), ("nan", 2)])
def test_sizes_are_written_with_units(sherd, size, code):
    sherd.ok("create", "a", "--shape", "1000", "--dtype", "uint8", "--chunks", "1000")
    assert sherd("info", "a", "--limit", f"chunk_bytes={size}").code == code


def test_stats_count_what_a_command_costs(sherd):
    sherd.ok("create", "a", "--shape", "8,8", "--dtype", "uint16", "--chunks", "2,2", "--shards", "8,8")
    stats = json.loads(sherd.ok("write", "a", "--value", "3", "--stats").stderr)
    assert list(stats) == ["requests", "retries", "round_trips", "bytes_read", "bytes_written", "chunks_decoded", "chunks_encoded", "chunks_moved",
                           "updates", "peak_rss", "seconds"]
    assert stats["chunks_encoded"] == 16 and stats["bytes_written"] > 0
    stats = json.loads(sherd.ok("read", "a", "--select", "0,0", "--stats").stderr)
    assert stats["chunks_decoded"] == 1
    assert 2**20 < stats["peak_rss"] < 2**28


def test_arguments_that_begin_with_a_dash_follow_a_double_dash(sherd):
    sherd.ok("create", "--shape", "2", "--dtype", "uint8", "--", "-odd")
    assert sherd.ok("info", "--json", "--", "-odd").json["shape"] == [2]


def test_an_array_may_be_called_like_a_subcommand(sherd):
    sherd.ok("create", "info", "--shape", "2", "--dtype", "uint8")
    assert sherd.ok("info", "info", "--json").json["shape"] == [2]


def complete(sherd, script, *words):
    """What bash would offer for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _sherd; echo \"${{COMPREPLY[*]}}\""
    return subprocess.run(["bash", "-c", code], capture_output=True, check=True, cwd=sherd.folder).stdout.decode().split()


def test_bash_completes_subcommands_options_and_values(sherd, tmp_path):
    (tmp_path / "sherd.bash").write_bytes(sherd.ok("completion", "bash").stdout)
    assert complete(sherd, "sherd.bash", "sherd", "c") == ["create", "copy", "check", "compact", "consolidate", "completion"]
    assert complete(sherd, "sherd.bash", "sherd", "read", "--sel") == ["--select"]
    assert complete(sherd, "sherd.bash", "sherd", "read", "--format", "") == ["npy", "raw", "json"]
    assert complete(sherd, "sherd.bash", "sherd", "read", "--format", "=") == ["npy", "raw", "json"]
    assert complete(sherd, "sherd.bash", "sherd", "read", "--format", "=", "n") == ["npy"]
    assert complete(sherd, "sherd.bash", "sherd", "copy", "a", "b", "--to", "z") == ["zarr3", "zarr2"]
    assert complete(sherd, "sherd.bash", "sherd", "create", "--dtype", "uint1") == ["uint16"]
    assert "zstd" in complete(sherd, "sherd.bash", "sherd", "create", "--codec", "zs")
    assert complete(sherd, "sherd.bash", "sherd", "export", "a", "b", "--to", "ti") == ["tiff"]
    assert complete(sherd, "sherd.bash", "sherd", "--json", "inf") == ["info"]
    assert complete(sherd, "sherd.bash", "sherd", "info", "some-file") == []
    encodings = ["raw", "jpeg", "png", "compressed_segmentation"]
    assert complete(sherd, "sherd.bash", "sherd", "copy", "a", "b", "--encoding", "") == encodings
    assert complete(sherd, "sherd.bash", "sherd", "copy", "a", "b", "--pyramid", "") == ["mean", "mode"]
    assert complete(sherd, "sherd.bash", "sherd", "copy", "a", "b", "--shards", "a") == ["auto"]
    assert complete(sherd, "sherd.bash", "sherd", "copy", "--resume", "--mem") == ["--memory"]
    assert complete(sherd, "sherd.bash", "sherd", "link", "--unlink", "") == ["mesh", "skeletons", "segment_properties"]
    assert complete(sherd, "sherd.bash", "sherd", "picture", "--axis", "") == ["x", "y", "z", "t", "c"]
    assert "t,c,z,y,x" in complete(sherd, "sherd.bash", "sherd", "import", "--axes", "t")
    assert complete(sherd, "sherd.bash", "sherd", "import", "--units", "mic") == ["micrometer"]
    assert complete(sherd, "sherd.bash", "sherd", "--limit", "") == []
    assert complete(sherd, "sherd.bash", "sherd", "--store-format", "zarr") == ["zarr3", "zarr2"]


def test_a_flag_has_no_value_to_complete(sherd):
    zsh = sherd.ok("completion", "zsh").text
    assert "'--resume[Continue an interrupted copy]'" in zsh and "'--memory[" in zsh and ":value:_files'" in zsh
    fish = sherd.ok("completion", "fish").text
    assert re.search(r"copy' -l resume -d ", fish) and re.search(r"copy' -l memory -r -d ", fish)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_knows_every_subcommand_and_option(sherd, shell):
    script = sherd.ok("completion", shell).text
    for command in COMMANDS + KV:
        assert all(word in script for word in command.split())
        for option in re.findall(r"^  (?:-\w, )?--([a-z-]+)", sherd.ok(*command.split(), "--help").text, re.M):
            assert (f"-l {option}" if shell == "fish" else f"--{option}") in script
