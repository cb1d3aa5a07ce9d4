"""The types that editors and type checkers see are those that are there, and everything public is explained."""

import ast
import importlib.util
import inspect
import pathlib
import sysconfig
import typing

import pytest
import sherd
from sherd import _sherd
from sherd._array import ArrayNames

PACKAGE = pathlib.Path(sherd.__file__).parent


def stub_names():
    tree = ast.parse((PACKAGE / "_sherd.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            names[node.name] = members
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = set()
    return names


def public_members(kind):
    for name, member in vars(kind).items():
        if not name.startswith("_"):
            yield name, member


def test_the_stub_names_what_the_module_has():
    names = stub_names()
    there = {name: value for name, value in vars(_sherd).items() if not name.startswith("_")}
    assert set(names) == set(there)
    for name, value in there.items():
        if inspect.isclass(value):
            more = set(vars(ArrayNames)) if value is sherd.Array else set()
            assert {member for member, _ in public_members(value)} - more <= names[name], name
            assert names[name] <= set(dir(value)), name


def test_what_is_added_to_the_engines_array_hides_nothing_of_it():
    assert not {name for name in vars(ArrayNames) if not name.startswith("__")} & stub_names()["Array"]
    assert all(vars(sherd.Array)[name] is member for name, member in public_members(ArrayNames))


def test_the_stub_knows_the_types_that_matter():
    text = (PACKAGE / "_sherd.pyi").read_text()
    for line in ("def shape(self) -> tuple[int, ...]", "def shards(self) -> tuple[Any, ...] | None", "def oindex(self) -> OrthogonalIndexer"):
        assert line in text
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("name", sherd.__all__)
def test_everything_public_has_a_docstring(name):
    value = getattr(sherd, name)
    if name in ("__version__",):
        assert value == "0.1.0" or value.count(".") == 2
        return
    assert inspect.getdoc(value), name
    if inspect.isclass(value) and not issubclass(value, Exception):
        for member, item in public_members(value):
            assert inspect.getdoc(item), f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name in sherd.__all__ if inspect.isfunction(getattr(sherd, name)) and name != "zarr_store"])
def test_annotations_of_public_functions_can_be_evaluated(name):  # that of zarr_store needs zarr
    assert "return" in typing.get_type_hints(getattr(sherd, name))


def test_classes_are_known_by_their_public_names():
    for name in ("Array", "MemoryStore", "Store", "Config"):
        assert getattr(sherd, name).__module__ == "sherd"


def test_the_command_is_installed_with_the_package():
    command = pathlib.Path(sysconfig.get_path("scripts")) / "sherd"
    if PACKAGE.parent == pathlib.Path(sysconfig.get_path("platlib")):
        assert command.exists()
    else:
        assert importlib.util.find_spec("sherd._sherd") is not None
