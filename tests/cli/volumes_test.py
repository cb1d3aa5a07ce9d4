"""Neuroglancer's volumes: made, shown, written and read by scale."""

import io
import json

import numpy
import pytest

from shardings import sharding

NEW = ["--store-format", "precomputed", "--shape", "70,50,33", "--dtype", "uint8", "--resolution", "8,8,40"]
SHARDING = sharding(bits=(1, 1, 2), data="gzip")


def scale_of(folder):
    (scale,) = json.loads((folder / "info").read_text())["scales"]
    return scale


def test_a_volume_is_made_with_the_defaults_of_the_format(sherd, tmp_path):
    sherd.ok("create", "em", *NEW)
    info = json.loads((tmp_path / "em/info").read_text())
    assert (info["type"], info["data_type"], info["num_channels"]) == ("image", "uint8", 1)
    assert info["scales"] == [{"key": "8_8_40", "size": [70, 50, 33], "resolution": [8, 8, 40], "voxel_offset": [0, 0, 0],
                               "chunk_sizes": [[64, 64, 64]], "encoding": "raw"}]


def test_a_volume_is_made_with_every_option(sherd, tmp_path):
    (tmp_path / "sharding.json").write_text(json.dumps(SHARDING))
    sherd.ok("create", "seg", "--store-format", "precomputed", "--shape", "70,50,33,2", "--dtype", "uint64", "--chunks",
             "32,32,32", "--resolution", "8, 8.5, 40", "--voxel-offset", "-3,7,0", "--encoding", "compressed_segmentation",
             "--sharding", "@sharding.json", "--key", "fine")
    info = json.loads((tmp_path / "seg/info").read_text())
    assert (info["type"], info["num_channels"]) == ("segmentation", 2)
    scale = scale_of(tmp_path / "seg")
    assert scale["sharding"] == SHARDING and scale["compressed_segmentation_block_size"] == [8, 8, 8]
    assert (scale["key"], scale["resolution"], scale["voxel_offset"]) == ("fine", [8, 8.5, 40], [-3, 7, 0])
    assert scale["chunk_sizes"] == [[32, 32, 32]]


def test_sharding_is_chosen_by_the_rule(sherd, tmp_path):
    sherd.ok("create", "em", *NEW, "--chunks", "8,8,8", "--sharding", "auto")
    sharding = scale_of(tmp_path / "em")["sharding"]
    assert sharding["hash"] == "identity"
    assert sum(sharding[name] for name in ("preshift_bits", "minishard_bits", "shard_bits")) == 4 + 3 + 3


def test_written_elements_are_read_by_scale(sherd, tmp_path):
    sherd.ok("create", "em", *NEW, "--chunks", "32,32,32", "--sharding", json.dumps(SHARDING))
    data = numpy.arange(70 * 50 * 33, dtype="uint8").reshape(70, 50, 33, 1)
    numpy.save(tmp_path / "in.npy", data)
    sherd.ok("write", "em", "-i", "in.npy")
    assert (numpy.load(io.BytesIO(sherd.ok("read", "em").stdout)) == data).all()

    info = json.loads((tmp_path / "em/info").read_text())
    info["scales"].append(scale_of(tmp_path / "em") | {"key": "16_16_40", "size": [35, 25, 33], "resolution": [16, 16, 40]})
    (tmp_path / "em/info").write_text(json.dumps(info))
    sherd.ok("write", "em", "--scale", "1", "--value", "7")
    assert (numpy.load(io.BytesIO(sherd.ok("read", "em", "--scale", "1").stdout)) == numpy.full((35, 25, 33, 1), 7)).all()
    assert (numpy.load(io.BytesIO(sherd.ok("read", "em").stdout)) == data).all()
    sherd.ok("export", "em", "coarse.npy", "--scale", "1")
    assert numpy.load(tmp_path / "coarse.npy").shape == (35, 25, 33, 1)
    sherd.ok("picture", "em/16_16_40", "by_name.png", "--axis", "2", "--range", "0,14")
    sherd.ok("picture", "em", "by_number.png", "--axis", "2", "--range", "0,14", "--scale", "1")
    assert (tmp_path / "by_name.png").read_bytes() == (tmp_path / "by_number.png").read_bytes()
    assert sherd("read", "em", "--scale", "2").code == 3
    assert sherd.ok("check", "em", "--data", "--json").json["ok"]


