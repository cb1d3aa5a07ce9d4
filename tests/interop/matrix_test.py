"""Sherd and its peers read what the other wrote, bit for bit, over the whole matrix; peers.toml has what a peer cannot.

The reference implementation decides who is wrong: what Sherd reads must be what the reference reads, and what Sherd
writes the reference must read back, in every cell.
"""

import json

import pytest
import sherd
from interop import reference
from interop.cells import TYPES, canonical
from interop.peers import PEERS, failure
from interop.table import TABLE, WRONG, deviation

TYPES_OF_SHERD = [name for name, t in TYPES.items() if not t.foreign]


class Folder:
    def __init__(self, path):
        self.path = path

    def get(self, key):
        file = self.path / key
        return file.read_bytes() if file.is_file() else None


def sherd_writes(cell, path):
    metadata = cell.metadata()
    elements = cell.elements()
    array = sherd.create_array(
        path,
        shape=cell.shape,
        dtype=metadata["data_type"],
        chunks=cell.chunk_shape,
        codecs=metadata["codecs"],
        fill_value=metadata["fill_value"],
        chunk_key_encoding=metadata["chunk_key_encoding"],
    )
    if cell.written() is None:
        array[...] = elements
    else:
        array[: cell.written()] = elements[: cell.written()]


def sherd_reads(path):
    try:
        array = sherd.open_array(path)
        whole = array[...]
    except sherd.Error as error:
        return failure(error)
    inside = tuple(slice(n // 3, n - n // 4) for n in array.shape)
    assert canonical(array[inside]) == canonical(whole[inside]), f"{path}: a box of it is not what the whole has there"
    return whole


def reference_reads(cell, path):
    try:
        return reference.read(cell, Folder(path), json.loads((path / "zarr.json").read_text()))
    except Exception as error:
        return failure(error)


def of_type(name, matrix, tmp_path):
    return [(cell, tmp_path / str(i)) for i, cell in enumerate(matrix) if cell["type"] == name]


def is_wrong(array, cell):
    return isinstance(array, str) or canonical(array) != canonical(cell.elements())


def judge(peer, does, outcomes):
    found = [deviation(peer.name, does, cell, error) for cell, error in outcomes]
    found = [text for text in found if text]
    title = f"{len(found)} cells in which {peer.name} {peer.version()} does not {does} as peers.toml has it:"
    assert not found, "\n".join([title, *found])


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_the_table_is_about_the_installed_version(peer):
    assert TABLE["version"][peer.name] == peer.version()


@pytest.mark.parametrize("name", TYPES_OF_SHERD)
def test_what_sherd_writes_is_what_the_specifications_say(name, matrix, tmp_path):
    for cell, path in of_type(name, matrix, tmp_path):
        sherd_writes(cell, path)
        assert not is_wrong(reference_reads(cell, path), cell), str(cell)
        assert not is_wrong(sherd_reads(path), cell), str(cell)


@pytest.mark.parametrize("name", TYPES_OF_SHERD)
@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_a_peer_reads_what_sherd_writes(peer, name, matrix, tmp_path):
    jobs = of_type(name, matrix, tmp_path)
    for job in jobs:
        sherd_writes(*job)
    arrays = peer.read(jobs)
    judge(peer, "read", [(cell, error_of(array, cell)) for (cell, _), array in zip(jobs, arrays)])


def error_of(array, cell):
    if isinstance(array, str):
        return array
    return WRONG if is_wrong(array, cell) else None


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_sherd_reads_what_a_peer_writes(peer, name, matrix, tmp_path):
    jobs = of_type(name, matrix, tmp_path)
    outcomes = []
    for (cell, path), error in zip(jobs, peer.write(jobs)):
        if error is None:
            error = error_of(check_reading(cell, path), cell)
        outcomes.append((cell, error))
    judge(peer, "write", outcomes)


def check_reading(cell, path):
    """What Sherd reads, which is what the reference reads, also where that is not what the peer was given."""
    read, true = sherd_reads(path), reference_reads(cell, path)
    assert isinstance(read, str) == isinstance(true, str), f"{cell}: Sherd reads {read}, the reference {true}"
    assert isinstance(read, str) or canonical(read) == canonical(true), f"{cell}: Sherd reads other values"
    return read
