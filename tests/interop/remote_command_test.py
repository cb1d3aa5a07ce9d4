"""The sherd command on URLs of servers: what it does with files, it does with these."""

import filecmp
import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest
import sherd
from interop.remote_datasets import BYTES, VALUES
from interrupts import heed_interrupts

MAIN = ("nginx", "radosgw")
ALL = (*MAIN, "swift", "seaweedfs", "fake_gcs")


@pytest.fixture(params=ALL)
def there(request, place, command):
    found = place(request.param)
    command.environment |= found.environment
    return found


def lines(ran):
    return ran.text.splitlines()


def test_info_describes_what_is_there(there, command, datasets):
    for path in ("three.zarr/sharded", "two.zarr/b", "em", "nc.zarr/t", "three.zip/sharded", "image.zarr", "skeletons", "sharded/s2d"):
        told, expected = (command.ok("info", f"{base}/{path}", "--json").json for base in (there.url, datasets))
        assert told.pop("url").removesuffix(path).rstrip("/|zip:") == there.url or path.startswith("three.zip")
        expected.pop("url")
        if not there.can_list and "zip" not in path:
            assert "stored" not in told
            expected.pop("stored")
            told.pop("objects", None), expected.pop("objects", None)
            if "indices" in told:
                told.pop("indices"), expected.pop("indices")
        assert told == expected
        assert command.ok("info", there / path).text


def test_an_archive_with_another_suffix_is_read_if_it_is_named(there, command):
    assert command.ok("info", there / "archive.dat|zip:sharded", "--json").json["shape"] == list(VALUES.shape)
    assert lines(command.ok("tree", there / "archive.dat|zip:"))[1:] == lines(command.ok("tree", there / "three.zip"))[1:]
    assert command.ok("read", f"zip://plain::{there / 'archive.dat'}", "--format", "raw").stdout == VALUES.tobytes()
    command.ok("copy", there / "archive.dat|zip:", "out.zarr")
    assert command.ok("read", "out.zarr/sharded", "--format", "raw").stdout == VALUES.tobytes()
    ran = command("info", there / "archive.dat")
    assert ran.code == 5 and "'|zip:'" in ran.stderr


def test_tree_and_ls_show_the_members(there, command, datasets):
    for path in ("three.zarr", "two.zarr", "nc.zarr", "image.ozx"):
        assert lines(command.ok("tree", there / path))[1:] == lines(command.ok("tree", datasets / path))[1:]
        assert command.ok("ls", there / path).stdout == command.ok("ls", datasets / path).stdout
    if there.can_list:
        for path in ("three.zarr", "em_sharded", ""):
            assert command.ok("ls", "--raw", there / path).stdout == command.ok("ls", "--raw", datasets / path).stdout
    else:
        ran = command("ls", "--raw", there / "three.zarr")
        assert ran.code == 5 and "cannot list" in ran.stderr


def test_read_prints_the_elements(there, command):
    ran = command.ok("read", there / "three.zarr/sharded", "--select", "3,5:9,::7", "--format", "json")
    assert ran.json == VALUES[3, 5:9, ::7].tolist()
    command.ok("read", there / "em_sharded", "--select", "10:20,0:9,3,0", "-o", "x.npy")
    np.testing.assert_array_equal(np.load(command.folder / "x.npy"), BYTES.T[10:20, 0:9, 3])


def test_a_copy_has_the_elements(there, command):
    for path, expected in (("three.zarr", VALUES), ("em_sharded", None), ("nc.zarr", None), ("two.zarr", VALUES), ("three.zip", VALUES)):
        command.ok("copy", there / path, f"copied/{path}.copy")
        assert command.ok("check", f"copied/{path}.copy", "--data", "--json").json["ok"]
        for member in ("sharded", "a") if expected is not None else ():
            if (command.folder / f"copied/{path}.copy/{member}").exists():
                assert command.ok("read", f"copied/{path}.copy/{member}", "--format", "raw").stdout == expected.tobytes()
    command.ok("copy", there / "three.zarr/plain", "part.zarr", "--select", "0:9,5:20,:", "--shards", "16,16,64", "--chunks", "8,8,64")
    assert command.ok("read", "part.zarr", "--format", "raw").stdout == VALUES[:9, 5:20].tobytes()


def test_a_raw_copy_has_the_same_objects(there, command, datasets):
    if not there.can_list:
        ran = command("copy", "--raw", there / "three.zarr", "raw.zarr")
        assert ran.code == 5 and "cannot list" in ran.stderr and not (command.folder / "raw.zarr").exists()
        return
    for path in ("three.zarr", "em_sharded", "image.zarr"):
        command.ok("copy", "--raw", there / path, f"raw/{path}")
        compared = filecmp.dircmp(datasets / path, command.folder / "raw" / path)
        assert not compared.left_only + compared.right_only + compared.diff_files
    command.ok("copy", "--raw", there / "two.zarr", "two.zip")
    assert command.ok("read", "two.zip/a", "--format", "raw").stdout == VALUES.tobytes()


