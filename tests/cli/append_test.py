"""sherd append: frames in every format, shown while they arrive; what ends a stream, and what is stored then."""

import io
import json
import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import sherd as library
import tensorstore
import tifffile
import zarr

SHAPE = (6, 5)


@pytest.fixture
def sherd(sherd, on_disk):
    """On the disk, where shards are appended to: in memory each flush inside a shard rewrites it."""
    sherd.folder = on_disk
    return sherd


def frames(count, dtype="u2", shape=SHAPE):
    return np.arange(1, 1 + count * int(np.prod(shape)), dtype=dtype).reshape(count, *shape)


def pgm(frame):
    kind, most = (b"P6" if frame.ndim == 3 else b"P5"), 255 if frame.itemsize == 1 else 65535
    pixels = frame.astype(frame.dtype.newbyteorder(">")).tobytes()
    return b"%s\n# made by a camera\n%d %d\n%d\n" % (kind, frame.shape[1], frame.shape[0], most) + pixels


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def tiff(array):
    file = io.BytesIO()
    tifffile.imwrite(file, array, photometric="minisblack", metadata=None)
    return file.getvalue()


def create(sherd, dtype="uint16", shape=SHAPE, *options, shard=4):
    sherd.ok("create", "m.zarr", "--shape", ",".join(map(str, (0, *shape))), "--dtype", dtype, "--chunks",
             ",".join(map(str, (1, *shape))), "--shards", ",".join(map(str, (shard, *shape))), *options)


def stored(sherd):
    return zarr.open_array(sherd.folder / "m.zarr", mode="r")[:]


def length(sherd):
    return zarr.open_array(sherd.folder / "m.zarr", mode="r").shape[0]


@pytest.mark.parametrize("encode", [
    lambda all: all.tobytes(), npy, lambda all: b"".join(map(npy, all)), lambda all: npy(all[:4]) + npy(all[4]) + npy(all[5:]),
    lambda all: npy(all.astype(">u2")), lambda all: b"".join(map(pgm, all)), tiff],
    ids=["raw", "npy", "npy of each frame", "npy of several frames", "npy of the other byte order", "pgm", "tiff"])
def test_frames_of_each_format_are_recognized(sherd, encode):
    create(sherd)
    ran = sherd.ok("append", "m.zarr", "--json", input=encode(frames(11)))
    assert ran.json == {"before": [0, *SHAPE], "shape": [11, *SHAPE], "appended": 11}
    np.testing.assert_array_equal(stored(sherd), frames(11))
    (sherd.folder / "frames").write_bytes(encode(frames(11)))
    assert "appended 11 frames" in sherd.ok("append", "m.zarr", "-i", "frames").stderr
    np.testing.assert_array_equal(stored(sherd), np.concatenate([frames(11)] * 2))


def test_colour_images_and_bytes_are_frames(sherd):
    create(sherd, "uint8", (6, 5, 3))
    sherd.ok("append", "m.zarr", input=b"".join(map(pgm, frames(2, "u1", (6, 5, 3)))))
    np.testing.assert_array_equal(stored(sherd), frames(2, "u1", (6, 5, 3)))


def test_raw_frames_may_begin_like_another_format(sherd):
    create(sherd, "uint8")
    frame = b"P5\n" + bytes(27)
    sherd.ok("append", "m.zarr", "--from", "raw", input=frame)
    assert stored(sherd).tobytes() == frame


def test_frames_are_appended_along_any_axis(sherd):
    sherd.ok("create", "m.zarr", "--shape", "6,0,5", "--dtype", "uint16", "--chunks", "6,2,5")
    sherd.ok("append", "m.zarr", "--axis", "1", input=frames(3).tobytes())
    np.testing.assert_array_equal(stored(sherd), frames(3).swapaxes(0, 1))


def test_many_small_frames_are_appended(sherd):
    sherd.ok("create", "m.zarr", "--shape", "0", "--dtype", "float64", "--chunks", "4096")
    values = np.random.default_rng(1).random(300_000)
    sherd.ok("append", "m.zarr", "--queue-bytes", "1MiB", input=values.tobytes())
    np.testing.assert_array_equal(stored(sherd), values)


def test_frames_are_shown_while_others_arrive(sherd, start):
    create(sherd)
    process = start("append", "m.zarr", "--flush-every", "2", stdin=subprocess.PIPE)
    for count in (2, 4, 6):
        process.stdin.write(frames(count)[-2:].tobytes())
        process.stdin.flush()
        while (now := length(sherd)) < count:
            assert now == count - 2 and process.poll() is None
            time.sleep(0.01)
        np.testing.assert_array_equal(stored(sherd), frames(count))
    process.stdin.close()
    assert process.wait() == 0


def by_zarr_python(where):
    return zarr.open_array(where, mode="r")