def test_info_shows_a_volume_and_its_scales(sherd):
    sherd.ok("create", "em", *NEW, "--encoding", "jpeg")
    volume = sherd.ok("info", "em", "--json").json
    assert (volume["format"], volume["node_type"]) == ("precomputed", "group")
    assert volume["attributes"] == {"type": "image", "data_type": "uint8", "num_channels": 1}
    scale = sherd.ok("info", "em/8_8_40", "--json").json
    assert (scale["shape"], scale["dimension_names"]) == ([70, 50, 33, 1], ["x", "y", "z", "channel"])
    assert scale["attributes"]["resolution"] == [8, 8, 40] and scale["attributes"]["encoding"] == "jpeg"
    assert "8_8_40" in sherd.ok("tree", "em").text


@pytest.mark.parametrize(("arguments", "says"), [
    (["--shape", "9,9,9", "--dtype", "uint8"], "--resolution"),
    (["--shape", "9,9", "--dtype", "uint8", "--resolution", "1,1,1"], "--shape"),
    (["--shape", "9,9,9", "--dtype", "float64", "--resolution", "1,1,1"], "--dtype: "),
    (["--shape", "9,9,9", "--dtype", "uint8", "--resolution", "1,1"], "--resolution"),
    ([*NEW[2:], "--voxel-offset", "1,x,1"], "--voxel-offset"),
    ([*NEW[2:], "--voxel-offset", "1,0.5,1"], "--voxel-offset: "),
    ([*NEW[2:], "--chunks", "64,64"], "--chunks"),
    ([*NEW[2:], "--chunks", "[64,6],[50],[33]"], "--encoding"),
    ([*NEW[2:], "--shards", "64,64,64"], "--sharding"),
    ([*NEW[2:], "--codec", "gzip:1"], "--encoding"),
    (["--group"], "--shape"),
    ([*NEW[2:], "--attributes", "{}"], "attributes"),
    ([*NEW[2:], "--sharding", '{"@type": "neuroglancer_uint64_sharded_v1"}'], "preshift_bits"),
    ([*NEW[2:], "--encoding", "gif"], "--encoding"),
])
def test_impossible_volumes_are_refused(sherd, tmp_path, arguments, says):
    ran = sherd("create", "em", "--store-format", "precomputed", *arguments)
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "em").exists()


def test_types_that_the_encoding_lacks_are_refused_before_any_creation(sherd, tmp_path):
    ran = sherd("create", "em", "--store-format", "precomputed", "--shape", "9,9,9", "--dtype", "uint16", "--resolution",
                "1,1,1", "--encoding", "jpeg", "--json")
    assert ran.code == 5 and ran.error["message"].startswith("--encoding: jpeg: ") and ran.error["member"] == "scales[0].encoding"
    assert not (tmp_path / "em").exists()


def test_volume_options_need_a_volume(sherd):
    ran = sherd("create", "a.zarr", "--shape", "9,9,9", "--dtype", "uint8", "--resolution", "1,1,1")
    assert ran.code == 2 and "--store-format precomputed" in ran.stderr


def test_a_scale_option_needs_a_volume(sherd):
    sherd.ok("create", "a.zarr", "--shape", "4", "--dtype", "uint8")
    sherd.ok("create", "em", *NEW)
    assert sherd.ok("read", "a.zarr", "--scale", "0", "--format", "json").json == [0] * 4
    for url in ("a.zarr", "em/8_8_40"):
        ran = sherd("read", url, "--scale", "1")
        assert ran.code == 3 and "has no scale 1" in ran.stderr


def test_a_volume_is_replaced_only_on_request(sherd):
    sherd.ok("create", "em", *NEW)
    assert sherd("create", "em", *NEW).code == 6
    sherd.ok("create", "em", *NEW, "--overwrite")


def test_an_array_is_copied_into_a_volume_with_a_pyramid_and_back(sherd, tmp_path):
    data = numpy.arange(20 * 30 * 40, dtype="uint16").reshape(20, 30, 40)
    numpy.save(tmp_path / "a.npy", data)
    sherd.ok("import", "a.npy", "a.zarr", "--chunks", "8,8,16", "--shards", "16,16,32", "--codec", "gzip:1")
    ran = sherd("copy", "a.zarr", "em", "--to", "precomputed")
    assert ran.code == 2 and "sherd: --axes: the dimensions of the source have no names; name them (--axes z,y,x)" in ran.stderr
    report = sherd.ok("copy", "a.zarr", "em", "--to", "precomputed", "--axes", "z,y,x", "--pyramid", "mean:2", "--json").json
    assert (report["arrays"], report["groups"], report["chunks_moved"]) == (3, 1, 2 * 3 * 2)
    info = json.loads((tmp_path / "em/info").read_text())
    assert [(scale["size"], scale["resolution"]) for scale in info["scales"]] == [
        ([40, 30, 20], [1, 1, 1]), ([20, 15, 10], [2, 2, 2]), ([10, 8, 5], [4, 4, 4])]
    assert info["scales"][0]["sharding"]["data_encoding"] == "gzip", "a volume of a sharded array is sharded"
    sherd.ok("copy", "em", "back.zarr", "--to", "zarr3", "--axes", "y,z,x")
    sherd.ok("export", "back.zarr/1_1_1", "back.npy")
    assert (numpy.load(tmp_path / "back.npy") == data.transpose(1, 0, 2)).all()
    assert sherd.ok("check", "em", "--data", "--json").json["ok"]


