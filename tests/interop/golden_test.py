"""What no peer does: Sherd reads the golden bytes of tests/data/interop, and writes what the reference reads back."""

import json
import zipfile

import numpy
import pytest
import sherd
from interop import document, golden
from interop.cells import canonical, cells
from interop.peers import PEERS
from interop.table import TABLE

ARCHIVE = zipfile.ZipFile(golden.PATH)
NAMES = list(dict.fromkeys(name.split("/")[0] for name in ARCHIVE.namelist()))
# https://github.com/zarr-developers/zarr-extensions, chunk-grids/rectilinear/README.md
RECTILINEAR = [name for name in NAMES if name.startswith("rectilinear")]


def unpack(name, path):
    """Makes the store below `path` and gives the expected elements, as canonical() has them."""
    path.mkdir()
    (path / "zarr.json").write_bytes(ARCHIVE.read(f"{name}/zarr.json"))
    for member in ARCHIVE.namelist():
        if member.startswith(f"{name}/array/"):
            file = path / member.removeprefix(f"{name}/array/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(ARCHIVE.read(member))
    metadata = json.loads(ARCHIVE.read(f"{name}/zarr.json"))
    elements = ARCHIVE.read(f"{name}/elements")
    if metadata["data_type"] == "string":
        elements = json.loads(elements)
    elif metadata["data_type"] in ("bytes", "variable_length_bytes"):
        elements = [bytes.fromhex(e) for e in json.loads(elements)]
    return tuple(metadata["shape"]), elements


def test_there_are_golden_bytes_for_every_cell_that_no_peer_does():
    described = {ARCHIVE.read(f"{name}/cell").decode().split("\n")[0] for name in NAMES if name not in RECTILINEAR}
    assert described == {str(cell) for cell in cells() if golden.is_left_to_nobody(cell)}


@pytest.mark.parametrize("name", NAMES)
def test_sherd_reads_the_golden_bytes(name, tmp_path):
    expected = unpack(name, tmp_path / "array")
    assert canonical(sherd.open_array(tmp_path / "array")[...]) == expected


@pytest.mark.parametrize("name", RECTILINEAR)
def test_sherd_writes_the_golden_bytes_of_rectilinear_grids(name, tmp_path):
    shape, elements = unpack(name, tmp_path / "golden")
    store = tmp_path / "written"
    store.mkdir()
    (store / "zarr.json").write_bytes((tmp_path / "golden/zarr.json").read_bytes())
    array = sherd.open_array(store, mode="r+", config={"chunk_order": "c"})
    array[...] = numpy.frombuffer(elements, "<u2").reshape(shape)
    assert contents(store) == contents(tmp_path / "golden")


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_no_peer_supports_rectilinear_grids(peer, tmp_path):
    unpack(RECTILINEAR[0], tmp_path / "array")
    cell = next(cell for cell in cells() if cell["type"] == "uint16" and cell["shape"] == "even")
    (outcome,) = peer.read([(cell, tmp_path / "array")])
    assert isinstance(outcome, str), f"{peer.name} reads it: make it a dimension of cells.py"
    assert TABLE["rectilinear"][peer.name] in outcome


def test_the_document_is_what_the_table_says():
    assert document.PATH.read_text() == document.document(), "cd tests && ../.venv/bin/python -m interop.document"
