"""Errors in arguments name the argument, with the nearest known name, and leave nothing behind."""

import json

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

SCALE = {"size": [70, 50, 33], "resolution": [8, 8, 40]}


def refused(member, text, call, *arguments, **keywords):
    with pytest.raises(sherd.InvalidArgument) as caught:
        call(*arguments, **keywords)
    assert caught.value.member == member and caught.value.key is None
    assert text in str(caught.value) and str(caught.value).startswith(member)
    assert "zarr.json" not in str(caught.value)


@pytest.mark.parametrize("keywords, member", [
    ({"compressors": "ztsd"}, "compressors"), ({"compressors": ["gzip", "ztsd"]}, "compressors"),
    ({"compressors": [{"name": "ztsd"}]}, "compressors"), ({"filters": ["ztsd"]}, "filters"),
    ({"filters": [{"name": "ztsd"}], "compressors": "gzip"}, "filters"), ({"serializer": "ztsd"}, "serializer"),
    ({"compressors": "ztsd", "chunks": (2,), "shards": (4,)}, "compressors"),
    ({"compressors": {"name": "ztsd"}, "chunks": (2,), "shards": (4,)}, "compressors"),
    ({"codecs": ["bytes", {"name": "ztsd"}]}, "codecs[1].name")])
def test_create_array_names_the_argument_with_the_unknown_codec(tmp_path, keywords, member):
    refused(member, "unknown codec 'ztsd'; did you mean 'zstd'?", sherd.create_array, tmp_path / "a", shape=(4,),
            dtype="uint8", **keywords)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("keywords, member, text", [
    ({"compressors": {"name": "gzip", "configuration": {"level": 99}}}, "compressors.configuration.level", "0 to 9"),
    ({"compressors": {"name": "gzip", "configuration": {"level": 99}}, "chunks": (2,), "shards": (4,)},
     "compressors.configuration.level", "0 to 9"),
    ({"chunks": (2, 2)}, "chunks", "2 lengths"), ({"shards": (2, 2)}, "shards", "2 lengths"),
    ({"fill_value": 300}, "fill_value", "does not fit"), ({"dimension_names": ["a", "b"]}, "dimension_names", "2 names"),
    ({"dtype": "unit8"}, "dtype", "did you mean 'uint8'?"), ({"dtype": {"name": "unit8"}}, "dtype", "did you mean 'uint8'?")])
def test_create_array_names_the_argument_that_is_wrong(tmp_path, keywords, member, text):
    refused(member, text, sherd.create_array, tmp_path / "a", **{"shape": (4,), "dtype": "uint8", **keywords})
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("keywords, member, text", [
    ({"codecs": "ztsd"}, "codecs[0]", "did you mean 'zstd'?"), ({"codecs": [{"name": "ztsd"}]}, "codecs", "did you mean 'zstd'?"),
    ({"chunks": (2, 2)}, "chunks", "2 lengths"), ({"shards": (3,)}, "shards[0]", "not a multiple"),
    ({"axes": "q"}, "axes", "axes")])
def test_copy_names_its_argument_and_not_the_source(tmp_path, keywords, member, text):
    sherd.create_array(tmp_path / "a", data=np.arange(4, dtype="uint8"), chunks=(2,))
    with pytest.raises(sherd.InvalidArgument) as caught:
        sherd.copy(tmp_path / "a", tmp_path / "b", **keywords)
    assert caught.value.member.startswith(member) and caught.value.key is None
    assert text in str(caught.value) and "zarr.json" not in str(caught.value)
    assert not (tmp_path / "b").exists()


def test_a_copy_into_a_format_without_shards_says_so(tmp_path):
    sherd.create_array(tmp_path / "a", data=np.arange(4, dtype="uint8"), chunks=(2,), shards=(4,))
    with pytest.raises(sherd.Unsupported, match=r"^shards: Zarr v2 has no shards; .*shards=\(\)\)$") as caught:
        sherd.copy(tmp_path / "a", tmp_path / "b", to="zarr2")
    assert caught.value.key is None and not (tmp_path / "b").exists()
    assert sherd.copy(tmp_path / "a", tmp_path / "b", to="zarr2", shards=())["arrays"] == 1