def by_tensorstore(where):
    return tensorstore.open({"driver": "zarr3", "kvstore": f"file://{where}/"}).result()


def by_sherd(where):
    return library.open_array(where)


def last_frames(open_array, where):
    """The length, and up to 30 frames before it. zarr-python opens a shard twice, so it reads again if the shard has grown between its
    look at the size and the read of the index."""
    for _ in range(100):
        try:
            array = open_array(where)
            return array.shape[0], np.asarray(array[max(array.shape[0] - 30, 0) :])
        except ValueError as error:
            assert open_array is by_zarr_python and "checksum" in str(error)
    raise AssertionError("each of 100 reads was an error")


# Beside zarr-python no shard is rewritten densely, as docs/writing.md advises: by technique 2 because of max_unused, by technique 4
# because no shard becomes full.
@pytest.mark.parametrize("open_array, technique, shard, options, updates", [
    (by_zarr_python, 1, 1, [], set()), (by_zarr_python, 2, 16, ["--max-unused", "1"], {"append"}),
    (by_zarr_python, 3, 16, [], {"in_place"}), (by_zarr_python, 4, 512, [], {"append"}),
    (by_tensorstore, 2, 16, [], {"append", "rewrite"}), (by_tensorstore, 4, 16, [], {"append", "rewrite"}),
    (by_sherd, 2, 16, [], {"append", "rewrite"}), (by_sherd, 4, 16, [], {"append", "rewrite"})],
    ids=lambda each: each.__name__ if callable(each) else str(each) if isinstance(each, int) else "")
def test_a_reader_finds_whole_flushes_at_any_time(sherd, start, open_array, technique, shard, options, updates):
    create(sherd, "uint16", SHAPE, "--codec", "bytes" if technique == 3 else "zstd", shard=shard)
    process = start("append", "m.zarr", "--flush-every", "7", "--technique", str(technique), "--stats", "--quiet", *options,
                    stdin=subprocess.PIPE)
    whole, lengths, reads = frames(350), {0}, 0
    for end in range(14, 351, 14):
        part = whole[end - 14 : end].tobytes()
        feed = threading.Thread(target=lambda part=part: (process.stdin.write(part), process.stdin.flush()))
        feed.start()
        while max(lengths) < end and process.poll() is None:
            now, seen = last_frames(open_array, sherd.folder / "m.zarr")
            lengths.add(now)
            reads += 1
            np.testing.assert_array_equal(seen, whole[max(now - 30, 0) : now])
        feed.join()
    process.stdin.close()
    assert process.wait() == 0 and length(sherd) == 350
    assert max(lengths) == 350 and not {each % 7 for each in lengths} - {0}
    np.testing.assert_array_equal(stored(sherd), whole)
    done = json.loads(process.stderr.read())["updates"]
    print(f"{reads} reads, {len(lengths)} lengths", done)
    assert {each.partition(":")[0] for each in done} == updates


def test_full_shards_are_shown_unless_flushes_are_chosen(sherd, start):
    create(sherd)
    process = start("append", "m.zarr", stdin=subprocess.PIPE)
    process.stdin.write(frames(7).tobytes())
    process.stdin.flush()
    while length(sherd) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    np.testing.assert_array_equal(stored(sherd), frames(4))
    process.stdin.close()
    assert process.wait() == 0
    np.testing.assert_array_equal(stored(sherd), frames(7))


def test_an_interrupt_stores_the_frames_that_have_arrived(sherd, start):
    create(sherd)
    process = start("append", "m.zarr", "--flush-every", "1", stdin=subprocess.PIPE)
    process.stdin.write(frames(2).tobytes() + b"half")
    process.stdin.flush()
    while length(sherd) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    np.testing.assert_array_equal(stored(sherd), frames(2))


@pytest.mark.parametrize("unused", ["0.5", "1"], ids=["rewritten", "appended"])
def test_a_killed_stream_is_continued(sherd, start, unused):
    create(sherd)
    total = 0
    for _ in range(3):
        process = start("append", "m.zarr", "--flush-every", "3", "--max-unused", unused, stdin=subprocess.PIPE)
        for i in range(total, total + 7):
            process.stdin.write(frames(i + 1)[-1].tobytes())
            process.stdin.flush()
        while length(sherd) < total + 6:
            time.sleep(0.01)
        process.kill()
        process.wait()
        total = length(sherd)
        np.testing.assert_array_equal(stored(sherd), frames(total))
    sherd.ok("append", "m.zarr", "--max-unused", unused, input=frames(total + 2)[total:].tobytes())
    np.testing.assert_array_equal(stored(sherd), frames(total + 2))
    sherd.ok("check", "m.zarr", "--data")


@pytest.mark.parametrize("end, message", [
    (b"half", "standard input: ends inside frame 5, after 4 of its 60 bytes"),
    (b"", None)])
