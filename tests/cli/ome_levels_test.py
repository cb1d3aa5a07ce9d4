"""`check` compares the lengths of coarser levels with their scales, in images and in volumes."""

import json

import numpy
import pytest

VALUES = numpy.arange(5 * 37 * 41, dtype=numpy.uint16).reshape(5, 37, 41)
LEVELS = ["--pyramid", "mean:2"]


def contradictions(sherd, path):
    """Without other faults, the members of levels that are warned of."""
    faults = sherd.ok("check", path, "--json").json["faults"]
    assert {(fault["code"], fault["severity"]) for fault in faults} <= {("level_shape", "warning")}
    return [(fault["key"], fault["message"].split("'")[1], fault["message"]) for fault in faults]


@pytest.fixture
def image(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", VALUES)

    def make(format_, *options):
        sherd.ok("import", "a.npy", "i", "--axes", "z,y,x", "--to", format_, *LEVELS, *options)
        assert contradictions(sherd, "i") == []

    return make


@pytest.mark.parametrize(("format_", "key", "member"), [
    ("zarr3", "zarr.json", "attributes.ome.multiscales[0].datasets[{}]"), ("zarr2", ".zattrs", "multiscales[0].datasets[{}]")])
def test_levels_that_do_not_follow_a_resized_finest_level_are_warned_of(sherd, image, format_, key, member):
    image(format_)
    sherd.ok("resize", "i/0", "5,37,80")
    found = contradictions(sherd, "i")
    assert [(key_, member_) for key_, member_, _ in found] == [(key, member.format(1)), (key, member.format(2))]
    assert "21 elements along x" in found[0][2] and "makes 40;" in found[0][2]


def test_levels_with_other_lengths_along_an_unscaled_axis_are_warned_of(sherd, image):
    image("zarr3", "--factors", "1,2,2")
    sherd.ok("resize", "i/0", "6,37,41")
    assert ["elements along z" in message for _, _, message in contradictions(sherd, "i")] == [True, True]


def test_scales_of_a_volume_that_do_not_follow_its_finest_are_warned_of(sherd, image, tmp_path):
    image("precomputed")
    info = json.loads((tmp_path / "i/info").read_text())
    info["scales"][0]["size"][0] = 90
    (tmp_path / "i/info").write_text(json.dumps(info))
    assert [(key, member) for key, member, _ in contradictions(sherd, "i")] == [("info", "scales[1]"), ("info", "scales[2]")]


def test_coarse_levels_of_a_displaced_volume_may_extend_beyond_it(sherd, image):
    image("precomputed", "--voxel-offset", "1,3,1")
    sherd.ok("copy", "i", "o", "--to", "zarr3")
    assert contradictions(sherd, "o") == []


@pytest.mark.parametrize("rounds", [numpy.floor, numpy.ceil, numpy.round])
@pytest.mark.parametrize("exact", [False, True])
def test_lengths_that_were_rounded_either_way_agree_with_their_scales(sherd, tmp_path, rounds, exact):
    lengths = [[int(rounds(n / 2**i)) for n in VALUES.shape] for i in range(3)]
    scales = [[a / b if exact else 2**i for a, b in zip(lengths[0], lengths[i], strict=True)] for i in range(3)]
    axes = [{"name": name, "type": "space"} for name in "zyx"]
    datasets = [{"path": str(i), "coordinateTransformations": [{"type": "scale", "scale": [0.13 * each for each in scale]}]}
                for i, scale in enumerate(scales)]
    ome = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    sherd.ok("create", "i", "--group", "--attributes", json.dumps({"ome": ome}))
    for i, shape in enumerate(lengths):
        sherd.ok("create", f"i/{i}", "--shape", ",".join(map(str, shape)), "--dtype", "uint8", "--dimension-names", "z,y,x")
    assert contradictions(sherd, "i") == []
