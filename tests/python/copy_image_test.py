"""sherd.copy of images: into Neuroglancer's volumes, out of them, and pyramids, whose elements are compared with NumPy's."""

import json
import warnings

import numpy as np
import pytest
import sherd
import tifffile

from shardings import sharding

FAST = {"durable": False}
LABELS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bool"]


def blocks_of(data):
    """For each element of half the size those that it is made of, along a new last axis; absent ones are masked."""
    padded = np.ma.masked_all([-(-length // 2) * 2 for length in data.shape], data.dtype)
    padded[tuple(map(slice, data.shape))] = data
    parts = [padded[z::2, y::2, x::2] for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    return np.ma.stack(parts, axis=-1)


def mean_of(data):
    blocks = blocks_of(data)
    if data.dtype.kind == "f":
        return blocks.astype("f8").mean(axis=-1).filled(0).astype(data.dtype)
    exact = blocks.astype(object)  # Python's integers, and round() is half to even
    made = [round(fraction(*values)) for values in zip(exact.filled(0).sum(axis=-1).flat, blocks.count(axis=-1).flat)]
    return np.array(made, object).reshape(blocks.shape[:-1]).astype(data.dtype)


def fraction(total, count):
    from fractions import Fraction

    return Fraction(int(total), int(count))


def mode_of(data, ignore_zero):
    blocks = blocks_of(data)
    made = np.empty(blocks.shape[:-1], data.dtype)
    for at in np.ndindex(made.shape):
        values = blocks[at].compressed()
        if ignore_zero and values.any():
            values = values[values != 0]
        found, counts = np.unique(values, return_counts=True)  # sorted, so the first of the most frequent is the smallest
        made[at] = found[counts.argmax()]
    return made


def data_of(dtype, shape, method):
    random = np.random.default_rng(hash((dtype, shape)) % 2**32)
    if np.dtype(dtype).kind == "f":
        return (random.standard_normal(shape) * 1e3).astype(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    bounds = np.iinfo(dtype)
    if method == "mean":
        return random.integers(bounds.min, bounds.max, shape, dtype, endpoint=True)
    few = np.array([bounds.max, bounds.max - 1, bounds.min, 0, 1, 2], dtype)
    return few[random.integers(0, len(few), shape)]


def pyramid_of(data, chunks, pyramid, **options):
    source, made = sherd.MemoryStore(), sherd.MemoryStore()
    sherd.create_array(source, data=data, chunks=chunks, dimension_names=["z", "y", "x"])
    sherd.copy(source, made, pyramid=pyramid, **options)
    return sherd.open(made)


SHAPES = [(7, 5, 9), (8, 8, 8), (1, 13, 2), (3, 1, 1), (21, 10, 19)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [*LABELS[:-1], "float32", "float64"])
def test_means_agree_with_numpy(dtype, shape):
    data = data_of(dtype, shape, "mean")
    group = pyramid_of(data, (4, 4, 4), "mean:3")
    for level in range(1, len(list(group.keys()))):
        data = mean_of(data)
        made = group[str(level)].read()
        assert made.dtype == data.dtype
        if made.dtype.kind == "f":
            np.testing.assert_allclose(made, data, rtol=2e-7 if dtype == "float32" else 1e-13, atol=1e-12)
        else:
            np.testing.assert_array_equal(made, data)


@pytest.mark.parametrize("ignore_zero", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", LABELS)
def test_modes_agree_with_numpy(dtype, shape, ignore_zero):
    data = data_of(dtype, shape, "mode")
    group = pyramid_of(data, (4, 4, 4), "mode:3", ignore_zero=ignore_zero)
    for level in range(1, len(list(group.keys()))):
        data = mode_of(data, ignore_zero)
        np.testing.assert_array_equal(group[str(level)].read(), data)


def test_the_mode_of_different_values_is_the_smallest():
    data = np.arange(64, dtype="uint64").reshape(4, 4, 4)[::-1, ::-1, ::-1] + 2**60
    np.testing.assert_array_equal(pyramid_of(data, (4, 4, 4), "mode:1")["1"].read(), data[1::2, 1::2, 1::2])


def test_a_volume_goes_to_zarr_and_back(tmp_path):
    scale = {"size": [61, 4, 38], "chunk_size": [8, 4, 8], "voxel_offset": [-3, 7, 0], "resolution": [4.5, 4.5, 40]}
    volume = sherd.neuroglancer.create_precomputed(tmp_path / "em", type="image", dtype="uint16", num_channels=3,
                                                   scales=[{**scale, "sharding": "auto"}], config=FAST)
    volume[:] = data = np.random.default_rng(1).integers(0, 2**16, volume.shape, "u2")
    sherd.copy(tmp_path / "em", tmp_path / "em.zarr", to="zarr3", config=FAST)
    array = sherd.open(tmp_path / "em.zarr")["4.5_4.5_40"]
    assert array.dimension_names == ("c", "z", "y", "x") and array.chunks == (3, 8, 4, 8)
    np.testing.assert_array_equal(array.read(), data.transpose())
    report = sherd.copy(tmp_path / "em.zarr", tmp_path / "back", to="precomputed", config=FAST)
    assert (report["chunks_moved"], report["chunks_encoded"]) == (7 * 1 * 4, 8 * 1 * 5 - 7 * 1 * 4)
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "back").read(), data)
    assert json.loads((tmp_path / "back/info").read_text()) == json.loads((tmp_path / "em/info").read_text())


def test_axes_encoding_and_sharding_are_accepted(tmp_path):
    data = np.arange(20 * 30 * 25, dtype="uint32").reshape(20, 30, 25) // 50
    sherd.create_array(tmp_path / "a", data=data, config=FAST)
    with pytest.raises(sherd.InvalidArgument, match="the dimensions of the source have no names"):
        sherd.copy(tmp_path / "a", tmp_path / "v", to="precomputed")
    sherd.copy(tmp_path / "a", tmp_path / "v", to="precomputed", axes="yzx", chunks=(16, 8, 8), sharding="auto",
               encoding="compressed_segmentation", pyramid="mode", ignore_zero=True, config=FAST)
    info = json.loads((tmp_path / "v/info").read_text())
    assert info["type"] == "segmentation" and [scale["size"] for scale in info["scales"]] == [
        [25, 20, 30], [13, 10, 15], [7, 5, 8]]
    for scale, shape in zip(info["scales"], ([25, 20, 30], [13, 10, 15], [7, 5, 8])):
        assert scale["chunk_sizes"] == [[16, 8, 8]] and scale["encoding"] == "compressed_segmentation"
        assert scale["sharding"] == sherd.neuroglancer.choose_sharding(
            (*shape, 1), (16, 8, 8), "uint32", encoding="compressed_segmentation")
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "v").read()[..., 0], data.transpose(2, 0, 1))
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "v", scale=1).read()[..., 0],
                                  mode_of(data, True).transpose(2, 0, 1))
    sherd.copy(tmp_path / "v", tmp_path / "w", encoding="raw", sharding=None, config=FAST)
    assert "sharding" not in json.loads((tmp_path / "w/info").read_text())["scales"][0]


