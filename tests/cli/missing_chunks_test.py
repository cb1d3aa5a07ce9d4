"""Chunks of nothing but 0, which are not stored unless --write-empty-chunks says so, and what cloud-volume makes of them."""

import numpy
import pytest
from dependencies import missing

try:
    from cloudvolume import CloudVolume
    from cloudvolume.exceptions import EmptyVolumeException
except ImportError:
    CloudVolume = None

VALUES = numpy.zeros((16, 16, 16), numpy.uint8)
VALUES[:4, :4, :4] = 7
SHARDINGS = [["--sharding", "none"], ["--sharding", "auto"]]
VOLUME = ["--shape", "16,16,16", "--dtype", "uint8", "--chunks", "4,4,4", "--resolution", "8,8,40"]


@pytest.fixture(autouse=True)
def cloud_volume():
    if CloudVolume is None:
        missing("cloud-volume")


def seen(folder, **options):
    """What cloud-volume reads of all voxels."""
    return numpy.asarray(CloudVolume(f"precomputed://file://{folder}", progress=False, **options)[:, :, :])[..., 0]


def check(folder, stores_all):
    """Both ways of opening: fill_missing always works, the default where every chunk is stored."""
    numpy.testing.assert_array_equal(seen(folder, fill_missing=True), VALUES)
    if stores_all:
        numpy.testing.assert_array_equal(seen(folder), VALUES)
    else:
        with pytest.raises(EmptyVolumeException):
            seen(folder)


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["unsharded", "sharded"])
@pytest.mark.parametrize("options", [[], ["--write-empty-chunks"]], ids=["default", "all"])
def test_write_stores_chunks_of_zeros_on_request(sherd, tmp_path, sharding, options):
    numpy.save(tmp_path / "v.npy", VALUES[..., None])
    sherd.ok("create", "em", "--store-format", "precomputed", *VOLUME, *sharding)
    sherd.ok("write", "em", "-i", "v.npy", *options)
    check(tmp_path / "em", stores_all=bool(options))


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["unsharded", "sharded"])
def test_write_fills_up_a_volume_whose_chunks_are_missing(sherd, tmp_path, sharding):
    sherd.ok("create", "em", "--store-format", "precomputed", *VOLUME, *sharding)
    sherd.ok("write", "em", "--value", "0", "--write-empty-chunks")
    assert not seen(tmp_path / "em").any()


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["unsharded", "sharded"])
@pytest.mark.parametrize("options", [[], ["--write-empty-chunks"]], ids=["default", "all"])
def test_copy_stores_chunks_of_zeros_on_request(sherd, tmp_path, sharding, options):
    numpy.save(tmp_path / "v.npy", VALUES.T)
    sherd.ok("import", "v.npy", "v.zarr", "--chunks", "4,4,4")
    sherd.ok("copy", "v.zarr", "em", "--to", "precomputed", "--axes", "z,y,x", *sharding, *options)
    check(tmp_path / "em", stores_all=bool(options))
    # From one volume to another, where the chunks agree and are moved as they are.
    sherd.ok("copy", "em", "again", *sharding, *options)
    check(tmp_path / "again", stores_all=bool(options))


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["unsharded", "sharded"])
def test_a_copy_stores_chunks_that_its_source_does_not(sherd, tmp_path, sharding):
    numpy.save(tmp_path / "v.npy", VALUES[..., None])
    sherd.ok("create", "em", "--store-format", "precomputed", *VOLUME, *sharding)
    sherd.ok("write", "em", "-i", "v.npy")
    check(tmp_path / "em", stores_all=False)
    report = sherd.ok("copy", "em", "all", "--write-empty-chunks", "--json").json
    assert (report["chunks_moved"], report["chunks_encoded"]) == (1, 63)
    check(tmp_path / "all", stores_all=True)


@pytest.mark.parametrize("options", [[], ["--write-empty-chunks"]], ids=["default", "all"])
def test_import_stores_chunks_of_zeros_on_request(sherd, tmp_path, options):
    numpy.save(tmp_path / "v.npy", VALUES)
    sherd.ok("import", "v.npy", "v.zarr", "--chunks", "4,4,4", "--shards", "8,8,8", "--layout", "zarr+neuroglancer",
             "--dimension-names", "z,y,x", "--resolution", "8,8,40", *options)
    check(tmp_path / "v.zarr", stores_all=bool(options))


@pytest.mark.parametrize("command", ["create", "write", "import", "copy"])
def test_help_says_that_cloud_volume_needs_the_chunks(sherd, command):
    text = " ".join(sherd.ok(command, "--help").text.split())
    assert "--write-empty-chunks" in text and "fill_missing=True" in text
