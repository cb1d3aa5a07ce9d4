"""Neuroglancer shows annotations from every level of the spatial index that Sherd has written."""

import numpy
import pytest
from sherd import neuroglancer as ng

VIEW = {
    "layout": "xy",
    "position": [50.5, 50.5, 5.5],
    "dimensions": {name: [8e-9, "m"] for name in "xyz"},
    "crossSectionScale": 0.5,
}


def count_of(view):
    """Pixels that have about the color of the annotations."""
    return (abs(view.picture - numpy.array([255, 0, 255])) < 60).all(axis=2).sum()


@pytest.mark.parametrize("sharding", ["auto", None])
def test_annotations_of_all_levels_are_shown(neuroglancer, served, tmp_path, sharding):
    x, y = numpy.meshgrid(numpy.arange(5, 100, 10), numpy.arange(5, 100, 10))
    points = numpy.stack([x.ravel(), y.ravel(), numpy.full(x.size, 5.5)], axis=1)
    report = ng.write_annotations(tmp_path / "marks", points, kind="point", dimensions=(8, 8, 8), limit=10, sharding=sharding)
    assert report["levels"] > 2

    layer = {"type": "annotation", "source": f"precomputed://{served.url}/marks", "annotationColor": "#ff00ff"}
    view = neuroglancer.show(layer, **VIEW)

    # Each of the 100 points is a disc; those of the first level alone would be 10.
    assert count_of(view) > 50 * 9


def test_annotations_with_two_uint32_are_shown_but_not_those_with_bool(neuroglancer, served, tmp_path):
    """Sherd warns of both, of the first for Neuroglancer's Python reader only."""
    points = numpy.stack([numpy.arange(5, 100, 5), numpy.full(19, 50), numpy.full(19, 5.5)], axis=1)
    for name, kind in {"two": "uint32", "flag": "bool"}.items():
        properties = {each: {"values": numpy.ones(19, "u4"), "type": kind} for each in "ab"}
        with pytest.warns(UserWarning, match=f"is of type {kind}"):
            ng.write_annotations(tmp_path / name, points, kind="point", dimensions=(8, 8, 8), properties=properties)

    def shown(name):
        return neuroglancer.show({"type": "annotation", "source": f"precomputed://{served.url}/{name}", "annotationColor": "#ff00ff"}, **VIEW)

    assert count_of(shown("two")) > 19 * 9
    refused = shown("flag")
    assert refused.outcome == "failed" and count_of(refused) == 0 and "Unsupported property type" in str(refused.errors)
