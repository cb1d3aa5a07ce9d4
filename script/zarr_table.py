#!/usr/bin/env python3
"""Writes the table of zarr-python's names into docs/python.md, generated from the two installed packages.

    .venv/bin/python script/zarr_table.py

It compares names, parameters, their order and defaults, and whether they can be given by position. It fails if
zarr-python has a name or a parameter that Sherd lacks and that is not explained below, or if something is explained
that Sherd has. tests/python/zarr_names_test.py fails if docs/python.md has a different table.
"""

import ast
import dataclasses
import inspect
import json
import pathlib
import re

import sherd
import zarr

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/python.md"
BEGIN, END = "<!-- begin: script/zarr_table.py -->\n", "<!-- end: script/zarr_table.py -->\n"

# What Sherd calls by another name or does not have, and why.
ELSEWHERE = {
    "zarr": {
        "AsyncArray": "nothing: reads and writes release the interpreter lock; use threads",
        "AsyncGroup": "nothing, as for `AsyncArray`",
        "copy_all": "`sherd.copy(source, destination)` (zarr-python 3 has the name only)",
        "copy_store": "`sherd.copy(source, destination)` (zarr-python 3 has the name only)",
        "create_hierarchy": "`sherd.create_group` and `group.create_array`, which make the groups on the way",
        "open_consolidated": "`sherd.open_group`: consolidated metadata are used where they are",
        "open_like": '`sherd.open_array(store, mode="a", shape=a.shape, dtype=a.dtype)`',
        "print_debug_info": "`sherd.__version__`",
        "tree": "`group.tree()` (deprecated in zarr-python)",
    },
    "Group": {
        "array": "`group.create_array`",
        "create": "`group.create_array`",
        "create_dataset": "`group.create_array` (deprecated in zarr-python)",
        "create_hierarchy": "`group.create_group` and `group.create_array`, which make the groups on the way",
        "empty": "`group.create_array(name, shape=…, dtype=…)`",
        "empty_like": "`sherd.empty_like(a, store=group.store, path=…)`",
        "from_store": "`sherd.create_group`",
        "full": "`group.create_array(name, shape=…, dtype=…, fill_value=…)`",
        "full_like": "`sherd.full_like(a, store=group.store, path=…)`",
        "info_complete": "`group.info` and `group.nmembers(None)`",
        "ones": "`group.create_array(name, shape=…, dtype=…, fill_value=1)`",
        "ones_like": "`sherd.ones_like(a, store=group.store, path=…)`",
        "open": "`sherd.open_group`",
        "require_dataset": "`group.require_array` (deprecated in zarr-python)",
        "store_path": "`group.store` and `group.path`, or `group.url`",
        "synchronizer": "nothing: writers of all threads and processes wait for each other anyway",
        "update_attributes_async": "`group.update_attributes`",
        "zeros": "`group.create_array(name, shape=…, dtype=…)`",
        "zeros_like": "`sherd.zeros_like(a, store=group.store, path=…)`",
    },
    "Array": {
        "async_array": "nothing: reads and writes release the interpreter lock; use threads",
        "compressor": "`array.compressors` (deprecated in zarr-python)",
        "config": "`config=` of `sherd.open_array` and `sherd.create_array`",
        "create": "`sherd.create_array`",
        "from_dict": "`sherd.create_array`",
        "info_complete": "`array.info` and `array.nchunks_initialized`",
        "nbytes_stored": "`sherd info --json` counts the bytes that are stored",
        "open": "`sherd.open_array`",
        "store_path": "`array.store` and `array.path`, or `array.url`",
        "with_config": "`sherd.open_array(array.store, path=array.path, config=…)`",
    },
}

