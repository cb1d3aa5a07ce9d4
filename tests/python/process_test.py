"""Handles in other processes, other threads, and under signals."""

import fcntl
import multiprocessing
import operator
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import sherd
from open_files import has_lock_open

DATA = np.arange(64 * 64, dtype="u2").reshape(64, 64)


@pytest.fixture
def array(tmp_path):
    return sherd.create_array(tmp_path / "a", data=DATA, chunks=(8, 8), shards=(32, 32), config={"threads": 2, "order": "F"})


def test_a_handle_pickles_as_url_and_settings(array, tmp_path):
    again = pickle.loads(pickle.dumps(array))
    assert again.url == array.url and not again.read_only
    assert again[...].flags.f_contiguous and np.array_equal(again[...], DATA)
    assert pickle.loads(pickle.dumps(sherd.open(tmp_path / "a"))).read_only
    root = sherd.create_group(tmp_path / "g")
    root.create_array("x/y", data=DATA)
    for node in (root, root["x"], root["x/y"]):
        again = pickle.loads(pickle.dumps(node))
        assert type(again) is type(node) and again.path == node.path and again.url == node.url
    store = sherd.Store(tmp_path / "a")
    assert pickle.loads(pickle.dumps(store)).get("zarr.json") == store.get("zarr.json")


def test_memory_stores_cannot_be_pickled():
    store = sherd.MemoryStore()
    group = sherd.create_group(store)
    for thing in (store, group, group.create_array("a", shape=(1,), dtype="u1")):
        with pytest.raises(sherd.InvalidArgument, match="memory"):
            pickle.dumps(thing)


def test_spawned_processes_write_one_shard_and_lose_nothing(array):
    rows = [slice(start, start + 8) for start in range(0, 64, 8)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(operator.setitem, [array] * 8, rows, [DATA[each] + 1 for each in rows]))
        read = list(pool.map(operator.getitem, [array] * 8, rows))
    assert np.array_equal(np.concatenate(read), DATA + 1)
    assert np.array_equal(array[...], DATA + 1)


COUNTER = """
import sys, sherd
where, update, number, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
array = sherd.open_array(where, mode="r+", config={"update": update, "durable": False, "max_unused": 0.9, "threads": 1})
sys.stdin.readline()
for value in range(1, rounds + 1):
    row = value % 16
    array[row, number] = array[row, number] + 1
"""


@pytest.mark.parametrize("index_location", ["start", "end"])
@pytest.mark.parametrize("update", ["auto", "rewrite", "append", "in_place"])
def test_processes_that_count_in_the_same_chunks_lose_no_update(on_disk, update, index_location):
    """Each has a column of its own, and each chunk has elements of two processes and of all rows of a count."""
    where, processes, rounds = on_disk / "a", 8, int(os.environ.get("SHERD_UPDATES_EACH", "100"))
    array = sherd.create_array(where, shape=(16, processes), dtype="u4", chunks=(4, 2), shards=(16, processes), compressors=None,
                               index_location=index_location, config={"durable": False})
    array[:] = 1
    counters = [subprocess.Popen([sys.executable, "-c", COUNTER, where, update, str(number), str(rounds)], stdin=subprocess.PIPE)
                for number in range(processes)]
    for counter in counters:
        counter.stdin.write(b"\n")
        counter.stdin.flush()
    assert [counter.wait() for counter in counters] == [0] * processes
    for counter in counters:
        counter.stdin.close()
    expected = [1 + sum(value % 16 == row for value in range(1, rounds + 1)) for row in range(16)]
    np.testing.assert_array_equal(array[:], np.repeat(expected, processes).reshape(16, processes))
    assert sherd.check(where, data=True)["faults"] == []


def test_parent_and_child_both_read_after_a_fork(array):
    assert np.array_equal(array[...], DATA)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(array[...], DATA) and np.array_equal(array[5], DATA[5]) else 1)
    assert np.array_equal(array[...], DATA)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_other_threads_run_while_one_reads(array):
    """Every thread reads with the GIL released, so many may be inside the engine at once."""
    wrong = []

    def read():
        for i in range(50):
            row = i % 64
            if not np.array_equal(array[row], DATA[row]):
                wrong.append(row)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


READER = """
import sherd, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
array = sherd.create_array(sherd.MemoryStore(), shape=(2**25, 2**25), dtype="u1", chunks=(2**10, 2**10), config={"threads": int(sys.argv[1])})
array[0, 0] = 1
try:
    print("reading", flush=True)
    array[:: 2**10, :: 2**10]  # one element of each of 2**30 chunks
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(array[0, 0], flush=True)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_long_read(threads):
    process = subprocess.Popen([sys.executable, "-c", READER, str(threads)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "reading\n"
        time.sleep(0.3)  # by then it is inside the read; an earlier signal would end it, too
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert rest == "interrupted\n1\n" and process.returncode == 0


HANDLER = """
import os, signal, sherd
class Stop(Exception): pass
def handle(*_): raise Stop
signal.signal(signal.SIGALRM, handle)
array = sherd.create_array(sherd.MemoryStore(), shape=(2**25, 2**25), dtype="u1", chunks=(2**10, 2**10))
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    array[:: 2**10, :: 2**10]
except Stop:
    print("stopped")