@pytest.mark.parametrize(("arguments", "says"), [
    (["--pyramid", "median"], "--pyramid: 'median' is neither mean (of images) nor mode (of labels)"),
    (["--pyramid", "mean:x"], "--pyramid: 'mean:x'"),
    (["--pyramid", "mean:1,2"], "a number of levels follows the colon"),
    (["--ignore-zero"], "--ignore-zero can only be used with --pyramid mode"),
    (["--encoding", "gif"], "--encoding"),
    (["--encoding", "raw"], "encoding: can only be used if the copy is a volume"),
    (["--sharding", "auto"], "sharding: can only be used if the copy is a volume"),
    (["--to", "precomputed", "--axes", "z,y,x", "--sharding", "auto", "--encoding", "png", "--chunks", "8,8"], "chunks: "),
    (["--to", "precomputed", "--axes", "z,y,x", "--shards", "8,8,8"], "--shards: cannot be used with a volume; use sharding"),
])
def test_impossible_copies_of_images_are_refused(sherd, tmp_path, arguments, says):
    sherd.ok("create", "a.zarr", "--shape", "9,9,9", "--dtype", "uint8")
    ran = sherd("copy", "a.zarr", "b", *arguments)
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "b").exists()


def labels_array(sherd, tmp_path, dtype="uint32"):
    numpy.save(tmp_path / "a.npy", numpy.random.default_rng(3).integers(0, 5, (8, 8, 8)).astype(dtype))
    sherd.ok("import", "a.npy", "a.zarr", "--axes", "z,y,x", "--chunks", "4,4,4", "--overwrite")


def ome_of(folder):
    return json.loads((folder / "zarr.json").read_text())["attributes"]["ome"]


def type_of(sherd, tmp_path, source):
    sherd.ok("copy", source, "volume", "--to", "precomputed", "--overwrite")
    return json.loads((tmp_path / "volume/info").read_text())["type"]


@pytest.mark.parametrize("options, attributes, says", [
    ([], {}, "the unit of the spacing is not known: 1 along z is taken as nanometres; --resolution sets it"),
    ([], {"spacing": [40, 8, 8], "units": [None, None, None]}, "the unit of the spacing is not known: 40 along z is taken as nanometres"),
    ([], {"spacing": [40, 8, 8], "units": ["nm", "nm", "nm"]}, None),
    (["--resolution", "8,8,40"], {}, None),
    (["--axes", "x,y,z"], None, "the unit of the spacing is not known: 1 along x is taken as nanometres; --resolution sets it")])
def test_units_that_a_copy_into_a_volume_assumes_are_named(sherd, options, attributes, says):
    names = [] if attributes is None else ["--dimension-names", "z,y,x", "--attributes", json.dumps(attributes)]
    sherd.ok("create", "a.zarr", "--shape", "4,4,4", "--dtype", "uint8", *names)
    notes = sherd.ok("copy", "a.zarr", "em", "--to", "precomputed", *options).stderr.splitlines()[1:]
    assert len(notes) == bool(says) and (not says or notes[0].startswith(says)), notes


def test_a_pyramid_of_modes_is_one_of_labels_also_as_a_volume(sherd, tmp_path):
    labels_array(sherd, tmp_path)
    sherd.ok("copy", "a.zarr", "modes.zarr", "--pyramid", "mode")
    assert ome_of(tmp_path / "modes.zarr")["image-label"] == {} and ome_of(tmp_path / "modes.zarr")["version"] == "0.5"
    assert type_of(sherd, tmp_path, "modes.zarr") == "segmentation"
    sherd.ok("copy", "a.zarr", "means.zarr", "--pyramid", "mean")
    assert "image-label" not in ome_of(tmp_path / "means.zarr")
    assert type_of(sherd, tmp_path, "means.zarr") == "image"


def test_the_type_of_a_copy_can_be_chosen(sherd, tmp_path):
    labels_array(sherd, tmp_path)
    sherd.ok("copy", "a.zarr", "labels.zarr", "--pyramid", "mean", "--type", "segmentation")
    assert "image-label" in ome_of(tmp_path / "labels.zarr") and type_of(sherd, tmp_path, "labels.zarr") == "segmentation"
    sherd.ok("copy", "labels.zarr", "image.zarr", "--pyramid", "mode", "--type", "image")
    assert "image-label" not in ome_of(tmp_path / "image.zarr") and type_of(sherd, tmp_path, "image.zarr") == "image"
    # The type also wins over the info that a volume left behind.
    sherd.ok("copy", "a.zarr", "em", "--to", "precomputed")
    sherd.ok("copy", "em", "again.zarr", "--to", "zarr3", "--pyramid", "mode")
    assert type_of(sherd, tmp_path, "again.zarr") == "segmentation"


