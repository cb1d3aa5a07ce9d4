"""Raw copies into a bucket: one at a time into a place, and what a killed one leaves belongs to it."""

import json
import signal
import subprocess
import threading

import numpy as np
import pytest
import sherd
from servers import through

DATA = np.arange(64 * 64, dtype="u2").reshape(64, 64)
CLAIM = ".sherd-new-00000000/claim"


class Case:
    """A bucket, seen as it is and through a proxy that may be told to fail, and a folder to copy into it."""

    def __init__(self, server, proxy, folder, **more):
        self.server, self.proxy, self.bucket = server, proxy, server.create_bucket()
        self.url = f"s3://{self.bucket}/to"
        self.options = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region, **more}
        self.slow = self.options | {"endpoint": through(server, proxy).url}
        self.folder = folder / "from"
        group = sherd.create_group(self.folder)
        group.create_array("x", shape=DATA.shape, chunks=(8, 8), dtype="u2")[...] = DATA
        (self.folder / "readme.txt").write_text("of no format")

    def copy(self, to=None, options=None, **how):
        return sherd.copy(self.folder, to or self.url, raw=True, storage_options=options or self.options, **how)

    def keys(self):
        return sorted(sherd.Store(self.url, storage_options=self.options).keys())

    def files(self):
        return sorted(str(each.relative_to(self.folder)) for each in self.folder.rglob("*") if each.is_file())

    def interrupted(self, **how):
        """Copies until the first document is stored, which the server refuses."""
        self.proxy.set({"method": "PUT", "target": "zarr.json", "status": 403, "body": "<Error><Code>AccessDenied</Code></Error>"})
        with pytest.raises(sherd.Error, match="AccessDenied"):
            self.copy(options=self.slow, **how)
        self.proxy.set()

    def faults(self):
        return [(each["code"], each["key"]) for each in sherd.check(self.url, storage_options=self.options)["faults"]]

    def run(self, *arguments, options=None):
        words = [word for name, value in (options or self.options).items() for word in ("--store-option", f"{name}={value}")]
        return subprocess.run(["sherd", *arguments, *words], capture_output=True, text=True)


@pytest.fixture(params=["seaweedfs", "radosgw"])
def case(request, fault_proxy, tmp_path):
    server = request.getfixturevalue(request.param)
    return Case(server, fault_proxy(server), tmp_path)


def test_a_raw_copy_that_failed_is_resumed(case):
    case.interrupted()
    assert len(case.keys()) == 1 + 64 + 1 and CLAIM in case.keys()  # chunks and the text, but no document
    assert case.faults() == [("node_claimed", CLAIM)]
    with pytest.raises(sherd.Conflict, match="resume the copy"):
        case.copy()
    report = case.copy(resume=True)
    assert report["objects_skipped"] == 65 and case.keys() == case.files()
    np.testing.assert_array_equal(sherd.open_array(f"{case.url}/x", storage_options=case.options)[...], DATA)
    assert case.faults() == [("foreign_object", "readme.txt")]


def test_rm_removes_all_that_a_failed_raw_copy_has_left(case):
    case.interrupted()
    assert case.server.request("POST", f"/{case.bucket}/to/x/c/9/9?uploads").status == 200  # as a killed process leaves it
    removed = case.run("rm", case.url)
    assert removed.returncode == 0 and case.keys() == [], removed
    assert b"<Upload>" not in case.server.request("GET", f"/{case.bucket}?prefix=to&uploads").body
    case.copy()
    assert case.keys() == case.files()


def test_rm_removes_a_killed_raw_copy_with_some_documents(case):
    case.copy()
    store = sherd.Store(case.url, storage_options=case.options)
    store.set(CLAIM, json.dumps({"path": "", "format": "", "note": "all objects"}).encode())
    store.erase("x/zarr.json")
    assert ("node_claimed", CLAIM) in case.faults()
    removed = case.run("rm", case.url)
    assert removed.returncode == 0 and case.keys() == [], removed


def test_of_two_raw_copies_to_one_place_one_is_refused(case, tmp_path):
    other = tmp_path / "other"
    sherd.create_array(other, shape=4, dtype="u1")[...] = 1
    case.proxy.set({"method": "PUT", "target": "/x/c/", "delay": 2000})
    words = [word for name, value in case.slow.items() for word in ("--store-option", f"{name}={value}")]
    first = subprocess.Popen(["sherd", "copy", "--raw", str(case.folder), case.url, *words], stderr=subprocess.PIPE, text=True)
    while CLAIM not in case.keys():
        assert first.poll() is None
    second = case.run("copy", "--raw", str(other), case.url)
    assert second.returncode == 6 and "another process is making" in second.stderr and CLAIM in second.stderr, second
    case.proxy.set()
    assert first.wait() == 0, first.stderr.read()
    assert case.keys() == case.files()