"""


def test_an_exception_of_a_signal_handler_ends_the_read():
    found = subprocess.run([sys.executable, "-c", HANDLER], capture_output=True, text=True, timeout=60)
    assert found.stdout == "stopped\n", found.stderr


WAITER = """
import signal, sys, sherd
signal.signal(signal.SIGINT, signal.default_int_handler)
array = sherd.open_array(sys.argv[1], mode="r+")
try:
    array[...] = 1
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def locked(array, tmp_path):
    """Every shard of the array is locked, as by a writer in another process."""
    files = []
    for shard in (tmp_path / "a" / "c").glob("*/*"):
        files.append(open(shard.with_name(f".{shard.name}.sherd-lock"), "wb"))
        whole_file = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(files[-1], fcntl.F_OFD_SETLK, whole_file)
    assert len(files) == 4
    yield array
    for file in files:
        file.close()


def test_one_interrupt_ends_a_write_that_waits_for_a_lock(locked, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", WAITER, tmp_path / "a"], stdout=subprocess.PIPE, text=True)
    try:
        while not has_lock_open(process.pid):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert rest == "interrupted\n" and process.returncode == 0


def test_a_write_waits_for_a_lock_no_longer_than_lock_timeout(locked, tmp_path):
    array = sherd.open_array(tmp_path / "a", mode="r+", config={"lock_timeout": 0.05})
    with pytest.raises(sherd.Unavailable, match=f"another writer holds the lock of '{tmp_path}/a/c/.*lock_timeout"):
        array[...] = 1
    assert np.array_equal(array[...], DATA)
    assert sherd.config.lock_timeout == 600
    for wrong in (-1, "1", float("nan"), True):
        with pytest.raises(sherd.InvalidArgument, match="lock_timeout"):
            sherd.open_array(tmp_path / "a", config={"lock_timeout": wrong})
    sherd.open_array(tmp_path / "a", config={"lock_timeout": None})


def test_without_locks_a_write_does_not_wait(locked, tmp_path):
    array = sherd.open_array(tmp_path / "a", mode="r+", config={"lock": "none", "lock_timeout": 0})
    array[...] = 1
    assert np.all(array[...] == 1)
    assert sherd.config.lock == "auto"
    with pytest.raises(sherd.InvalidArgument, match="lock"):
        sherd.open_array(tmp_path / "a", config={"lock": "never"})


FORKER = """
import multiprocessing, os, sys, time, sherd
array = sherd.open_array(sys.argv[1], mode="r+")
def write():
    while True:
        array[...] = 1
import threading
threading.Thread(target=write, daemon=True).start()
for _ in range(50):
    child = os.fork()
    if child == 0:
        os.close(1)
        os.read(0, 1)
        os._exit(0)
print("forked", flush=True)
os.read(0, 1)
"""


def test_children_of_a_killed_writer_keep_no_lock(array, tmp_path):
    """Some of the children are forked while a lock is held."""
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", FORKER, tmp_path / "a"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "forked\n"
    process.kill()
    process.wait()
    writer = sherd.open_array(tmp_path / "a", mode="r+", config={"lock_timeout": 30})
    writer[...] = DATA
    assert np.array_equal(array[...], DATA)
    process.stdin.close()  # the children end
    process.stdout.close()


DAEMONS = """
import sys, threading, numpy as np, sherd
array = sherd.open_array(sys.argv[1], mode="r+")
def forever(use):
    while True:
        use()
def write():
    array[:32] = 1
threads = [threading.Thread(target=forever, args=(use,), daemon=True) for use in (lambda: array[...], write) * 4]
for thread in threads:
    thread.start()
array[...]
"""


def test_a_program_ends_quietly_while_daemon_threads_read_and_write(array, tmp_path):
    for _ in range(5):
        found = subprocess.run([sys.executable, "-c", DAEMONS, tmp_path / "a"], capture_output=True, text=True, timeout=60)
        assert (found.returncode, found.stderr) == (0, "")


WITHOUT_MEMORY = """
import resource, sys
import numpy as np
import sherd

array = sherd.open_array("a.zarr", mode="r+")
texts = sherd.open_array("t.zarr")
array[:10], texts[:10]  # starts the threads, and imports what is imported late
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))
for call in (lambda: array[...], lambda: array[::2], lambda: array.read_many([np.s_[...]]), lambda: texts[...]):
    try:
        call()
    except MemoryError as error:
        print(type(error).__name__, getattr(error, "code", None))
print(array[:3].tolist())
"""


def test_a_result_beyond_the_memory_of_the_process_is_a_memory_error(tmp_path):
    sherd.create_array(tmp_path / "a.zarr", shape=(2**30,), dtype="u1", chunks=(2**20,), fill_value=7)
    sherd.create_array(tmp_path / "t.zarr", shape=(2**26,), dtype="string", chunks=(2**20,))
    ran = subprocess.run([sys.executable, "-c", WITHOUT_MEMORY], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("OutOfMemory unavailable\n" * 4 + "[7, 7, 7]\n", "")
