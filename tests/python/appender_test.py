"""array.appender(): slices stored in the background, what a reader sees meanwhile, errors; and docs/writing.md."""

import pathlib
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
import sherd
import xarray
import zarr

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPE = (8, 6)


def frames(count):
    return np.arange(count * 48, dtype="u2").reshape(count, *SHAPE)


@pytest.fixture
def movie(tmp_path):
    return sherd.create_array(tmp_path / "m.zarr", shape=(0, *SHAPE), dtype="u2", chunks=(1, 4, 6), shards=(4, 8, 6))


def test_frames_are_appended_one_by_one_or_together(movie):
    with movie.appender() as stream:
        for frame in frames(5):
            stream.append(frame)
        stream.append(frames(9)[5:])
        stream.flush()
        assert movie.shape == (9, *SHAPE)
        stream.append(frames(10)[9].tolist())
    np.testing.assert_array_equal(movie[:], frames(10))
    np.testing.assert_array_equal(zarr.open_array(movie.url, mode="r")[:], frames(10))
    assert stream.stats == {"appended": 10, "stored": 10, "length": 10, "queued_bytes": 0, "flushes": stream.stats["flushes"],
                            "queue_bytes": stream.stats["queue_bytes"], "waited": 0}
    assert 2 <= stream.stats["flushes"] <= 4
    assert "10 of 10 slices stored" in repr(stream) and "m.zarr" in repr(stream)


def test_slices_of_any_axis_and_order_are_appended(tmp_path):
    array = sherd.create_array(tmp_path / "a", shape=(8, 6, 0), dtype="u2", chunks=(4, 6, 3))
    with array.appender(axis=-1) as stream:
        stream.append(frames(5).transpose(1, 2, 0)[:, :, ::-1])
        stream.append(np.asfortranarray(frames(6)[5]))
    expected = np.concatenate([frames(5)[::-1], frames(6)[5:]]).transpose(1, 2, 0)
    np.testing.assert_array_equal(array[:], expected)


@pytest.mark.parametrize("technique", ["auto", 2, "2", 4])
def test_every_technique_stores_the_same_elements(movie, technique):
    with movie.appender(technique=technique, queue_bytes=10 * 96, threads=2) as stream:
        for number in range(23):
            stream.append(frames(23)[number])
            if number % 3 == 0:
                stream.flush()
    np.testing.assert_array_equal(movie[:], frames(23))


def test_a_reader_sees_the_frames_of_flushes_only(movie):
    reader = sherd.open_array(movie.url)
    with movie.appender(auto_flush=False) as stream:
        stream.append(frames(17))
        reader.refresh()
        assert reader.shape[0] == 0
        stream.flush()
        assert reader.shape[0] == 0
        reader.refresh()
        np.testing.assert_array_equal(reader[:], frames(17))
    assert stream.stats["flushes"] == 1


def test_refresh_reads_attributes_too_and_finds_that_the_array_was_erased(movie):
    reader = sherd.open_array(movie.url)
    movie.attrs["exposure"] = 5
    reader.refresh()
    assert reader.attrs["exposure"] == 5
    pathlib.Path(movie.url.removeprefix("file://"), "zarr.json").unlink()
    with pytest.raises(sherd.Conflict, match="erased"):
        reader.refresh()


def test_xarray_sees_the_new_length_after_opening_again(tmp_path):
    group = sherd.create_group(tmp_path / "g")
    array = group.create_array("movie", shape=(0, *SHAPE), dtype="u2", chunks=(1, 8, 6), dimension_names=("t", "y", "x"))
    with array.appender() as stream:
        for length in (3, 8):
            stream.append(frames(length)[array.shape[0]:])
            stream.flush()
            with xarray.open_dataset(tmp_path / "g", engine="sherd") as dataset:
                np.testing.assert_array_equal(dataset["movie"], frames(length))


