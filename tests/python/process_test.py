"""Handles in other processes, other threads, and under signals."""

import multiprocessing
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import sherd

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


def test_what_is_in_memory_refuses_to_be_pickled():
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


def test_what_a_signal_handler_raises_comes_out_of_the_read():
    found = subprocess.run([sys.executable, "-c", HANDLER], capture_output=True, text=True, timeout=60)
    assert found.stdout == "stopped\n", found.stderr
