"""Neuroglancer reads the segment properties that Sherd writes: every id, every type, every value."""

import numpy
from sherd import neuroglancer as ng


def test_properties_of_segments_are_read(neuroglancer, served, tmp_path):
    ids = numpy.array([2**64 - 1, 17, 5], "u8")
    numbers = numpy.array([0.5, -2, 3e9], "f4")
    counts = numpy.array([0, 255, 7], "u1")
    properties = [
        ng.SegmentProperty("name", "label", ["last", "Purkinje ‹17›", ""]),
        ng.SegmentProperty("about", "description", ["", "beside", "the midline"]),
        ng.SegmentProperty("kind", "tags", [[0, 1], [], [1]], tags=["grey", "white"]),
        ng.SegmentProperty("volume", "number", numbers),
        ng.SegmentProperty("spines", "number", counts),
    ]
    array = ng.create_precomputed(
        tmp_path / "labels", type="segmentation", dtype="uint64", segment_properties="properties",
        scales=[{"size": [8, 8, 8], "resolution": [8, 8, 8], "chunk_size": [8, 8, 8]}],
    )  # fmt: skip
    array[:] = numpy.full(array.shape, 17, "u8")
    ng.Collection.create(tmp_path / "labels/properties", ng.SegmentProperties(ids, properties))

    layer = {"type": "segmentation", "source": f"precomputed://{served.url}/labels", "segments": ["17"]}
    view = neuroglancer.show(layer, position=[4, 4, 4])

    assert (view.outcome, view.errors) == ("ready", [])
    (read,) = view.properties
    order = [read["ids"].index(str(each)) for each in ids]  # Neuroglancer sorts them
    found = {each["id"]: each for each in read["properties"]}
    values = {name: [each["values"][i] for i in order] for name, each in found.items()}
    assert {name: each["type"] for name, each in found.items()} == {each.id: each.type for each in properties}
    assert values["name"] == ["last", "Purkinje ‹17›", ""] and values["about"] == ["", "beside", "the midline"]
    assert found["kind"]["tags"] == ["grey", "white"] and values["kind"] == [[0, 1], [], [1]]
    assert values["volume"] == numbers.tolist() and values["spines"] == counts.tolist()