def test_factors_of_a_pyramid_are_a_list_or_a_dict(tmp_path):
    sherd.create_array(tmp_path / "a", shape=(8, 8, 8), dtype="u1", dimension_names=["z", "y", "x"], config=FAST)
    for i, (factors, shape) in enumerate([(None, (4, 4, 4)), ("auto", (4, 4, 4)), ([1, 2, 2], (8, 4, 4)), ({"y": 2}, (8, 4, 8))]):
        sherd.copy(tmp_path / "a", tmp_path / f"{i}", pyramid="mean:1", factors=factors, config=FAST)
        assert sherd.open_array(tmp_path / f"{i}/1").shape == shape


@pytest.mark.parametrize(("options", "member", "message"), [
    ({"pyramid": "median"}, "pyramid", "must be 'mean' or 'mode'"),
    ({"pyramid": "mean:"}, "pyramid", "must be 'mean' or 'mode'"),
    ({"ignore_zero": True}, "ignore_zero", "can only be used with pyramid='mode'"),
    ({"factors": [2, 2, 2]}, "factors", "can only be used with pyramid"),
    ({"pyramid": "mean", "factors": "2,2"}, "factors", "must be 'auto'"),
    ({"pyramid": "mean", "ignore_zero": True}, "pyramid", "zeros can only be ignored in a pyramid of modes"),
    ({"encoding": "raw"}, "encoding", "can only be used if the copy is a volume"),
    ({"sharding": None}, "sharding", "can only be used if the copy is a volume"),
    ({"axes": "zy"}, "axes", "the copy has 3 dimensions"),
    ({"to": "precomputed", "axes": ["z", "y", "q"]}, "axes", "'q' is not an axis"),
    ({"to": "precomputed", "axes": "zyx", "sharding": 3}, "scales[0].sharding", "object"),
])
def test_impossible_copies_are_refused(options, member, message):
    source = sherd.MemoryStore()
    sherd.create_array(source, data=np.zeros((4, 4, 4), "uint8"), dimension_names=["z", "y", "x"])
    with pytest.raises(sherd.InvalidArgument) as refused:
        sherd.copy(source, sherd.MemoryStore(), **options)
    assert refused.value.member == member and message in str(refused.value)


