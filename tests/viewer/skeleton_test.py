"""Neuroglancer shows a skeleton, and says what is wrong with one that it cannot read.

Most are written by hand. This is how anything that is not a volume is shown: meshes and annotations go the same way.
"""

import json
import struct

import numpy
import pytest
from sherd import neuroglancer as ng

LINE = [(float(x), 100.0, 100.0) for x in (20, 100, 180)]  # nanometers
LAYER = {"type": "segmentation", "segments": ["7"], "segmentColors": {"7": "#ff00ff"}}
VIEW = {
    "layout": "3d",
    "position": [12.5, 12.5, 12.5],
    "dimensions": {name: [8e-9, "m"] for name in "xyz"},
    "projectionScale": 40,  # voxels in the height of the panel
}


def skeleton():
    numbers = [value for vertex in LINE for value in vertex]
    return struct.pack("<2I9f4I", 3, 2, *numbers, 0, 1, 1, 2)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bones").mkdir()
    info = {"@type": "neuroglancer_skeletons", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "vertex_attributes": []}
    (tmp_path / "bones/info").write_text(json.dumps(info))
    return tmp_path / "bones"


def show(neuroglancer, served):
    return neuroglancer.show(LAYER | {"source": f"precomputed://{served.url}/bones"}, **VIEW)


def drawn(view):
    """Rows and columns of the pixels that have about the skeleton's color."""
    return numpy.nonzero((abs(view.picture - numpy.array([255, 0, 255])) < 60).all(axis=2))


def test_a_skeleton_is_shown(neuroglancer, served, folder):
    (folder / "7").write_bytes(skeleton())

    view = show(neuroglancer, served)

    assert_is_shown(view)


def test_a_skeleton_in_a_shard_of_sherd_is_shown(neuroglancer, served, tmp_path):
    how = ng.choose_sharding_for_values(count=10**6, mean_bytes=1000)
    info = ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "vertex_attributes": [], "sharding": how})
    skeletons = ng.Collection.create(tmp_path / "bones", info)
    for number in range(20):
        skeletons.write(number, ng.Skeleton(numpy.array(LINE) + number, [[0, 1], [1, 2]]))
    skeletons.write(7, ng.Skeleton(LINE, [[0, 1], [1, 2]]))  # replaced in its shard

    assert_is_shown(show(neuroglancer, served))


def assert_is_shown(view):
    assert (view.outcome, view.errors) == ("ready", [])
    rows, columns = drawn(view)
    height, width, _ = view.picture.shape
    reach = 10 * height / VIEW["projectionScale"]  # 80 of the 8 nanometers to each side
    assert abs(rows - height / 2).max() < 3
    assert sorted(set(columns)) == list(range(columns.min(), columns.max() + 1))
    assert abs(columns.min() - (width / 2 - reach)) < 3 and abs(columns.max() - (width / 2 + reach)) < 3


def test_a_skeleton_that_is_not_there_is_reported(neuroglancer, served, folder):
    view = show(neuroglancer, served)

    assert view.outcome == "failed"
    assert any("not found" in error for error in view.errors)
    assert drawn(view)[0].size == 0


def test_a_skeleton_that_ends_too_early_is_reported(neuroglancer, served, folder):
    (folder / "7").write_bytes(skeleton()[:-4])

    view = show(neuroglancer, served)

    assert view.outcome == "failed" and view.errors