def test_an_incomplete_frame_is_an_error_after_the_others(sherd, end, message):
    create(sherd)
    ran = sherd("append", "m.zarr", input=frames(5).tobytes() + end)
    assert ran.code == (4 if message else 0)
    assert message is None or message in ran.stderr.replace("'", "")
    np.testing.assert_array_equal(stored(sherd), frames(5))


@pytest.mark.parametrize("data, code, message", [
    (npy(frames(2, "u4")), 2, 'holds "uint32", the array "uint16"'),
    (npy(frames(2, shape=(5, 6))), 2, "has shape (2, 5, 6), frames of the array (6, 5)"),
    (npy(np.asfortranarray(frames(2))), 5, "Fortran order"), (npy(frames(2))[:-1], 4, "ends inside frame 1"),
    (pgm(frames(1, "u1")[0]), 2, 'holds "uint8", the array "uint16"'),
    (pgm(frames(1, shape=(5, 6))[0]), 2, "has shape (5, 6, 1), frames of the array (6, 5)"),
    (pgm(frames(1)[0])[:-1], 4, "ends inside frame 0"), (pgm(frames(1)[0]) + b"P5 5 x", 4, "frame 1: pgm: a number"),
    (pgm(frames(1)[0]) + b"\n", 5, "frame 1: is not a PGM"),
    (tiff(frames(2, shape=(5, 6))), 2, "has shape (2, 5, 6), frames of the array (6, 5)"), (b"II*\0damaged", 4, "tiff")])
def test_frames_that_do_not_fit_are_refused_by_what_is_wrong(sherd, data, code, message):
    create(sherd)
    ran = sherd("append", "m.zarr", input=data)
    assert ran.code == code and message in ran.stderr, ran.stderr
    assert "standard input" in ran.stderr


@pytest.mark.parametrize("options, code, message", [
    (["--technique", "1"], 2, "--technique: 1 requires"), (["--technique", "3"], 2, "--technique: 3 requires shards of uncompressed chunks"),
    (["--queue-bytes", "1kB"], 0, None), (["--queue-bytes", "59"], 2, "--queue-bytes: 59 bytes are less"), (["--queue-bytes", "many"], 2, "--queue-bytes"),
    (["--flush-every", "0"], 2, "--flush-every"), (["--axis", "3"], 2, "axis 3"), (["--technique", "4"], 0, None)])
def test_options_are_checked(sherd, options, code, message):
    create(sherd)
    ran = sherd("append", "m.zarr", *options, input=frames(9).tobytes())
    assert ran.code == code and (message is None or message in ran.stderr), ran.stderr
    if code == 0:
        np.testing.assert_array_equal(stored(sherd), frames(9))


def test_elements_of_variable_length_are_refused_by_name(sherd):
    sherd.ok("create", "m.zarr", "--shape", "0", "--dtype", "string", "--chunks", "4")
    ran = sherd("append", "m.zarr", input=b"text")
    assert ran.code == 5 and "frames cannot have elements of variable length (string)" in ran.stderr


def test_a_second_stream_is_a_conflict(sherd, start):
    create(sherd)
    process = start("append", "m.zarr", "--flush-every", "1", stdin=subprocess.PIPE)
    process.stdin.write(frames(1).tobytes())
    process.stdin.flush()
    while length(sherd) < 1:
        time.sleep(0.01)
    second = sherd("append", "m.zarr", input=frames(1).tobytes())
    assert second.code == 6 and "another appender of the array is open" in second.stderr
    process.stdin.close()
    assert process.wait() == 0
    np.testing.assert_array_equal(stored(sherd), frames(1))


@pytest.mark.parametrize("folder", ["tmp_path", "on_disk"])
def test_a_full_disk_ends_the_stream_with_what_was_flushed(sherd, folder, request):
    """No file may have more than 24 KiB, which is two frames of noise but not three, whether shards are appended to or rewritten. As
    on a disk, the limit is a multiple of 4096 bytes: a direct write that is cut elsewhere is an invalid argument."""
    import resource

    sherd.folder = request.getfixturevalue(folder)
    create(sherd, "uint16", (64, 64))
    noise = np.random.default_rng(2).integers(0, 2**16, (20, 64, 64), "u2")
    done = subprocess.run(
        [sherd.binary, "append", "m.zarr", "--flush-every", "1"], input=noise.tobytes(), capture_output=True, cwd=sherd.folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 10, 24 << 10)))
    assert done.returncode == 7, done.stderr
    assert b"the stream ended at length 2, with " in done.stderr and os.strerror(27).encode() in done.stderr
    np.testing.assert_array_equal(stored(sherd), noise[:2])
    sherd.ok("append", "m.zarr", input=noise[2:].tobytes())
    np.testing.assert_array_equal(stored(sherd), noise)