# What differs in members that both have, and why.
DIFFERS = {
    "zarr": {
        "config": "Sherd's own settings",
        "copy": "copies whole hierarchies, moving chunks as they are stored (zarr-python 3 has the name only)",
        "empty_like": "an array like a sharded one is sharded; zarr-python treats the shards as chunks",
        "from_array": "keeps the fill value, so that chunks which the source does not store need not be stored",
        "full_like": "as `empty_like`",
        "load": "a group is returned as a dict of its arrays; `NotFound` if there is no node, and nothing is created",
        "ones_like": "as `empty_like`",
        "open": 'the default mode is `"r"`: nothing is made or changed unasked',
        "open_array": 'the default mode is `"r"`, as for `open`',
        "open_group": 'the default mode is `"r"`, as for `open`; modes that make nothing refuse `attributes`',
        "save": "also accepts lists and numbers",
        "save_array": "also accepts lists and numbers",
        "save_group": "adds to an existing group; zarr-python erases it and everything in it",
        "zeros_like": "as `empty_like`",
    },
    "Group": {
        "__delitem__": "a member that is not there is a `KeyError`, as of a dict",
        "__eq__": "handles are compared by identity; compare `url`",
        "__setitem__": "also accepts lists and numbers; a group at the path is `Conflict` and not erased",
        "keys": "a list, sorted; so are `arrays`, `groups`, `members` and the like",
        "info": "a dict that prints as a table",
        "move": "moves (zarr-python 3 has the name only)",
    },
    "Array": {
        "__eq__": "handles are compared by identity; compare `url`",
        "__getitem__": (
            "also accepts what zarr-python refuses and NumPy accepts: negative steps, `[[], …]`, NumPy's integers next to a list, and a "
            "list next to `...`"
        ),
        "attrs": "NaN and infinities are read, but new ones are refused by name: JSON has none, and some readers do not open such an array",
        "compressors": "JSON objects, as in metadata",
        "filters": "JSON objects, as in metadata",
        "get_basic_selection": "`out` is an ndarray; the same in the other four",
        "info": "a dict that prints as a table",
        "metadata": "the document as a dict",
        "nchunks_initialized": "in a sharded array the inner chunks that are stored; zarr-python counts all of each shard",
        "serializer": "a JSON object, as in metadata",
        "update_attributes": "returns the array itself",
    },
}

# Parameters of zarr-python that Sherd's functions of the same name lack, and why.
PARAMETERS = {
    "cache_attrs": "ignored by zarr-python",
    "cache_metadata": "ignored by zarr-python",
    "chunk_shape": "`chunks`",
    "chunk_store": "ignored by zarr-python",
    "compressor": "`compressors`",
    "dimension_separator": "`chunk_key_encoding`",
    "expand": "ignored by zarr-python",
    "fields": "index what was read",
    "max_nodes": "`level`",
    "meta_array": "ignored by zarr-python",
    "object_codec": "`serializer`",
    "plain": "text without colours is what there is",
    "prototype": "results are NumPy's",
    "read_only": "`mode` of `open_array`",
    "storage_options": "`config={\"storage_options\": …}`",
    "synchronizer": "writers wait for each other anyway",
    "use_consolidated": "consolidated metadata are used where they are",
    "use_consolidated_for_children": "consolidated metadata are used where they are",
    "write_data": "leave `data` out",
    "write_empty_chunks": "`config={\"write_empty_chunks\": …}`",
    "zarr_version": "`zarr_format`",
}
SPECIAL = ("__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__setitem__")
# Defaults that have the same meaning, so that the difference is not reported.
SAME_DEFAULTS = (None, "", "auto", "keep")


class Unexplained(Exception):
    """The explanations do not match the packages."""


def names_of(thing):
    if inspect.ismodule(thing):
        return sorted(name for name in thing.__all__ if not name.startswith("_") and not inspect.isclass(getattr(thing, name)) or "Async" in name)
    return sorted(name for name in dir(thing) if not name.startswith("_") or (name in SPECIAL and name in vars(thing)))


@dataclasses.dataclass(frozen=True)
class Parameter:
    """name: as written by a caller. position: None if it can be given by keyword only. default: REQUIRED if there is
    none."""

    name: str
    position: int | None
    default: object


REQUIRED = inspect.Parameter.empty