def test_a_killed_raw_copy_is_listed_and_removed(case):
    case.proxy.set({"method": "PUT", "target": "/x/c/7/", "delay": 60_000})
    words = [word for name, value in case.slow.items() for word in ("--store-option", f"{name}={value}")]
    copying = subprocess.Popen(["sherd", "copy", "--raw", str(case.folder), case.url, *words], stderr=subprocess.DEVNULL)
    while len(case.keys()) < 20:
        assert copying.poll() is None
    copying.send_signal(signal.SIGKILL)
    copying.wait()
    case.proxy.set()
    assert case.faults() == [("node_claimed", CLAIM)]
    assert case.run("rm", case.url).returncode == 0 and case.keys() == []


def test_a_refused_raw_copy_leaves_what_was_there(case):
    sherd.create_array(f"{case.url}/y", shape=4, dtype="u1", storage_options=case.options)[...] = 1
    before = case.keys()
    with pytest.raises(sherd.Conflict, match="contains objects"):
        case.copy()
    assert case.keys() == before
    with pytest.raises(sherd.NotFound):
        sherd.copy(case.folder.with_name("nothing"), f"{case.url}2", raw=True, storage_options=case.options)
    assert list(sherd.Store(f"{case.url}2", storage_options=case.options).keys()) == []


def test_a_raw_copy_whose_place_was_erased_shows_no_documents(case):
    case.proxy.set({"method": "PUT", "target": "/x/c/7/7", "times": 1, "status": 503, "headers": {"Retry-After": "3"}})
    done = []

    def copying():
        with pytest.raises(sherd.Conflict):
            case.copy(options=case.slow)
        done.append(True)

    other = threading.Thread(target=copying)
    other.start()
    while not any("/x/c/7/7" in each["target"] for each in case.proxy.requests()):
        pass
    assert case.run("rm", case.url).returncode == 0
    other.join()
    assert done and not any("zarr.json" in key for key in case.keys())


def test_a_failed_overwriting_raw_copy_leaves_no_claim(case):
    case.copy()
    case.proxy.set({"method": "PUT", "target": "/x/c/", "status": 403, "body": "<Error><Code>AccessDenied</Code></Error>"},
                   {"method": "PUT", "target": "/readme", "status": 403, "body": "<Error><Code>AccessDenied</Code></Error>"})
    store = sherd.Store(case.url, storage_options=case.options)
    store.set("x/c/8/8", b"foreign")
    with pytest.raises(sherd.Conflict, match="x/c/8/8"):
        case.copy(options=case.slow, overwrite=True)
    assert CLAIM not in case.keys()
    store.erase("x/c/8/8")
    with pytest.raises(sherd.Error, match="AccessDenied"):
        case.copy(options=case.slow, overwrite=True)
    assert ("node_claimed", CLAIM) in case.faults(), "an object may have been replaced"
    case.copy(resume=True)
    assert CLAIM not in case.keys()


def test_a_raw_copy_does_not_take_over_the_copy_of_a_node(case):
    store = sherd.Store(case.url, storage_options=case.options)
    store.set(CLAIM, json.dumps({"path": "", "format": "zarr3", "note": "other"}).encode())
    with pytest.raises(sherd.Conflict, match="without '--raw'"):
        case.copy(resume=True)
    assert case.keys() == [CLAIM]


def test_a_source_that_is_being_made_is_not_copied(case, tmp_path):
    case.interrupted()
    with pytest.raises(sherd.Conflict, match="resume the copy"):
        sherd.copy(case.url, tmp_path / "copy", raw=True, storage_options=case.options)


def test_raw_copies_need_no_conditions(swift, fault_proxy, tmp_path):
    case = Case(swift, fault_proxy(swift), tmp_path)
    case.copy()
    assert case.keys() == case.files() and case.faults() == [("foreign_object", "readme.txt")]


def test_a_probe_is_listed_where_there_is_no_node_yet(case):
    """It is left by a process that was killed while it tried out what the server compares."""
    url = f"s3://{case.server.create_bucket()}/a.zarr"
    case.proxy.set({"method": "DELETE", "status": 503, "body": "<Error><Code>SlowDown</Code></Error>", "headers": {"Retry-After": "0"}})
    with pytest.raises(sherd.Error, match="while trying out|DELETE"):
        sherd.create_array(url, shape=4, dtype="u1", storage_options=case.slow | {"attempts": 1})
    case.proxy.set()
    for look in (sherd.check, sherd.repair):  # a process might need it for another minute
        assert [each["code"] for each in look(url, storage_options=case.options)["faults"]] == ["probe_left"]
