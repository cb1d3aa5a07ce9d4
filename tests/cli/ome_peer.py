"""ome-zarr-models and ome-zarr, run by the Python of .venv-ome: a line of JSON per request, a line per answer.

{"do": "validate", "about": PATH} -> {"groups": count, "faults": [...]}: every group below P that has OME-NGFF's metadata, by its model.
{"do": "read", "about": PATH} -> {"levels": [[shape], ...], "axes": [...], "sum": of the last level}, as ome-zarr reads it.
{"do": "transformations", "about": [[shape], ...]} -> those that ome-zarr gives levels of these shapes.
"""

import json
import pathlib
import sys
import warnings

import ome_zarr.format
import ome_zarr.io
import ome_zarr.reader
import zarr
import zarr.storage
from ome_zarr_models import v04, v05
from ome_zarr_models.v04 import bioformats2raw as raw04, hcs as hcs04, image as image04, image_label as label04
from ome_zarr_models.v04 import labels as labels04, well as well04
from ome_zarr_models.v05 import bioformats2raw as raw05, hcs as hcs05, image as image05, image_label as label05
from ome_zarr_models.v05 import labels as labels05, well as well05

assert v04 and v05
KINDS = {
    3: {"plate": hcs05.HCS, "multiscales": image05.Image, "image-label": label05.ImageLabel, "labels": labels05.Labels,
        "well": well05.Well, "bioformats2raw.layout": raw05.BioFormats2Raw},
    2: {"plate": hcs04.HCS, "image-label": label04.ImageLabel, "multiscales": image04.Image, "labels": labels04.Labels,
        "well": well04.Well, "bioformats2raw.layout": raw04.BioFormats2Raw},
}


def validate_group(group):
    version = group.metadata.zarr_format
    members = group.attrs.asdict()
    if version == 3:
        members = members.get("ome", {})
    for name, model in KINDS[version].items():
        if name not in members:
            continue
        model.from_zarr(group)
        if name == "multiscales" and version == 3 and "image-label" in members:
            label05.ImageLabel.from_zarr(group)


def groups_of(path):
    """The groups of a directory or, through zarr-python's ZipStore, of an archive, with their paths."""
    root = pathlib.Path(path)
    if root.is_file():
        group = zarr.open_group(zarr.storage.ZipStore(root, mode="r"), mode="r")
        yield ".", group
        yield from ((name, member) for name, member in group.members(max_depth=None) if isinstance(member, zarr.Group))
        return
    for document in [root, *sorted(p for p in root.rglob("*") if p.is_dir())]:
        if not any((document / name).exists() for name in ("zarr.json", ".zgroup")):
            continue
        try:
            yield document.relative_to(root), zarr.open_group(document, mode="r")
        except Exception:  # an array
            continue


def validate(path):
    faults = []
    groups = list(groups_of(path))
    for name, group in groups:
        try:
            validate_group(group)
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    return {"groups": len(groups), "faults": faults}


def read(path):
    (node, *_) = ome_zarr.reader.Reader(ome_zarr.io.parse_url(path, mode="r"))()
    return {"levels": [list(level.shape) for level in node.data], "axes": [axis["name"] for axis in node.metadata["axes"]],
            "sum": float(node.data[-1].sum().compute())}


def transformations(shapes):
    return ome_zarr.format.FormatV04().generate_coordinate_transformations(shapes)


CALLS = {"validate": validate, "read": read, "transformations": transformations}
warnings.simplefilter("ignore")
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(CALLS[request["do"]](request["about"])), flush=True)
