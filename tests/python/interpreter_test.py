"""Python goes on while the engine works: a thread that is inside a call does not keep the interpreter to itself."""

import threading
import time

import pytest
import sherd


def read(array):
    array[:: 2**16]  # 2**24 elements of 2**20 chunks


def write(array):
    array[: 2**35 : 2**16] = 0  # all of them stay unstored


@pytest.mark.parametrize("call", [read, write])
def test_python_goes_on_while_a_thread_reads_or_writes(call):
    array = sherd.create_array(sherd.MemoryStore(), shape=(2**40,), dtype="u1", chunks=(2**20,))
    begun, ended = threading.Event(), threading.Event()

    def work():
        begun.set()
        call(array)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    turns = 0
    while not ended.is_set():
        time.sleep(0.005)  # gives the interpreter away and asks for it again
        turns += 1
    thread.join()
    assert turns > 5, "the call ended before anything else could run"
