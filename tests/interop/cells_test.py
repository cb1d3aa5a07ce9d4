"""The sample of the matrix is what it says, and peers.toml speaks of it."""

import itertools

import pytest
from interop.cells import DIMENSIONS, all_cells, cells, is_forbidden, legal_pairs
from interop.peers import PEERS
from interop.table import TABLE, as_list, includes


def test_every_allowed_pair_of_values_is_in_some_cell():
    covered = {pair for cell in cells() for pair in itertools.combinations(enumerate(cell.values), 2)}
    assert set(legal_pairs()) == covered


def test_every_type_is_stored_unsharded_by_every_codec_it_can_have():
    covered = {cell.values[:2] for cell in cells() if cell["layout"] == "plain"}
    assert {(a, b) for (i, a), (j, b) in legal_pairs() if (i, j) == (0, 1)} == covered


def test_all_cells_have_every_type_with_every_codec_in_every_layout():
    three = list(DIMENSIONS.values())[:3]
    allowed = {
        values
        for values in itertools.product(*three)
        if not any(is_forbidden(i, values[i], j, values[j]) for i, j in itertools.combinations(range(3), 2))
    }
    assert {cell.values[:3] for cell in all_cells()} == allowed
    assert {cell.values for cell in cells()} <= {cell.values for cell in all_cells()}


def test_no_cell_holds_a_forbidden_pair():
    for cell in all_cells():
        for (i, a), (j, b) in itertools.combinations(enumerate(cell.values), 2):
            assert not is_forbidden(i, a, j, b), cell


def test_every_value_of_every_dimension_is_tried():
    for d, values in enumerate(DIMENSIONS.values()):
        assert {cell.values[d] for cell in cells()} == set(values)


@pytest.mark.parametrize("entry", TABLE["cannot"], ids=lambda entry: f"{entry['peer']}: {entry['error']}")
def test_an_entry_of_the_table_names_known_things_and_some_cell(entry):
    assert set(as_list(entry["peer"])) <= set(PEERS)
    assert set(as_list(entry["does"])) <= {"read", "write"}
    assert set(entry) - {"peer", "does", "error"} <= set(DIMENSIONS)
    for d in set(entry) & set(DIMENSIONS):
        assert set(as_list(entry[d])) <= set(DIMENSIONS[d])
    assert any(includes(entry, cell) for cell in cells())
