"""Zarr v2: Sherd and its peers read what the other wrote, over the cells of zarr2_cells.py; zarr2.toml has what a peer cannot."""

import json

import pytest
import sherd
from dependencies import missing
from interop.zarr2_cells import CELLS, canonical, write_rows
from interop.zarr2_peers import PEERS
from interop.zarr2_table import TABLE, WRONG, reasons


def lay(cell, path):
    """The documents of a store without chunks."""
    (path / "a").mkdir(parents=True)
    (path / ".zgroup").write_text(json.dumps({"zarr_format": 2}))
    (path / ".zattrs").write_text("{}")
    (path / "a/.zarray").write_text(json.dumps(cell.document))
    (path / "a/.zattrs").write_text("{}")
    return cell, path


def sherd_writes(cell, path):
    write_rows(sherd.open_array(path, path="a", mode="r+"), cell)


def stores(tmp_path):
    return [lay(cell, tmp_path / str(number)) for number, cell in enumerate(CELLS.values())]


def outcome(found, cell):
    """The text of an error, or None."""
    if isinstance(found, str):
        return found
    return None if canonical(found) == canonical(cell.elements) else WRONG


def judge(peer, does, outcomes):
    deviations = []
    for cell, error in outcomes:
        expected = reasons(peer.name, does, cell)
        if error is None and expected:
            deviations.append(f"{cell}: works")
        if error is not None and not any(text in error for text in expected):
            deviations.append(f"{cell}: {error}")
    assert not deviations, "\n".join([f"{len(deviations)} cells that {peer.name} does not {does} as zarr2.toml has it:",
                                      *deviations])


@pytest.fixture
def peer(request):
    peer = PEERS[request.param]
    if not peer.is_there():
        missing(peer.name)
    return peer


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_the_table_is_about_the_installed_version(peer):
    assert TABLE["version"][peer.name] == peer.version()


@pytest.mark.parametrize("name", CELLS)
def test_sherd_reads_what_it_writes(name, tmp_path):
    cell, path = lay(CELLS[name], tmp_path / "s")
    sherd_writes(cell, path)
    assert canonical(sherd.open_array(path, path="a")[...]) == canonical(cell.elements)
    assert sherd.check(path, data=True)["faults"] == []


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_a_peer_reads_what_sherd_writes(peer, tmp_path):
    jobs = stores(tmp_path)
    for job in jobs:
        sherd_writes(*job)
    judge(peer, "read", [(cell, outcome(found, cell)) for (cell, _), found in zip(jobs, peer.read(jobs))])


@pytest.mark.parametrize("peer", [name for name, peer in PEERS.items() if peer.writes], indirect=True)
def test_sherd_reads_what_a_peer_writes(peer, tmp_path):
    jobs = stores(tmp_path)
    outcomes = []
    for (cell, path), error in zip(jobs, peer.write(jobs)):
        outcomes.append((cell, error or outcome(sherd_reads(path), cell)))
    judge(peer, "write", outcomes)


def sherd_reads(path):
    try:
        return sherd.open_array(path, path="a")[...]
    except sherd.Error as error:
        return f"Sherd: {error}"