@pytest.mark.parametrize("hash", ["identity", "murmurhash3_x86_128", None])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_volume_becomes_an_image_of_the_draft_and_a_volume_again(hash, channels, tmp_path):
    scale = {"size": [50, 20, 40], "chunk_size": [16, 16, 16], "resolution": [4, 4.5, 40], "voxel_offset": [-3, 7, 0]}
    if hash:
        scale["sharding"] = sharding(hash, (1, 1, 3), data="gzip")
    coarse = {**scale, "size": [25, 10, 20], "resolution": [8, 9, 80], "voxel_offset": [-2, 3, 0]}
    array = sherd.neuroglancer.create_precomputed(
        tmp_path / "em", type="image", dtype="uint16", num_channels=channels, scales=[scale, coarse], config=FAST
    )
    data = data_of("uint16", array.shape, "mean")
    array[...] = data
    there = sherd.copy(tmp_path / "em", tmp_path / "draft", to="draft2022", config=FAST)
    image = sherd.open(tmp_path / "draft")
    assert (tmp_path / "draft/meta/root/4_4.5_40.array.json").is_file()
    assert image.attrs["ome"]["multiscales"][0]["axes"][-1] == {"name": "x", "type": "space", "unit": "nanometer"}
    found = sherd.open_array(tmp_path / "draft/4_4.5_40")
    assert found.dimension_names == (("c", "z", "y", "x") if channels > 1 else ("z", "y", "x"))
    np.testing.assert_array_equal(found[...].reshape(array.shape[::-1]).T, data)
    assert sherd.check(tmp_path / "draft", data=True)["faults"] == []
    back = sherd.copy(tmp_path / "draft", tmp_path / "again", to="precomputed", config=FAST)
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "again")[...], data)
    assert json.loads((tmp_path / "again/info").read_text()) == json.loads((tmp_path / "em/info").read_text())
    # Whole chunks: 3 x 1 x 2.
    assert (there["chunks_moved"], back["chunks_moved"]) == (6, 6)


def test_a_pyramid_is_made_in_the_draft(tmp_path):
    data = data_of("uint8", (20, 30, 40), "mean")
    sherd.create_array(tmp_path / "a.zarr", data=data, chunks=(8, 8, 8), dimension_names=["z", "y", "x"], config=FAST)
    sherd.copy(tmp_path / "a.zarr", tmp_path / "draft", to="draft2022", pyramid="mean:1", config=FAST)
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "draft/1")[...], mean_of(data))


def test_the_type_of_a_copy_is_accepted(tmp_path):
    sherd.create_array(tmp_path / "a", data=np.zeros((4, 4, 4), "u4"), dimension_names=["z", "y", "x"], config=FAST)
    sherd.copy(tmp_path / "a", tmp_path / "v", to="precomputed", type="segmentation", config=FAST)
    assert json.loads((tmp_path / "v/info").read_text())["type"] == "segmentation"
    with pytest.raises(sherd.InvalidArgument, match="neither image nor segmentation") as caught:
        sherd.copy(tmp_path / "a", tmp_path / "w", to="precomputed", type="labels")
    assert caught.value.member == "type"


@pytest.mark.parametrize("attributes, says", [
    ({}, "the unit of the spacing is not known: 1 along z is taken as nanometres; resolution= sets it"),
    ({"spacing": [40, 8, 8]}, "the unit of the spacing is not known: 40 along z is taken as nanometres; resolution= sets it"),
    ({"spacing": [40, 8, 8], "units": ["nm", "nm", "nm"]}, None)])
def test_a_warning_names_the_unit_that_a_volume_takes_as_nanometres(tmp_path, recwarn, attributes, says):
    sherd.create_array(tmp_path / "a", data=np.zeros((4, 4, 4), "u1"), dimension_names=["z", "y", "x"], attributes=attributes)
    sherd.copy(tmp_path / "a", tmp_path / "v", to="precomputed", config=FAST)
    assert [(str(each.message), each.filename) for each in recwarn] == ([] if says is None else [(says, __file__)])
    recwarn.clear()
    sherd.copy(tmp_path / "a", tmp_path / "w", to="precomputed", resolution=(8, 8, 40), config=FAST)
    assert not list(recwarn)


def test_a_copy_keeps_documents_of_layouts_and_warns_of_others(tmp_path):
    data = np.ones((2, 4, 8, 8), "u1")
    tifffile.imwrite(tmp_path / "a.ome.tif", data, metadata={"axes": "CZYX", "Channel": {"Name": ["DAPI", "GFP"]}})
    sherd.import_(tmp_path / "a.ome.tif", tmp_path / "em", to="precomputed", resolution=(8, 8, 40))
    sherd.import_(tmp_path / "a.ome.tif", tmp_path / "a.zarr/0", pyramid="mean:1")
    (tmp_path / "em/provenance").write_text('{"owners": []}')
    sherd.create_group(tmp_path / "a.zarr/OME")
    (tmp_path / "a.zarr/OME/METADATA.ome.xml").write_text("<OME/>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sherd.copy(tmp_path / "em", tmp_path / "copied")
        sherd.copy(tmp_path / "a.zarr", tmp_path / "copied.zarr")
    assert (tmp_path / "copied/provenance").read_text() == '{"owners": []}'
    assert (tmp_path / "copied.zarr/OME/METADATA.ome.xml").read_text() == "<OME/>"
    channels = json.loads((tmp_path / "copied/info").read_text())["channels"]
    assert [each["label"] for each in channels] == ["DAPI", "GFP"]
    for name in ("one.txt", "two.txt"):
        (tmp_path / "a.zarr/0" / name).write_text("x")
    with pytest.warns(UserWarning, match="2 objects that belong to no node were left out, such as 0/"):
        report = sherd.copy(tmp_path / "a.zarr", tmp_path / "again.zarr")
    assert len(report["warnings"]) == 1