def test_an_unknown_keyword_is_named_with_the_nearest_one():
    with pytest.raises(TypeError, match=r"^create_array\(\) got an unexpected keyword argument 'chunkz'; did you mean 'chunks'\?$"):
        sherd.group().create_array("a", shape=3, dtype="u1", chunkz=2)
    with pytest.raises(TypeError, match=r"^create_array\(\) got an unexpected keyword argument 'wrong'$"):
        sherd.open_array(sherd.MemoryStore(), mode="w", shape=3, dtype="u1", wrong=1)


def test_arguments_that_exclude_each_other_are_named_as_they_were_given(tmp_path):
    with pytest.raises(sherd.InvalidArgument, match="cannot be given together with shards") as caught:
        sherd.create_array(tmp_path / "a", shape=(4,), dtype="u1", chunks=(2,), shards=(4,), codecs=["bytes"])
    assert caught.value.member == "codecs" and not (tmp_path / "a").exists()


def test_codecs_of_other_programs_are_unsupported_and_not_misspelt(tmp_path):
    with pytest.raises(sherd.Unsupported, match="not supported by this version"):
        sherd.create_array(tmp_path / "a", shape=(4,), dtype="uint8", compressors="wavpack")


def test_a_stored_document_with_an_unknown_codec_is_unsupported(tmp_path):
    sherd.create_array(tmp_path / "a", shape=(4,), dtype="uint8")
    path = tmp_path / "a" / "zarr.json"
    path.write_text(path.read_text().replace('"zstd"', '"ztsd"'))
    with pytest.raises(sherd.Unsupported, match="did you mean 'zstd'") as caught:
        sherd.open(tmp_path / "a")
    assert caught.value.key == "zarr.json"


@pytest.mark.parametrize("name, hint", [
    ("encodign", "did you mean 'encoding'?"), ("chunksize", "did you mean 'chunk_size'?"),
    ("voxel_ofset", "did you mean 'voxel_offset'?"), ("frobnicate", "goes to members={...}")])
def test_unknown_members_of_a_scale_are_refused_by_name(tmp_path, name, hint):
    with pytest.raises(sherd.InvalidArgument, match=f"unknown scale member '{name}'; ") as caught:
        ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[{**SCALE, name: 1}])
    assert hint in str(caught.value) and caught.value.member == f"scales[0].{name}"
    assert not (tmp_path / "v").exists()


def test_unknown_members_of_the_info_are_refused_by_name(tmp_path):
    with pytest.raises(sherd.InvalidArgument, match="unknown info member 'skeleton'; did you mean 'skeletons'?") as caught:
        ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[SCALE], skeleton="skeletons")
    assert caught.value.member == "skeleton" and not (tmp_path / "v").exists()
    with pytest.raises(sherd.InvalidArgument, match="'num_channel'; did you mean 'num_channels'?"):
        ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[SCALE], num_channel=3)
    refused("dtype", "unknown data type 'uint9'; did you mean 'uint8'?", ng.create_precomputed, tmp_path / "v", type="image",
            dtype="uint9", scales=[SCALE])


def test_foreign_members_are_stored_if_given_explicitly(tmp_path):
    ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", mesh="mesh", members={"author": "me", "tags": [1]},
                          scales=[{**SCALE, "hidden": True, "members": {"blur": 2}}])
    info = json.loads((tmp_path / "v" / "info").read_text())
    assert (info["mesh"], info["author"], info["tags"]) == ("mesh", "me", [1])
    assert (info["scales"][0]["blur"], info["scales"][0]["hidden"]) == (2, True) and "members" not in info["scales"][0]


@pytest.mark.parametrize("keywords, member", [
    ({"members": {"type": "image"}}, "members.type"), ({"members": {"mesh": "m"}}, "members.mesh"), ({"members": 3}, "members"),
    ({"scales": [{**SCALE, "members": {"encoding": "raw"}}]}, "scales[0].members.encoding"), ({"scales": [3]}, "scales[0]")])
def test_known_members_are_not_foreign(tmp_path, keywords, member):
    with pytest.raises(sherd.InvalidArgument) as caught:
        ng.create_precomputed(tmp_path / "v", **{"type": "image", "dtype": "uint8", "scales": [SCALE], **keywords})
    assert caught.value.member == member and not (tmp_path / "v").exists()


SHARDING = {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 1,
            "shard_bits": 2}
MISSPELT = {**{name: value for name, value in SHARDING.items() if name != "minishard_bits"}, "minishard_bit": 1}


