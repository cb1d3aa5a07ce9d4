"""docs/formats.md says what the engine, the registries and the matrix say."""

import importlib.util
import pathlib

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
        script.refusal(script.zarray_error({"filters": [{"id": "nonesuch"}]}), "nonesuch")


def test_every_test_that_verifies_a_name_exists(script):
    rows = [row for group in script.VERIFIED.values() for row in group]
    for cited in {test for row in rows for test in row["tests"]}:
        file, name = cited.split("::") if "::" in cited else cited.split(": ")
        text = (ROOT / "tests" / file).read_text()
        suite, _, test = name.partition(".")
        assert f"def {name}(" in text or f"({suite}, {test})" in text, cited