@pytest.mark.parametrize("damaged", ["imge", 7, None, {}])
@pytest.mark.parametrize("options", [["--type", "segmentation"], ["--type", "image"], []])
def test_a_volume_with_a_damaged_type_is_corrupt_in_any_type(sherd, tmp_path, damaged, options):
    labels_array(sherd, tmp_path)
    sherd.ok("copy", "a.zarr", "em", "--to", "precomputed")
    info = json.loads((tmp_path / "em/info").read_text())
    (tmp_path / "em/info").write_text(json.dumps(info | {"type": damaged}))
    ran = sherd("copy", "em", "b", *options)
    assert ran.code == 4 and "'info' type: must be" in ran.stderr, ran.stderr
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(("dtype", "options", "says"), [
    ("float32", ["--to", "precomputed", "--type", "segmentation"], "--type: a segmentation has integers"),
    ("bool", ["--pyramid", "mode", "--type", "segmentation"], "--type: a segmentation has integers"),
    ("uint8", ["--type", "segmentation"], "--type: can only be used with a pyramid"),
    ("uint8", ["--pyramid", "mode", "--type", "labels"], "--type"),
])
def test_a_type_that_a_copy_cannot_have_is_a_usage_error(sherd, tmp_path, dtype, options, says):
    labels_array(sherd, tmp_path, dtype)
    ran = sherd("copy", "a.zarr", "b", *options)
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "b").exists()


def test_the_gzip_level_is_chosen_when_chunks_are_written(sherd, tmp_path):
    values = numpy.random.default_rng(3).integers(0, 9, (32, 32, 32), dtype="uint8")
    numpy.save(tmp_path / "a.npy", values)
    sherd.ok("import", "a.npy", "a.zarr", "--chunks", "16,16,16", "--codec", "zstd:1", "--dimension-names", "z,y,x")

    def size_at(*level):
        sherd.ok("copy", "a.zarr", "em", "--to", "precomputed", "--sharding", "auto", "--overwrite", *level)
        assert sherd.ok("check", "em", "--data", "--json").json["ok"]
        return sum(path.stat().st_size for path in (tmp_path / "em").rglob("*.shard"))

    sizes = {level: size_at("--gzip-level", level) for level in "0136"}
    assert sizes["0"] > sizes["1"] > sizes["6"]
    assert size_at() == sizes["3"]
    ran = sherd("copy", "a.zarr", "em", "--to", "precomputed", "--gzip-level", "10")
    assert ran.code == 2 and "--gzip-level" in ran.stderr


@pytest.mark.parametrize(("shape", "names", "says"), [
    ("9,9,3", "z,y,c", "the dimensions of the source are z, y, c, and a volume has x, y and z: there is no x; if they are "
                       "others, name them (--axes z,y,x)"),
    ("9,9,9,9", "t,z,y,x", "the dimensions of the source are t, z, y, x, and a volume has no time (t); select one time (--select 0)"),
    ("9,9,9", "depth,y,x", "the dimensions of the source are depth, y, x: 'depth' is not an axis; x, y, z, c (channel) and t "
                           "(time) are; name them (--axes z,y,x)")])
def test_a_source_without_the_dimensions_of_a_volume_is_refused(sherd, tmp_path, shape, names, says):
    sherd.ok("create", "a.zarr", "--shape", shape, "--dtype", "uint8", "--dimension-names", names)
    ran = sherd("copy", "a.zarr", "v", "--to", "precomputed")
    assert ran.code == 2 and f"axes: {says}" in ran.stderr, ran.stderr
    assert not (tmp_path / "v").exists()
    rank = shape.count(",") + 1
    sherd.ok("copy", "a.zarr", "v", "--to", "precomputed", "--axes", {3: "z,y,x", 4: "c,z,y,x"}[rank])


def test_scales_are_listed_from_the_finest_on(sherd):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "64,8,8", "--dtype", "uint8", "--resolution",
             "8,8,40", "--chunks", "8,8,8")
    sherd.ok("write", "em", "--value", "7")
    sherd.ok("copy", "em", "em2", "--pyramid", "mean:2", "--factors", "2,1,1")
    keys = ["8_8_40", "16_8_40", "32_8_40"]
    assert sherd.ok("ls", "em2").stdout.decode().split() == keys
    assert [each["name"] for each in sherd.ok("tree", "em2", "--json").json["children"]] == keys
