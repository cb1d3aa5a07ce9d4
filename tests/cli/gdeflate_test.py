"""Arrays with the codec zarrs.gdeflate, which is read but not written, by the command and from Python."""

import json

import numpy
import pytest
import sherd as api
from zarrs_chunks import golden

REFUSED = "chunks of 'zarrs.gdeflate' can be read but not written; choose other codecs"
GDEFLATE, ELEMENTS, CHUNK = golden("zarrs.gdeflate")
ELEMENTS = numpy.hstack([ELEMENTS.reshape(5, 8), numpy.zeros((5, 8), "u1")])
PLAIN = {"name": "numcodecs.zlib", "configuration": {"level": 1}}


@pytest.fixture
def source(sherd):
    """The chunk of 40 bytes that zarrs wrote, and behind it one that is not stored."""
    array = api.create_array(sherd.folder / "a", shape=(5, 16), chunks=(5, 8), dtype="uint8", codecs=["bytes"],
                             dimension_names=["y", "x"])
    array.attrs["by"] = "zarrs"
    document = json.loads((sherd.folder / "a/zarr.json").read_text())
    document["codecs"].append(GDEFLATE)
    (sherd.folder / "a/zarr.json").write_text(json.dumps(document))
    (sherd.folder / "a/c/0").mkdir(parents=True)
    (sherd.folder / "a/c/0/0").write_bytes(CHUNK)
    return sherd.folder / "a"


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_is_read_and_checked(sherd, source):
    assert (api.open_array(source)[...] == ELEMENTS).all()
    sherd.ok("check", "a")


@pytest.mark.parametrize("codec", ["gdeflate", "gdeflate:6", "zarrs.gdeflate", GDEFLATE,
                                   {"name": "conditional", "configuration": {"codecs": [GDEFLATE]}}], ids=str)
@pytest.mark.parametrize("shards", [None, (5, 16)], ids=["chunks", "shards"])
def test_new_arrays_are_refused(sherd, codec, shards):
    with pytest.raises(api.Unsupported, match=REFUSED):
        api.create_array(sherd.folder / "a", shape=(5, 16), chunks=(5, 8), shards=shards, dtype="uint8", compressors=[codec])
    spelled = codec if isinstance(codec, str) else json.dumps(codec)
    ran = sherd("create", "a", "--shape", "5,16", "--dtype", "uint8", "--codec", "bytes", "--codec", spelled, "--json",
                *(["--chunks", "5,8", "--shards", "5,16"] if shards else []))
    assert ran.error["code"] == "unsupported" and REFUSED in ran.error["message"]
    assert files(sherd.folder) == {}


def test_writes_are_refused_before_anything_changes(sherd, source):
    before = files(source)
    array = api.open_array(source, mode="r+")
    changes = [lambda: array.__setitem__((1, 3), 1), lambda: array.__setitem__(..., 0),
               lambda: array.__setitem__(numpy.s_[:, 8:], 0), lambda: array.append(numpy.ones((1, 16), "u1")),
               lambda: array.resize((5, 4))]
    for change in changes:
        with pytest.raises(api.Unsupported, match=REFUSED) as refused:
            change()
        assert "codecs[1].name" in str(refused.value) and "zarr.json" in str(refused.value)
        assert files(source) == before
    numpy.save(sherd.folder / "ones.npy", numpy.ones((1, 2), "u1"))
    ran = sherd("write", "a", "--input", "ones.npy", "--select", "1:2,3:5", "--json")
    assert ran.error["code"] == "unsupported" and REFUSED in ran.error["message"]
    assert files(source) == before


def test_attributes_and_a_longer_shape_are_written(source):
    array = api.open_array(source, mode="r+")
    array.attrs["more"] = 1
    array.resize((5, 20))
    assert (api.open_array(source)[:, :16] == ELEMENTS).all() and dict(array.attrs) == {"by": "zarrs", "more": 1}


@pytest.mark.parametrize("options", [[], ["--shards", "5,16"], ["--codec", json.dumps(["bytes", GDEFLATE])]], ids=str)
def test_copies_that_keep_encoded_bytes_are_made(sherd, source, options):
    sherd.ok("copy", "a", "b", *options)
    assert (api.open_array(sherd.folder / "b")[...] == ELEMENTS).all()
    assert any(CHUNK in stored for stored in files(sherd.folder / "b").values())
    sherd.ok("check", "b")


def test_a_copy_with_other_codecs_can_be_written(sherd, source):
    sherd.ok("copy", "a", "b", "--codec", "bytes", "--codec", json.dumps(PLAIN))
    array = api.open_array(sherd.folder / "b", mode="r+")
    assert (array[...] == ELEMENTS).all()
    array[1, 3] = 9
    assert array[1, 3] == 9


@pytest.mark.parametrize("options", [["--chunks", "5,4"], ["--dtype", "uint16"], ["--pyramid", "mean"]], ids=str)
def test_copies_that_encode_are_refused_before_they_begin(sherd, source, options):
    before = files(sherd.folder)
    ran = sherd("copy", "a", "b", *options, "--json")
    assert ran.error["code"] == "unsupported" and REFUSED in ran.error["message"], ran.error
    assert files(sherd.folder) == before
