"""The memory of nccopy: -m bounds it for strings too, whose sizes are known only after they are read."""

import json

import netCDF4
import numpy as np
import pytest

COUNT, LONG = 40_000, 2000  # 80 MB


def make_strings(path, chunks, short):
    """Strings of LONG characters; the first `short` have 8."""
    letters = np.random.default_rng(1).integers(97, 123, size=(COUNT, LONG), dtype="u1")
    texts = np.array([row.tobytes().decode()[:8 if i < short else LONG] for i, row in enumerate(letters)], dtype=object)
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", COUNT)
        file.createVariable("s", str, ("x",), **({"chunksizes": (chunks,)} if chunks else {}))[:] = texts
    return texts


@pytest.fixture(scope="module", params=[(1000, 0), (None, 0), (8, COUNT // 2)], ids=["chunks", "contiguous", "short-then-long"])
def strings(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("strings") / "x.nc"
    return path, make_strings(path, *request.param)


def copy(sherd, source, destination, format):
    ran = sherd.ok("--stats", "--quiet", "nccopy", "--no-durable", "-m", "8MiB", "--store-format", format, source, destination)
    return json.loads(ran.stderr)["peak_rss"]


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_memory_is_bounded_for_long_strings_from_a_file_and_back(sherd, tmp_path, strings, format):
    path, texts = strings
    peaks = [copy(sherd, path, "x.zarr", format), copy(sherd, "x.zarr", "y.zarr", format), copy(sherd, "y.zarr", "y.nc", format)]
    assert max(peaks) < 96 << 20, peaks
    with netCDF4.Dataset(tmp_path / "y.nc") as file:
        assert (file["s"][:] == texts).all()


def test_chunks_that_are_chosen_by_size_are_smaller_if_strings_are_longer(sherd, tmp_path):
    """Chunks of as many strings as are usual would need memory without bound."""
    make_strings(tmp_path / "x.nc", None, 0)
    copy(sherd, "x.nc", "x.zarr", "zarr2")
    chunks = json.loads((tmp_path / "x.zarr/s/.zarray").read_bytes())["chunks"]
    assert chunks[0] * LONG < 16 << 20
