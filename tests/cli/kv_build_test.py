"""sherd kv build: shards of ids from files."""

import json
import os
import signal
import subprocess

from shardings import sharding

SHARDING = sharding(bits=(0, 0, 1))


def build(sherd, lines, *arguments):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return sherd("kv", "build", "out", "--sharding", json.dumps(SHARDING), *arguments, input=text.encode())


def files(tmp_path, **contents):
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)


def test_each_line_names_the_file_of_an_id(sherd, tmp_path):
    files(tmp_path, a=b"one", b=b"two", c=b"")
    last = 2**64 - 1
    ran = build(sherd, [{"id": str(last), "path": "b"}, "", {"path": "a", "id": 1}, '  {"id": 2, "path": "c"}\r'])
    assert ran.code == 0, ran.stderr
    assert ran.stdout == b"" and ran.stderr == "built 2 shards of 3 values: 110 B\n"
    shard = (tmp_path / "out/1.shard").read_bytes()
    numbers = [6, 6 + 48, 1, last - 1, 0, 0, 3, 3]
    packed = [number.to_bytes(8, "little") for number in numbers]
    assert shard == b"".join([*packed[:2], b"onetwo", *packed[2:]])
    assert (tmp_path / "out/0.shard").stat().st_size == 16 + 24
    assert sorted(os.listdir(tmp_path / "out")) == ["0.shard", "1.shard"]


def test_sharding_is_read_from_a_file_and_the_report_is_json(sherd, tmp_path):
    files(tmp_path, a=b"one")
    (tmp_path / "sharding.json").write_text(json.dumps(SHARDING))
    line = b'{"id": 7, "path": "a"}\n'
    ran = sherd.ok("kv", "build", "out", "--sharding", "@sharding.json", "--memory", "8MiB", "--json", input=line)
    assert ran.json == {"ids": 1, "shards": 1, "bytes": 16 + 3 + 24} and ran.stderr == ""
    ran = sherd("kv", "build", "out", "--sharding", "@sharding.json", "--json", input=line)
    assert ran.code == 6 and ran.error["key"] == "1.shard"
    sherd.ok("kv", "build", "out", "--sharding", "@sharding.json", "--overwrite", input=line)


def test_nothing_is_built_of_no_lines(sherd, tmp_path):
    assert build(sherd, []).stderr == "built 0 shards of 0 values: 0 B\n"
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_line(sherd, tmp_path):
    files(tmp_path, a=b"one")
    good = {"id": 1, "path": "a"}
    for wrong, code, says in [
        ("{", 2, "line 2: "),
        ({"id": -1, "path": "a"}, 2, "line 2: 'id' must be an integer from 0 to 2^64-1"),
        ({"id": "x", "path": "a"}, 2, "line 2: 'id' must be"),
        ({"path": "a"}, 2, "line 2: 'id' must be"),
        ({"id": 2}, 2, "line 2: 'path' must name a file"),
        ({"id": 2, "path": "none"}, 3, "line 2: "),
        ({"id": 1, "path": "a"}, 2, "the id 1 was given twice"),
        ("x" * 2**21, 2, "line 2: is too long"),
    ]:
        ran = build(sherd, [good, wrong])
        assert ran.code == code and says in ran.stderr, ran.stderr
        assert not (tmp_path / "out").exists()


def test_a_value_that_could_not_be_read_back_is_refused(sherd, tmp_path):
    files(tmp_path, small=bytes(2**20), large=bytes(2**20 + 1))
    few = ["--limit", "chunk_bytes=1MiB"]
    for line in ({"id": 1, "path": "large"}, {"id": 1, "path": "small", "preceding": "large"}):
        ran = build(sherd, [line], *few)
        assert ran.code == 5 and "line 1: " in ran.stderr and "chunk_bytes" in ran.stderr
        assert not (tmp_path / "out").exists()
    build(sherd, [{"id": 1, "path": "small"}], *few)
    assert sherd.ok("kv", "get", "out", 1, "--sharding", json.dumps(SHARDING), *few).stdout == bytes(2**20)


def test_arguments_that_are_wrong_are_named(sherd):
    assert "--sharding is missing" in sherd("kv", "build", "out").stderr
    assert "--memory" in build(sherd, [], "--memory", "much").stderr
    assert "at least 8 MiB of memory" in build(sherd, [], "--memory", "1MiB").stderr
    ran = sherd("kv", "build", "out", "--sharding", json.dumps(SHARDING | {"hash": "md5"}))
    assert ran.code == 5 and "hash" in ran.stderr
    assert sherd("kv").code == 2 and "sherd kv --help" in sherd("kv").stderr
    assert "\n  build " in sherd.ok("kv", "--help").text


def test_what_was_built_is_checked_without_any_document(sherd, tmp_path):
    files(tmp_path, a=b"one", b=b"two")
    build(sherd, [{"id": 1, "path": "a"}, {"id": 3, "path": "b"}, {"id": 4, "path": "b"}])
    assert sherd("check", "out").code == 3, "no document says what this is"
    check = ("check", "out", "--data", "--sharding", json.dumps(SHARDING), "--json")
    sound = sherd.ok(*check).json
    assert sound["ok"] and sound["checked"] == {"documents": 0, "shards": 2, "chunks": 3} and not sound["faults"]
    shard = bytearray((tmp_path / "out/1.shard").read_bytes())
    for step, code, told in ((0, 0, "id_repeated"), (1, 1, "id_misplaced")):  # from the first id of the list to the second
        shard[16 + 6 + 8] = step
        (tmp_path / "out/1.shard").write_bytes(shard)
        ran = sherd(*check)
        assert ran.code == code and [fault["code"] for fault in ran.json["faults"]] == [told]
        assert ran.json["faults"][0]["key"] == "1.shard"
    assert sherd("check", "out", "--sharding", '{"hash": "md5"}').code in (2, 5)


def test_an_interrupted_build_leaves_nothing(start, tmp_path):
    files(tmp_path, a=b"one")
    running = start("kv", "build", "out", "--sharding", json.dumps(SHARDING), stdin=subprocess.PIPE)
    running.stdin.write(b'{"id": 1, "path": "a"}\n' * 10000)  # more than a pipe holds: some of it has been read
    running.stdin.flush()
    running.send_signal(signal.SIGINT)  # while the build waits for more
    assert running.wait() == 130 and b"interrupted" in running.stderr.read()
    running.stdin.close()
    running.stderr.close()
    assert not (tmp_path / "out").exists()


def test_values_are_compressed_at_the_given_level(sherd, tmp_path):
    files(tmp_path, a=b"".join(b"%d " % (n * n) for n in range(20000)))
    sharding = json.dumps(SHARDING | {"data_encoding": "gzip"})
    line = json.dumps({"id": 1, "path": "a"}).encode()
    sizes = []
    for level in "169":
        sherd.ok("kv", "build", "out", "--sharding", sharding, "--overwrite", "--gzip-level", level, input=line)
        sizes.append((tmp_path / "out/1.shard").stat().st_size)
        sherd.ok("kv", "put", "other", 1, "--sharding", sharding, "--gzip-level", level, "-i", "a")
        assert sherd.ok("kv", "get", "other", 1, "--sharding", sharding).stdout == (tmp_path / "a").read_bytes()
    assert sizes[0] > sizes[1] > sizes[2]