def test_options_of_a_copy_reach_the_store_that_has_them(place, command):
    there = place("radosgw")
    given = [each for name, value in there.options.items() for each in ("--store-option", f"{name}={value}")]
    for arguments in (("copy",), ("copy", "--raw"), ("copy", "--standalone")):
        command.ok(*arguments, *given, "--store-option", "durable=false", there / "three.zarr/plain", f"{len(arguments)}{arguments[-1]}.zarr")
    command.ok("nccopy", *given, "--store-option", "durable=false", there / "nc.zarr", "nc.zarr")
    command.ok("nccopy", *given, there / "nc.zarr", "x.nc")
    ran = command("copy", *given, "--store-option", "durabel=false", there / "em", "em")
    assert ran.code == 2 and "'durabel' is not a storage option" in ran.stderr
    for arguments in (("copy",), ("copy", "--raw")):
        ran = command(*arguments, *given, "em", "em2")
        assert ran.code == 2 and "is not a storage option: 'file' stores have" in ran.stderr
    sherd.copy(there / "em", command.folder / "copied", storage_options=there.options | {"durable": False})
    sherd.copy(there / "em", command.folder / "raw", storage_options=there.options | {"durable": False}, raw=True)
    np.testing.assert_array_equal(sherd.open_array(command.folder / "copied")[..., 0], BYTES.T)
    np.testing.assert_array_equal(sherd.open_array(command.folder / "raw")[..., 0], BYTES.T)


def test_check_reads_all_that_is_listed(there, command):
    assert command.ok("check", there / "three.zip", "--data", "--json").json["ok"]
    ran = command("check", there / "em_sharded", "--data", "--json")
    assert ran.json["ok"] if there.can_list else ran.code == 5 and "check a copy" in ran.error["message"]


def test_pictures_and_datasets_are_those_of_the_files(there, command, datasets):
    for path in ("three.zarr/plain", "em", "image.zarr"):
        for base, name in ((there.url, "a.png"), (datasets, "b.png")):
            command.ok("picture", f"{base}/{path}", name)
        assert filecmp.cmp(command.folder / "a.png", command.folder / "b.png", shallow=False)
    assert command.ok("ncdump", there / "nc.zarr").stdout == command.ok("ncdump", datasets / "nc.zarr").stdout
    command.ok("nccopy", there / "nc.zarr", "x.zarr")
    assert lines(command.ok("ncdump", "x.zarr"))[1:] == lines(command.ok("ncdump", datasets / "nc.zarr"))[1:]
    assert command.ok("kv", "get", there / "skeletons", "7").stdout == command.ok("kv", "get", datasets / "skeletons", "7").stdout


def stats(ran):
    """Of a command with --stats."""
    return json.loads(ran.stderr.splitlines()[-1])


def test_stats_tell_requests_and_retries(there, command, fault_proxy):
    one_element = ("read", there / "two.zarr/a", "--select", "0,0,0", "--stats", "-o", "x.npy")
    told = stats(command.ok(*one_element))
    assert told["requests"] > 0 and told["retries"] == 0 and told["bytes_read"] > 0 and told["round_trips"] > 0
    if there.server.name == "fake_gcs":
        return  # it has no objects for clients that know it by another port
    proxy = fault_proxy(there.server, {"status": 503, "times": 1})
    url = (there / "two.zarr/a").replace(there.server.url, proxy.url)
    command.environment |= {name: value.replace(there.server.url, proxy.url) for name, value in there.environment.items()}
    failed_once = stats(command.ok(one_element[0], url, *one_element[2:]))
    assert failed_once["retries"] >= 1 and failed_once["bytes_read"] == told["bytes_read"]
    assert failed_once["requests"] - failed_once["retries"] == told["requests"]


