"""What other programs keep beside the data of a dataset: copied where a layout defines it, otherwise counted, and no fault."""

import json

import numpy
import pytest
import tensorstore
import tifffile
import zarr
from cloudvolume import CloudVolume

import sherd as library
from shardings import sharding

XML = b'<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0" Name="a"/></OME>\n'
CHANNELS = [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP", "color": "00FF00"}]


def bioformats2raw(sherd, folder, to):
    """A dataset of one image, as bioformats2raw makes it."""
    numpy.save(sherd.folder / "a.npy", numpy.arange(24, dtype="u2").reshape(2, 3, 4))
    sherd.ok("import", "a.npy", f"{folder}/0", "--axes", "c,y,x", "--pyramid", "mean:1", "--to", to)
    version = 2 if to == "zarr2" else 3
    for name, members in ("", {"bioformats2raw.layout": 3}), ("OME", {"series": ["0"]}):
        attributes = members if version == 2 else {"ome": {"version": "0.5", **members}}
        zarr.open_group(sherd.folder / folder / name, mode="a", zarr_format=version).attrs.update(attributes)
    (sherd.folder / folder / "OME/METADATA.ome.xml").write_bytes(XML)


@pytest.mark.parametrize("to", ["zarr2", "zarr3"])
def test_the_ome_xml_of_bioformats2raw_is_copied(sherd, tmp_path, to):
    bioformats2raw(sherd, "b2r", to)
    assert sherd.ok("check", "b2r", "--json").json["faults"] == []
    for destination in ("zarr2", "zarr3"):
        report = sherd.ok("copy", "b2r", destination, "--to", destination, "--json").json
        assert report["warnings"] == [] and (tmp_path / destination / "OME/METADATA.ome.xml").read_bytes() == XML
        assert sherd.ok("check", destination, "--json").json["faults"] == []
    sherd.ok("copy", "b2r", "zarr2", "--to", "zarr2", "--overwrite")
    sherd.ok("copy", "b2r/OME", "alone")
    assert (tmp_path / "alone/METADATA.ome.xml").read_bytes() == XML
    sherd.ok("rm", "zarr2", "-r")


def test_the_provenance_of_cloud_volume_is_copied(sherd, tmp_path):
    info = CloudVolume.create_new_info(1, "image", "uint8", "raw", [8, 8, 40], [0, 0, 0], [8, 8, 8], chunk_size=[8, 8, 8])
    made = CloudVolume(f"file://{tmp_path}/em", info=info, progress=False, compress=False)
    made.provenance.owners = ["lab@example.org"]
    made.provenance.processing = [{"method": {"task": "Download"}, "by": "lab@example.org"}]
    made.commit_info()
    made.commit_provenance()
    made[:, :, :] = numpy.ones((8, 8, 8, 1), "u1")
    assert sherd.ok("check", "em", "--json").json["faults"] == []
    assert sherd.ok("copy", "em", "copied", "--json").json["warnings"] == []
    assert (tmp_path / "copied/provenance").read_bytes() == (tmp_path / "em/provenance").read_bytes()
    assert CloudVolume(f"file://{tmp_path}/copied", progress=False).provenance.owners == ["lab@example.org"]
    sherd.ok("copy", "em", "copied", "--overwrite")
    [warning] = sherd.ok("copy", "em", "a.zarr", "--to", "zarr3", "--json").json["warnings"]
    assert warning.startswith("provenance is not part of the copy")


def test_the_names_and_colours_of_channels_go_into_a_volume_and_back(sherd, tmp_path):
    data = numpy.random.default_rng(3).integers(1, 60000, (2, 5, 30, 40), dtype="u2")
    tifffile.imwrite(tmp_path / "a.ome.tif", data, metadata={"axes": "CZYX", "Channel": {"Name": ["DAPI", "GFP"], "Color": [0x0000FFFF, 0x00FF00FF]}})
    sherd.ok("import", "a.ome.tif", "a.zarr", "--pyramid", "mean:1", "--resolution", "8,8,40")
    omero = zarr.open_group(tmp_path / "a.zarr", mode="r").attrs["ome"]["omero"]["channels"]
    assert [{name: each[name] for name in ("label", "color")} for each in omero] == CHANNELS
    sherd.ok("copy", "a.zarr", "em", "--to", "precomputed")
    sherd.ok("import", "a.ome.tif", "imported", "--to", "precomputed", "--resolution", "8,8,40")
    for name in ("em", "imported"):
        info = json.loads((tmp_path / name / "info").read_text())
        assert [{key: each[key] for key in ("label", "color")} for each in info["channels"]] == CHANNELS
        # Readers of volumes ignore what they do not know.
        assert CloudVolume(f"file://{tmp_path}/{name}", progress=False).num_channels == 2
        spec = {"driver": "neuroglancer_precomputed", "kvstore": f"file://{tmp_path}/{name}"}
        assert (tensorstore.open(spec).result().read().result()[..., 1] == data[1].T).all()
        sherd.ok("copy", name, f"{name}.zarr", "--to", "zarr3", "--pyramid", "mean:1")
        assert zarr.open_group(tmp_path / f"{name}.zarr", mode="r").attrs["ome"]["omero"]["channels"] == omero
        sherd.ok("export", name, f"{name}.ome.tif")
        with tifffile.TiffFile(tmp_path / f"{name}.ome.tif") as file:
            assert 'Name="DAPI"' in file.ome_metadata and 'Name="GFP"' in file.ome_metadata
    sherd.ok("copy", "a.zarr", "part", "--to", "precomputed", "--select", "1:2")
    assert [each["label"] for each in json.loads((tmp_path / "part/info").read_text())["channels"]] == ["GFP"]


@pytest.mark.parametrize("to", ["zarr3", "zarr2", "precomputed"])
def test_objects_of_no_layout_are_left_out_and_counted(sherd, tmp_path, to):
    axes = ["--axes", "z,y,x", "--resolution", "8,8,40"]
    numpy.save(tmp_path / "a.npy", numpy.ones((4, 5, 6), "u1"))
    sherd.ok("import", "a.npy", "a", "--to", to, *axes, *(["--pyramid", "mean:1"] if to != "precomputed" else []))
    assert sherd.ok("copy", "a", "none", "--json").json["warnings"] == []
    (tmp_path / "a/README.md").write_text("made by hand")
    [warning] = sherd.ok("copy", "a", "one", "--json").json["warnings"]
    assert warning == "README.md belongs to no node and was left out"
    (tmp_path / "a/notes").mkdir()
    for number in range(3):
        (tmp_path / f"a/notes/{number}.txt").write_text("x")
    said = sherd.ok("copy", "a", "four").stderr
    assert "warning: 4 objects that belong to no node were left out, such as " in said
    assert not (tmp_path / "four/README.md").exists() and not (tmp_path / "four/notes").exists()


def test_check_warns_of_no_file_of_igneous_in_a_volume(sherd, tmp_path):
    volume = ["create", "em", "--store-format", "precomputed", "--shape", "64,64,8", "--dtype", "uint8", "--resolution", "8,8,40",
              "--chunks", "32,32,8"]
    sherd.ok(*volume)
    sherd.ok("write", "em", "--value", "1")
    kept = ["levels/0/0", "levels/2/-17.gz", *(f"8_8_40/{name}" for name in (
        "stats/voxel_counts.im", "stats/voxel_counts.mb", "stats/voxel_counts/0-32_0-32_0-8.json.gz", "ccl/max_label.json",
        "ccl/faces/0-0-0-xy.ckl", "ccl/equivalences/0-1-0.json", "ccl/relabel/3.json.gz"))]
    foreign = ["levels/readme.txt", "stats/1", "8_8_40/stats/readme.txt", "8_8_40/ccl/faces/old/1", "8_8_40/levels/0/0"]
    for name in kept + foreign:
        (tmp_path / "em" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "em" / name).write_bytes(b"{}")
    report = sherd.ok("check", "em", "--json").json
    assert {fault["key"] for fault in report["faults"]} == {"levels/", "stats/", *foreign[2:]}
    for name in foreign:
        (tmp_path / "em" / name).unlink()
    assert sherd.ok("check", "em", "--json").json["faults"] == []
    assert library.check(tmp_path / "em")["faults"] == []
    assert sherd(*volume, "--overwrite").code == 6  # they are not the volume's to erase
    assert all((tmp_path / "em" / name).exists() for name in kept)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("kind", ["neuroglancer_skeletons", "neuroglancer_multilod_draco", "neuroglancer_legacy_mesh"])
def test_check_warns_of_no_file_of_igneous(sherd, tmp_path, kind, sharded):
    info = {"@type": kind, "spatial_index": {"resolution": [4.5, 4.5, 40], "chunk_size": [2304, 2304, 20480]}}
    if kind == "neuroglancer_multilod_draco":
        info |= {"vertex_quantization_bits": 16, "lod_scale_multiplier": 1, "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]}
    if sharded and kind != "neuroglancer_legacy_mesh":
        info["sharding"] = sharding("murmurhash3_x86_128", (0, 1, 1), "gzip")
    folder = tmp_path / "objects"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(info))
    for name in ("0-512_0-512_0-512.spatial", "0.0-2304.0_-4.5-2304.0_0.0-20480.0.spatial.gz", "0-512_0-512_0-512.frags", "0.labels.gz",
                 "1a.labels", "7:0-512_0-512_0-512.gz", "7:0:0-512_0-512_0-512"):
        (folder / name).write_bytes(b"{}")
    report = sherd.ok("check", "objects", "--json").json
    assert report["faults"] == []
    (folder / "README.md").write_text("x")
    if kind != "neuroglancer_legacy_mesh":  # whose parts may have any name
        assert [each["code"] for each in sherd.ok("check", "objects", "--json").json["faults"]] == ["foreign_object"]
