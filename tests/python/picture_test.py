"""sherd.picture: the options of the command, from Python."""

import numpy
import pytest
import sherd
from PIL import Image

DATA = numpy.random.default_rng(2).integers(0, 255, (3, 2, 5, 6, 7)).astype(numpy.uint8)


@pytest.fixture
def array(tmp_path):
    return sherd.create_array(tmp_path / "a.zarr", data=DATA, dimension_names=["t", "c", "z", "y", "x"])


def drawn(array, folder, **options):
    sherd.picture(array, folder / "p.png", range=(0, 255), **options)
    return numpy.asarray(Image.open(folder / "p.png"))


def test_a_plane_is_chosen_by_names_or_numbers_of_axes(array, tmp_path):
    numpy.testing.assert_array_equal(drawn(array, tmp_path, axis="z", index=-1, at={"t": 2, "c": 1}), DATA[2, 1, 4])
    numpy.testing.assert_array_equal(drawn(array, tmp_path, axis=0, index=1, at={1: 0, 2: 3}), DATA[1, 0, 3])
    numpy.testing.assert_array_equal(drawn(array, tmp_path)[..., 0], DATA[0, 0, 2])


def test_a_channel_is_chosen_by_its_name(tmp_path):
    data = numpy.arange(3 * 4 * 5, dtype=numpy.uint8).reshape(3, 4, 5)
    channels = [{"label": "DAPI"}, {"label": "GFP"}, {"label": "0"}]
    array = sherd.create_array(tmp_path / "a.zarr", data=data, dimension_names=["c", "y", "x"], attributes={"channels": channels})
    numpy.testing.assert_array_equal(drawn(array, tmp_path, at={"c": "GFP"}), data[1])
    numpy.testing.assert_array_equal(drawn(array, tmp_path, axis="c", index="DAPI"), data[0])
    numpy.testing.assert_array_equal(drawn(array, tmp_path, at={"c": "0"}), data[0])
    with pytest.raises(sherd.InvalidArgument, match="^at: 'GPF' is not a whole number or the name of a channel; the channels are DAPI, GFP, 0"):
        sherd.picture(array, tmp_path / "p.png", at={"c": "GPF"})


def test_a_picture_has_the_requested_width(array, tmp_path):
    assert drawn(array, tmp_path, at={"c": 0}, width=14).shape == (12, 14)


@pytest.mark.parametrize("options", [{"axis": "q"}, {"axis": 5}, {"index": 5}, {"at": {"t": 3}}, {"width": 0}, {"width": -1}, {"width": 65536},
                                     {"axis": "y", "at": {"z": 1}}, {"index": 2**64}])
def test_impossible_pictures_are_invalid_arguments(array, tmp_path, options):
    with pytest.raises(sherd.InvalidArgument):
        sherd.picture(array, tmp_path / "p.png", **options)
    assert not (tmp_path / "p.png").exists()


@pytest.mark.parametrize("options", [{"axis": 1.5}, {"index": 1.5}, {"at": {"t": None}}, {"width": True}])
def test_what_has_the_wrong_type_is_a_type_error(array, tmp_path, options):
    with pytest.raises(TypeError):
        sherd.picture(array, tmp_path / "p.png", **options)
    with pytest.raises(TypeError, match="array must be a path"):
        sherd.picture(5, tmp_path / "p.png")
