"""docs/formats.md says what the engine, the registries and the matrix say."""

import ast
import importlib.util
import pathlib
import re

import pytest
from numcodecs import registry as numcodecs_registry
from zarr import registry as zarr_registry

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("formats_table", ROOT / "script/formats_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_tables_say(script):
    page = (ROOT / "docs/formats.md").read_text()
    assert script.page() == page, "docs/formats.md is out of date: run .venv/bin/python script/formats_table.py"


def test_every_registered_name_is_in_the_page(script):
    page = (ROOT / "docs/formats.md").read_text()
    names = {name for group in script.REGISTERED.values() for names in group.values() for name in names}
    assert {name for name in names if f"`{name}`" not in page and f"`numcodecs.{name}`" not in page} == set()


def test_every_name_that_the_installed_packages_register_is_in_the_page():
    page = (ROOT / "docs/formats.md").read_text()
    assert {name for name in numcodecs_registry.codec_registry if f"| `{name}` |" not in page} == set()
    names = {*zarr_registry.data_type_registry.contents, *getattr(zarr_registry, "__codec_registries")}
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_a_name_that_the_engine_does_not_know_is_an_error(script):
    with pytest.raises(script.Unexplained):
        script.refusal(script.asked.error_of_zarray({"filters": [{"id": "nonesuch"}]}), "nonesuch")


def rows(script):
    return [row for group in script.VERIFIED.values() for row in group]


def cited(row):
    return [test for does in ("reads", "writes", "tests") for test in row.get(does, [])]


def python_source(path, name):
    """A test, the comment above it and all that it uses of its module, as text."""
    text = path.read_text()
    lines, parts = text.splitlines(), {}
    for node in ast.parse(text).body:
        first = min(each.lineno for each in [*getattr(node, "decorator_list", []), node]) - 1
        while first > 0 and lines[first - 1].startswith("#"):
            first -= 1
        source = "\n".join(lines[first : node.end_lineno])
        for defined in ast.walk(node) if isinstance(node, (ast.With, ast.Assign)) else [node]:
            for key in [getattr(defined, "name", None), getattr(defined, "id", None)]:
                if key:
                    parts.setdefault(key, []).append(source)
    assert name in parts, f"{path} has no {name}"
    seen, wanted, found = set(), [name], []
    while wanted:
        for source in parts.get(wanted.pop(), []):
            if source not in seen:
                seen.add(source)
                found.append(source)
                wanted += re.findall(r"\w+", source)
    return "\n".join(found)


def source_of(test):
    """What a test is and uses, as text; of a C++ test its whole file."""
    file, name = test.split("::") if "::" in test else test.split(": ")
    path = ROOT / "tests" / file
    if path.suffix == ".py":
        return python_source(path, name)
    suite, _, of_suite = name.partition(".")
    text = path.read_text()
    assert re.search(rf"TEST(_[FP])?\({suite}, {of_suite}\)", text), f"{test} does not exist"
    return text


def test_the_tests_that_verify_names_exist_and_are_about_them(script):
    modules = {"zarr-python": "zarr.", "tensorstore": "tensorstore.", "zarrs": "zarrs."}
    for row in rows(script):
        texts = {test: source_of(test) for test in cited(row)}
        assert texts and row["apart"]
        if "peer" in row:
            for test, text in texts.items():
                assert modules[row["peer"]] in text and "sherd" in text, f"{test} does not use {row['peer']}"
        else:
            for source in row["golden"]:
                name = re.sub("[-_]", "", source.split()[0].lower())
                assert any(name in re.sub("[-_]", "", text.lower()) for text in texts.values()), f"{source}: {list(texts)}"
        for name in row["names"]:
            bare = name.removeprefix("numcodecs.").removeprefix("zarrs.").removeprefix("complex_")
            assert any(bare in text.lower() for text in texts.values()), f"{name} is not in {list(texts)}"


def test_a_verified_name_works_and_has_no_cell(script):
    names = {name for group, rows in script.VERIFIED.items() if "v2" not in group for row in rows for name in row["names"]}
    in_cells = {*script.cells_by(lambda cell: [script.type_name(cell)]), *script.cells_by(lambda cell: script.names_in(cell.chain()))}
    for name in names & in_cells:  # a cell that no peer reads or writes
        assert script.peers_of(script.cells_by(lambda cell: [script.type_name(cell), *script.names_in(cell.chain())])[name]) in (
            "", "golden bytes"), f"{name} has cells; delete it from verified.toml"