def test_unknown_members_of_a_sharding_are_refused_by_name(tmp_path):
    hint = "unknown member 'minishard_bit'; did you mean 'minishard_bits'?"
    refused("scales[0].sharding.minishard_bit", hint, ng.create_precomputed, tmp_path / "v", type="image", dtype="uint8",
            scales=[{**SCALE, "sharding": MISSPELT}])
    refused("sharding.minishard_bit", hint, ng.build, tmp_path / "v", MISSPELT, [])
    refused("sharding.minishard_bit", hint, ng.ShardedStore, tmp_path / "v", MISSPELT, "r+")
    refused("sharding.minishard_bit", hint, ng.ShardedStore, tmp_path / "v", MISSPELT)
    refused("sharding.data_encodign", "did you mean 'data_encoding'?", ng.ShardedStore, tmp_path / "v",
            {**SHARDING, "data_encodign": "gzip"}, "r+")
    refused("sharding.preshift", "did you mean 'preshift_bits'?", ng.ShardedStore, tmp_path / "v", {**SHARDING, "preshift": 1})
    refused("sharding.author", "unknown member 'author'", ng.build, tmp_path / "v", {**SHARDING, "author": "me"}, [])
    assert not (tmp_path / "v").exists()


def test_unknown_members_of_a_sharding_are_refused_in_every_call(tmp_path):
    sherd.create_array(tmp_path / "a", data=np.zeros((4, 4, 4), "uint8"), dimension_names=["z", "y", "x"])
    refused("sharding.minishard_bit", "did you mean", sherd.copy, tmp_path / "a", tmp_path / "v", to="precomputed",
            sharding=MISSPELT)
    info = ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "sharding": {**SHARDING, "data_encodign": "gzip"}})
    with pytest.raises(sherd.InvalidArgument, match="did you mean 'data_encoding'"):
        ng.Collection.create(tmp_path / "v", info)
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("encoding, hint", [("rwa", "did you mean 'raw'?"), ("compressed_segmentaton", "did you mean"),
                                            ("zip", "use raw, jpeg, png or compressed_segmentation")])
def test_an_unknown_encoding_is_an_invalid_argument(tmp_path, encoding, hint):
    refused("scales[0].encoding", f"unknown encoding '{encoding}'", ng.create_precomputed, tmp_path / "v", type="image",
            dtype="uint8", scales=[{**SCALE, "encoding": encoding}])
    sherd.create_array(tmp_path / "a", data=np.zeros((4, 4, 4), "uint8"), dimension_names=["z", "y", "x"])
    refused("encoding", hint, sherd.copy, tmp_path / "a", tmp_path / "v", to="precomputed", encoding=encoding)
    assert not (tmp_path / "v").exists()


def test_an_encoding_of_the_format_that_cannot_be_written_is_unsupported(tmp_path):
    with pytest.raises(sherd.Unsupported, match="'jxl' cannot be decoded"):
        ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[{**SCALE, "encoding": "jxl"}])


def test_a_stored_sharding_may_have_members_of_a_later_version(tmp_path):
    ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[{**SCALE, "sharding": SHARDING}])
    info = json.loads((tmp_path / "v" / "info").read_text())
    info["scales"][0]["sharding"]["later"] = 1
    (tmp_path / "v" / "info").write_text(json.dumps(info))
    assert sherd.open_array(tmp_path / "v").shape == (70, 50, 33, 1)
    sherd.copy(tmp_path / "v", tmp_path / "w")
    assert json.loads((tmp_path / "w" / "info").read_text())["scales"][0]["sharding"]["later"] == 1


@pytest.mark.parametrize("call, text", [
    (lambda: sherd.copy("a", "b", dangling="x"), "dangling: must be"),
    (lambda: sherd.neuroglancer.create_precomputed("v", type="image", dtype="uint8", scales=[{"size": [4, 4, 4]}]), "scales[0].resolution: must be"),
    (lambda: sherd.neuroglancer.create_precomputed("v", type="image", dtype="uint8", scales=["x"]), "scales[0]: must be"),
    (lambda: sherd.neuroglancer.write_annotations("v", [[1, 2, 3]], kind="points", dimensions=(8, 8, 40)), "kind: 'points' is not"),
])
def test_an_error_of_an_argument_begins_with_its_name(call, text):
    with pytest.raises(sherd.InvalidArgument) as error:
        call()
    assert str(error.value).startswith(text)