def test_a_full_queue_is_unavailable_after_the_timeout(movie):
    with movie.appender(queue_bytes=2 * 96) as stream:
        accepted = 0
        with pytest.raises(sherd.Unavailable, match="queue of the appender is full: 0 of 1 slices"):
            for _ in range(100_000):
                stream.append(frames(1)[0], timeout=0)
                accepted += 1
        assert stream.stats["appended"] == accepted
    assert movie.shape[0] == accepted


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_that_is_no_time_is_refused(movie, timeout):
    with movie.appender() as stream:
        with pytest.raises(sherd.InvalidArgument, match="timeout must be 0 or more seconds"):
            stream.append(frames(1)[0], timeout=timeout)
        assert stream.stats["appended"] == 0


def test_threads_may_append_to_one_stream(movie):
    with movie.appender(queue_bytes=8 * 96) as stream:
        threads = [threading.Thread(target=lambda n=n: [stream.append(np.full((2, *SHAPE), 10 * n + i)) for i in range(10)])
                   for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seen = movie[:, 0, 0]
    assert (seen[::2] == seen[1::2]).all() and sorted(seen[::2]) == list(range(40))


def test_an_error_in_the_block_still_stores_what_was_appended(movie):
    with pytest.raises(ZeroDivisionError), movie.appender() as stream:
        stream.append(frames(3))
        1 / 0  # noqa: B018
    np.testing.assert_array_equal(movie[:], frames(3))
    with pytest.raises(sherd.InvalidArgument, match="closed"):
        stream.append(frames(1))
    stream.flush()
    stream.close()


def test_an_appender_that_was_not_closed_warns_and_stores(movie):
    stream = movie.appender()
    stream.append(frames(2))
    with pytest.warns(ResourceWarning, match="unclosed appender of .*m.zarr"):
        del stream
    movie.refresh()
    np.testing.assert_array_equal(movie[:], frames(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        movie.appender().close()


def test_a_second_appender_is_a_conflict(movie):
    with movie.appender():
        with pytest.raises(sherd.Conflict, match="another appender of the array is open"):
            movie.appender()
    movie.appender().close()


@pytest.mark.parametrize("arguments, error, member", [
    ({"technique": 1}, sherd.InvalidArgument, "technique"), ({"technique": 3}, sherd.InvalidArgument, "technique"),
    ({"technique": 5}, sherd.InvalidArgument, "technique"), ({"technique": None}, sherd.InvalidArgument, "technique"),
    ({"queue_bytes": 95}, sherd.InvalidArgument, "queue_bytes"), ({"queue_bytes": "lots"}, sherd.InvalidArgument, "queue_bytes"),
    ({"queue_bytes": -1}, sherd.InvalidArgument, "queue_bytes"), ({"threads": 0}, sherd.InvalidArgument, "threads"),
    ({"axis": 3}, IndexError, None)])
def test_arguments_are_checked_by_name(movie, arguments, error, member):
    with pytest.raises(error) as caught:
        movie.appender(**arguments)
    assert member is None or caught.value.member == member


def test_slices_that_do_not_fit_are_refused(movie):
    with movie.appender(queue_bytes="1MiB") as stream:
        for wrong in (np.zeros((6, 8), "u2"), np.zeros((2, 8, 7), "u2"), np.zeros(48, "u2")):
            with pytest.raises(sherd.InvalidArgument, match="cannot be appended"):
                stream.append(wrong)
        with pytest.raises(TypeError):
            pickle.dumps(stream)
        assert stream.estimate_memory() > stream.stats["queue_bytes"] > 900_000
    with pytest.raises(sherd.InvalidArgument, match="reading only"):
        sherd.open_array(movie.url).appender()


@pytest.fixture
def weather(tmp_path):
    group = sherd.create_group(tmp_path / "w.zarr")
    for name, rest, chunk in (("time", (), 8), ("heat", (8, 6), 1), ("sky/note", (2,), 4)):
        group.create_array(name, shape=(0, *rest), dtype="string" if name == "sky/note" else "f8", chunks=(chunk, *rest),
                           dimension_names=("time", f"a{len(rest)}", "x")[:1 + len(rest)])
    return group


def test_arrays_of_a_group_are_appended_to_together(weather):
    notes = np.array([[f"{i} fair", "x" * i] for i in range(9)], object)
    with weather.appender({"heat": 0, "time": -1, "sky/note": "time"}) as stream:
        stream.append({"heat": frames(1)[0], "time": 0.5, "sky/note": notes[0]})
        stream.append({"time": np.arange(1, 9), "sky/note": notes[1:], "heat": frames(9)[1:]})
        stream.flush()
        for path in (weather.url, f"{weather.url}/sky"):
            with xarray.open_dataset(path, engine="sherd", decode_times=False) as dataset:
                assert dataset.sizes["time"] == 9
        assert "w.zarr, 9 of 9 slices stored" in repr(stream)
    np.testing.assert_array_equal(weather["heat"][:], frames(9))
    np.testing.assert_array_equal(weather["time"][:], [0.5, 1, 2, 3, 4, 5, 6, 7, 8])
    np.testing.assert_array_equal(weather["sky/note"][:], notes)
    assert stream.stats["appended"] == stream.stats["length"] == 9


def test_slices_of_a_group_are_checked_by_name(weather):
    def wrong(slices, message):
        with pytest.raises(sherd.InvalidArgument, match=message):
            stream.append(slices)

    with weather.appender(["heat", "time"], "time") as stream:
        wrong(frames(1)[0], "a dict of slices by the names of the arrays")
        wrong({"heat": frames(1)[0]}, "slices of 'time' are missing")
        wrong({"heat": frames(1)[0], "time": 1, "wind": 2}, "'wind' is not an array of this appender")
        wrong({"heat": frames(2), "time": [1]}, "there are 1 slices of 'time', but 2 of 'heat'")
        wrong({"heat": np.zeros((6, 8)), "time": 1}, "'heat': slices of shape .* cannot be appended")
        with pytest.raises(sherd.Conflict, match="another appender of the array is open"):
            weather["time"].appender()
    assert weather["time"].shape == (0,)
    for arguments, error in (((["wind"],), sherd.NotFound), ((["sky"],), sherd.InvalidArgument), ((["heat"], "y"), sherd.InvalidArgument),
                             ((["heat"], 3), IndexError), (("heat",), TypeError), (([],), sherd.InvalidArgument),
                             (({"heat": 0, "sky/note": 1},), sherd.InvalidArgument)):
        with pytest.raises(error):
            weather.appender(*arguments)


def test_texts_are_appended(tmp_path):
    array = sherd.create_array(tmp_path / "t", shape=(0,), dtype="string", chunks=(4,), shards=(16,))
    texts = [f"text {i}" * (i % 7) for i in range(100)]
    with array.appender(queue_bytes=1000) as stream:
        stream.append(texts[0])
        stream.append(texts[1:60])
        stream.flush()
        assert list(array[:]) == texts[:60]
        stream.append(np.array(texts[60:], object))
    assert list(array[:]) == texts
    blobs = sherd.create_array(tmp_path / "b", shape=(0,), dtype="bytes", chunks=(4,))
    with blobs.appender() as stream:
        stream.append([b"", b"\0\1", b"x" * 100_000])
    assert list(blobs[:]) == [b"", b"\0\1", b"x" * 100_000]
    with pytest.raises(sherd.Unsupported, match="elements of fixed size, not string"):
        array.appender(technique=3)


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs/writing.md").read_text(encoding="utf-8")
    section = page[page.index("## Streams of slices"):]
    examples = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(examples) >= 6
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in examples:
        exec(example, names)
    assert capsys.readouterr().out == "(100, 512, 512)\n"
    assert (names["movie"][:, 7, 9] == np.arange(100)).all() and (names["archive"][:, 7, 9] == np.arange(70)).all()
    assert names["plain"].shape[0] == names["series"].shape[0] == 20
    with xarray.open_zarr(tmp_path / "weather.zarr", decode_times=False) as dataset:
        assert dataset.sizes["time"] == 48 and (dataset["temperature"][:, 7, 9] == 15 + dataset["time"] % 24).all()
    assert not sherd.check(tmp_path / "archive.zarr", data=True)["faults"]