def stub_parameters(kind, name):
    """The parameters of an engine method, whose signature is only in the stub."""
    tree = ast.parse((pathlib.Path(sherd.__file__).parent / "_sherd.pyi").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == name:
                    return list(of_stub(each.args))
    return []


def of_stub(args):
    positional = args.args[1:]
    defaults = [REQUIRED] * (len(positional) - len(args.defaults)) + [ast.literal_eval(each) for each in args.defaults]
    for i, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        yield Parameter(arg.arg, i, default)
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(arg.arg, None, REQUIRED if default is None else ast.literal_eval(default))


def of_signature(found):
    """The parameters in order; those accepted through *args and **kwargs are not named."""
    positions = iter(range(len(found)))
    for each in found:
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            yield Parameter(each.name, None if each.kind is each.KEYWORD_ONLY else next(positions), each.default)


def parameters(thing, name, kind=""):
    """The parameters of a function, and whether it accepts any others; None for objects that are not functions."""
    member = inspect.getattr_static(thing, name)
    if isinstance(member, property) or not callable(getattr(thing, name)) or name.startswith("__"):
        return None, False
    try:
        found = list(inspect.signature(getattr(thing, name)).parameters.values())
    except (TypeError, ValueError):
        return stub_parameters(kind, name), False
    more = any(each.kind is each.VAR_KEYWORD for each in found)
    if found and found[0].name == "self":
        found = found[1:]
    return list(of_signature(found)), more


def same_default(theirs, ours):
    theirs = None if type(theirs).__name__ == "DefaultFillValue" else theirs
    return theirs == ours or (theirs in SAME_DEFAULTS and ours in SAME_DEFAULTS)


def shown(default):
    return "none" if default is REQUIRED else f"`{json.dumps(default) if isinstance(default, str) else default}`"


def differences(theirs, ours):
    """What a caller who knows zarr-python's parameters has to write differently, for parameters that both have."""
    has = {each.name: each for each in ours}
    shared = [(each, has[each.name]) for each in theirs if each.name in has]
    keywords = [f"`{their.name}`" for their, our in shared if their.position is not None and our.position is None]
    if keywords:
        yield "by keyword only: " + ", ".join(keywords)
    for their, our in shared:
        if None not in (their.position, our.position) and their.position != our.position:
            yield f"`{their.name}` is argument {our.position + 1}, not {their.position + 1}"
        if not same_default(their.default, our.default):
            yield f"`{their.name}` has the default {shown(our.default)}, not {shown(their.default)}"
    known = {each.name for each in theirs}
    for our in ours:
        if our.name not in known and our.default is REQUIRED:
            yield f"`{our.name}` is needed"


def parameter_notes(theirs, ours, name, kind):
    wanted, _ = parameters(theirs, name)
    has, more = parameters(ours, name, kind)
    if wanted is None or has is None or (name, kind) == ("copy", "zarr"):
        return []
    if more:
        known = {each.name for each in has}
        has = has + [each for each in parameters(sherd, "create_array")[0] if each.name not in known and each.name not in ("store", "name")]
    names = {each.name for each in has}
    missing = sorted(each.name for each in wanted if each.name not in names)
    for each in missing:
        if each not in PARAMETERS:
            raise Unexplained(f"{kind}.{name} has no parameter {each}, and it is not said why")
    notes = ["without " + ", ".join(f"`{each}`" for each in missing)] if missing else []
    return notes + list(differences(wanted, has))


def row(kind, theirs, ours, name):
    """Sherd's counterpart of a name, and the differences; None if there are none."""
    if not hasattr(ours, name):
        if name not in ELSEWHERE[kind]:
            raise Unexplained(f"Sherd has no {kind}.{name}, and it is not said why")
        return ELSEWHERE[kind][name]
    notes = [DIFFERS[kind][name]] if name in DIFFERS[kind] else []
    notes += parameter_notes(theirs, ours, name, kind)
    return "; ".join(notes) or None


def part(kind, theirs, ours):
    names = names_of(theirs)
    for told, there in ((ELSEWHERE[kind], False), (DIFFERS[kind], True)):
        for name in told:
            if name not in names or hasattr(ours, name) != there:
                raise Unexplained(f"{kind}.{name} is explained, and is not as it is said")
    rows = {name: row(kind, theirs, ours, name) for name in names}
    prefix = "zarr." if kind == "zarr" else f"{kind}."
    same = ", ".join(f"`{name}`" for name, note in rows.items() if note is None)
    lines = [f"| {prefix}…: {same} | the same |"]
    lines += [f"| `{prefix}{name}` | {note} |" for name, note in rows.items() if note is not None]
    return lines


def table():
    lines = [f"zarr-python {zarr.__version__}; a name of `zarr.` is one of `sherd.` Of a group or an array it is one of Sherd's.", ""]
    lines += ["| zarr-python | Sherd |", "|---|---|"]
    for kind, theirs, ours in (("zarr", zarr, sherd), ("Group", zarr.Group, sherd.Group), ("Array", zarr.Array, sherd.Array)):
        lines += part(kind, theirs, ours)
    text = "\n".join(lines)
    reasons = [f"| `{name}` | {why} |" for name, why in PARAMETERS.items() if re.search(rf"without [^|]*`{name}`", text)]
    if len(reasons) != len(PARAMETERS):
        raise Unexplained("a parameter is explained that Sherd has: " + ", ".join(set(PARAMETERS) - set(re.findall(r"`(\w+)`", "".join(reasons)))))
    check_names(text)
    return "\n".join([text, "", "| parameter that Sherd does not have | instead |", "|---|---|", *reasons, ""])


def check_names(text):
    """Fails if the table refers to a name that does not exist."""
    for name in re.findall(r"`sherd\.(\w+)", text):
        if not hasattr(sherd, name):
            raise Unexplained(f"there is no sherd.{name}")
    for kind, name in re.findall(r"`(group|array)\.(\w+)", text):
        if not hasattr({"group": sherd.Group, "array": sherd.Array}[kind], name):
            raise Unexplained(f"there is no {kind}.{name}")


def with_table(page):
    """The text of the page with the current table."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
