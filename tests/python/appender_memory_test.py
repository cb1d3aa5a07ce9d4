"""The memory of a stream stays below what its appender estimates, however long the stream is."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys, numpy, sherd

def resident(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])

codec = {"raw": None, "zstd": {"name": "zstd", "configuration": {"level": 1, "checksum": False}}}[sys.argv[1]]
array = sherd.create_array(sys.argv[2], shape=(0, 1024, 1024), dtype="u2", chunks=(1, 1024, 1024), shards=(16, 1024, 1024),
                           compressors=codec, config={"durable": False})
frame = numpy.random.default_rng(1).integers(0, 4096, (1024, 1024), dtype="u2")
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
with array.appender(axis=0, queue_bytes=8 << 20, threads=2) as stream:
    estimate = stream.estimate_memory()
    for _ in range(200):
        stream.append(frame)
print(estimate, resident("VmHWM") - before)
"""


@pytest.mark.parametrize("codec", ["raw", "zstd"])
def test_a_long_stream_takes_no_more_memory_than_it_estimates(on_disk, codec):
    ran = subprocess.run([sys.executable, "-c", SCRIPT, codec, str(on_disk / "a")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    estimate, taken = map(int, ran.stdout.split())
    assert 8 << 20 < estimate < 64 << 20
    assert taken < estimate + (4 << 20), (taken, estimate)  # pages of the library and of Python are counted too