@pytest.mark.parametrize("archive", ["{proxy}/b/three.zip/", "s3://b/three.zip|zip:"])
def test_stats_of_an_archive_are_those_of_the_server(command, datasets, fault_proxy, archive):
    proxy = fault_proxy()
    proxy.put("b/three.zip", (datasets / "three.zip").read_bytes())
    command.environment |= {"AWS_ENDPOINT_URL": proxy.url, "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"}
    archive = archive.format(proxy=proxy.url)
    for arguments in (("tree", archive), ("info", f"{archive}sharded", "--json"),
                      ("read", f"{archive}sharded", "--select", "3,5:9,::7", "--format", "json")):
        for fault in ({"delay": 20}, {"status": 503, "times": 2, "skip": 1}):
            proxy.set(fault)
            proxy.reset()
            told, counted = stats(command.ok("--stats", *arguments)), proxy.counts()
            while counted["open_connections"] > 1:  # it counts what it has sent before it looks for another request
                counted = proxy.counts()
            assert told["requests"] == len(proxy.requests()) > 0
            assert told["bytes_read"] == counted["body_bytes"] > 0
            if "status" in fault:
                assert told["retries"] >= 1
            else:  # the delay lets requests overlap that do not wait for others
                assert told["round_trips"] == counted["round_trips"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("arguments", [("info", "s3://b/a.zarr"), ("copy", "s3://b/a.zarr", "x.zarr")])
def test_the_program_for_credentials_ends_with_the_command(command, number, arguments):
    started = command.folder / "started"
    os.mkfifo(started)
    program = command.folder / "credentials"
    program.write_text(f"#!/bin/sh\nexec 3>{started}\necho begun >&3\nsleep 3 3>&-\necho ended >&3\n")
    program.chmod(0o755)
    (command.folder / "config").write_text(f"[default]\ncredential_process = {program}\n")
    environment = command.environment | {"AWS_CONFIG_FILE": "config", "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": "us-east-1"}
    sherd_process = subprocess.Popen([command.binary, *arguments], cwd=command.folder, env=environment, stderr=subprocess.PIPE,
                                     preexec_fn=heed_interrupts)
    with open(started) as lines_of_program:
        assert lines_of_program.readline() == "begun\n"
        sherd_process.send_signal(number)
        assert lines_of_program.read() == ""  # until no process has it open
    sherd_process.communicate()
    assert sherd_process.returncode in (-number, 128 + number)


def test_what_does_not_exist_is_not_found(there, command):
    for arguments in (("info", there / "nothing"), ("read", there / "three.zarr/nothing"), ("info", there / "nothing.zip"),
                      ("copy", there / "nothing", "x.zarr"), ("ncdump", there / "nothing")):
        ran = command(*arguments)
        assert ran.code == 3 and re.search("nothing", ran.stderr), ran.stderr
    assert not (command.folder / "x.zarr").exists()


@pytest.mark.parametrize("server", ["nginx", "fake_gcs"])
def test_what_would_write_is_refused(place, server, command, datasets):
    there = place(server)
    command.environment |= there.environment
    for arguments in (("create", there / "new.zarr", "--shape", "4", "--dtype", "u1"), ("rm", "--recursive", there / "em"),
                      ("write", there / "three.zarr/plain", "--select", "0", "--value", "1"), ("copy", there / "em", there / "new.zarr"),
                      ("copy", datasets / "em", there / "new.zarr"), ("nccopy", datasets / "nc.zarr", there / "new.zarr"),
                      ("consolidate", there / "two.zarr"), ("resize", there / "two.zarr/a", "9,9,9"),
                      ("create", there / "three.zip/new", "--shape", "4", "--dtype", "u1"),
                      ("copy", "--raw", datasets / "em", there / "new.zarr")):
        ran = command(*arguments)
        assert ran.code == 2 and "is read-only" in ran.stderr, (arguments, ran)
    assert command("info", there / "new.zarr").code == 3


def test_a_missing_bucket_and_a_missing_server_are_named(place, command):
    there = place("radosgw")
    command.environment |= there.environment
    ran = command("info", "s3://no-such-bucket-there/a.zarr")
    assert ran.code == 3 and "bucket" in ran.stderr and "no-such-bucket-there" in ran.stderr
    command.environment |= {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}
    ran = command("info", there / "em", "--store-option", "attempts=2")
    assert ran.code == 7 and "127.0.0.1" in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("fault", [{"silent": True, "target": "/c/"}, {"drip": 1, "drip_every": 50, "target": "/c/"},
                                   {"status": 503, "target": "/c/", "headers": {"Retry-After": "60"}}])
def test_an_interrupt_ends_a_copy_from_a_slow_server(command, datasets, fault_proxy, number, fault):
    proxy = fault_proxy(None, fault)
    for path in (datasets / "three.zarr/sharded").rglob("*"):
        if path.is_file():
            proxy.put(f"b/{path.relative_to(datasets / 'three.zarr')}", path.read_bytes())
    copy = subprocess.Popen([command.binary, "copy", f"{proxy.url}/b/sharded", "x.zarr"], cwd=command.folder, env=command.environment,
                            stderr=subprocess.PIPE, preexec_fn=heed_interrupts)
    while not any("/c/" in each["target"] for each in proxy.requests()):
        assert copy.poll() is None, copy.stderr.read()
    copy.send_signal(number)
    assert copy.wait() == 128 + number  # the server would never end it
    assert copy.stderr.read().splitlines()[-1] == b"sherd: interrupted"
    assert not list((command.folder / "x.zarr").rglob("zarr.json"))


def test_nodes_are_read_from_a_bucket_that_denies_lists(command, datasets, fault_proxy):
    proxy = fault_proxy(None, {"target": "list-type", "status": 403})
    for path in (datasets / "three.zarr").rglob("*"):
        if path.is_file():
            proxy.put(f"b/{path.relative_to(datasets)}", path.read_bytes())
    command.environment |= {"AWS_ENDPOINT_URL": proxy.url, "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"}
    for path in ("three.zarr", "three.zarr/sharded"):
        assert "not counted" in command.ok("info", f"s3://b/{path}").text
        assert "stored" not in command.ok("info", f"s3://b/{path}", "--json").json
    command.ok("copy", "s3://b/three.zarr/sharded", "sharded.zarr")
    assert command.ok("read", "sharded.zarr", "--format", "raw").stdout == VALUES.tobytes()
