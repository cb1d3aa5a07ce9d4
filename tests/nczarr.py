"""Writes one dataset twice: as CDL, from which ncgen makes a netCDF-4 file, and as the documents of NCZarr."""

import json
import subprocess

import numpy as np

TYPES = {"byte": ("<i1", "b"), "char": (">S1", ""), "short": ("<i2", "s"), "int": ("<i4", ""), "float": ("<f4", "f"),
         "double": ("<f8", ""), "ubyte": ("<u1", "UB"), "ushort": ("<u2", "US"), "uint": ("<u4", "U"),
         "int64": ("<i8", "LL"), "uint64": ("<u8", "ULL"), "string": ("|S32", "")}
FILLS = {"byte": -127, "char": "", "short": -32767, "int": -2147483647, "float": 9.969209968386869e+36,
         "double": 9.969209968386869e+36, "ubyte": 255, "ushort": 65535, "uint": 4294967295,
         "int64": -9223372036854775806, "uint64": 18446744073709551614, "string": ""}
SPECIAL = " !\"#$&'()*,:;<=>?[]\\^`{|}~"


class Dataset:
    """`dimensions`: name -> length, or (length,) if unlimited; `variables`: name -> (type, dimension names, values,
    attributes); `attributes`: name -> (type, list of values or text); `groups`: name -> Dataset."""

    def __init__(self, dimensions=None, variables=None, attributes=None, groups=None):
        self.dimensions, self.variables = dimensions or {}, variables or {}
        self.attributes, self.groups = attributes or {}, groups or {}


def name(text):
    escaped = "".join("\\" + c if c in SPECIAL else c for c in text)
    return "\\" + escaped if text[0].isdigit() else escaped


def quoted(text):
    data = text.encode() if isinstance(text, str) else text
    out = ""
    for byte in data:
        c = chr(byte)
        out += "\\" + c if c in "\"\\" else c if 32 <= byte < 127 else f"\\{byte:03o}"
    return f'"{out}"'


def literal(kind, value):
    if kind in ("char", "string"):
        return quoted(value)
    suffix = TYPES[kind][1]
    if kind in ("float", "double"):
        text = "NaN" if np.isnan(value) else ("-" if value < 0 else "") + "Infinity" if np.isinf(value) else repr(float(value))
        return text + suffix
    return f"{value}{suffix}"


def cdl_attributes(owner, attributes):
    for key, (kind, values) in attributes.items():
        values = values if isinstance(values, list) else [values]
        typed = "string " if kind == "string" else ""
        yield f"{typed}{name(owner) + ' ' if owner else ''}:{name(key)} = {', '.join(literal(kind, v) for v in values)} ;"


def cdl_values(dataset, kind, dims, values):
    if kind == "char":  # a text for each row
        return ", ".join(quoted(row) for row in values)
    flat = np.array(values, dtype=object).ravel().tolist()
    if any(isinstance(dataset.dimensions.get(d), tuple) for d in dims[1:]):
        nested = np.array(values, dtype=object)

        def braced(part, level):
            inner = ", ".join(braced(p, level + 1) if isinstance(p, np.ndarray) else literal(kind, p) for p in part)
            return "{" + inner + "}" if level > 0 and isinstance(dataset.dimensions.get(dims[level]), tuple) else inner
        return braced(nested, 0)
    return ", ".join("_" if v is None else literal(kind, v) for v in flat)


def cdl(dataset, title="x", known=None, depth=0):
    known = dict(known or {}) | {k: v[0] if isinstance(v, tuple) else v for k, v in dataset.dimensions.items()}
    lines = [f"netcdf {name(title)} {{" if depth == 0 else f"group: {name(title)} {{"]
    if dataset.dimensions:
        lines.append("dimensions:")
        lines += [f"{name(k)} = {'UNLIMITED' if isinstance(v, tuple) else v} ;" for k, v in dataset.dimensions.items()]
    if dataset.variables:
        lines.append("variables:")
        for key, (kind, dims, _, attributes) in dataset.variables.items():
            shape = f"({', '.join(name(d) for d in dims)})" if dims else ""
            lines += [f"{kind} {name(key)}{shape} ;", *cdl_attributes(key, attributes)]
    lines += cdl_attributes("", dataset.attributes)
    if any(values is not None for _, _, values, _ in dataset.variables.values()):
        lines.append("data:")
        for key, (kind, dims, values, _) in dataset.variables.items():
            if values is not None:
                lines.append(f"{name(key)} = {cdl_values(dataset, kind, dims, values)} ;")
    for key, group in dataset.groups.items():
        lines += cdl(group, key, known, depth + 1)
    return [*lines, "}"] if depth else "\n".join([*lines, "}"]) + "\n"


def number(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "-Infinity" if value < 0 else "Infinity"
    return value


def stored_attributes(attributes, extra):
    stored, types = {}, {}
    for key, (kind, values) in attributes.items():
        values = [number(v) for v in values] if isinstance(values, list) else [number(values)]
        stored[key] = values[0] if len(values) == 1 else values
        types[key] = TYPES[kind][0]
    return stored | extra | {"_nczarr_attr": {"types": types}}


def chunk_bytes(kind, values, shape):
    dtype = TYPES[kind][0]
    if kind == "char":
        return b"".join(row.ljust(shape[-1], b"\0") for row in values)
    if kind == "string":
        values = np.array([v.encode() if isinstance(v, str) else v for v in np.array(values, dtype=object).ravel()], dtype=dtype)
    else:
        flat = np.array(values, dtype=object).ravel()
        values = np.array([FILLS[kind] if v is None else v for v in flat], dtype=dtype)
    return values.reshape(shape).tobytes()


def write(dataset, folder, path="", known=None):
    """As netcdf-c 4.9.1 would write it, with all digits of floats."""
    known = dict(known or {})
    for key, length in dataset.dimensions.items():
        known[key] = (f"{path}/{key}", length[0] if isinstance(length, tuple) else length)
    folder.mkdir(parents=True)
    unlimited = {k: {"size": v[0], "unlimited": 1} if isinstance(v, tuple) else v for k, v in dataset.dimensions.items()}
    note = {"dims": {k: known[k][1] for k in dataset.dimensions}, "vars": list(dataset.variables), "groups": list(dataset.groups)}
    group = {"zarr_format": 2, "_nczarr_group": note}
    if not path:
        group["_nczarr_superblock"] = {"version": "2.0.0"}
    extra = {"_nczarr_group": {"dimensions": unlimited, "arrays": note["vars"], "groups": note["groups"]}}
    (folder / ".zgroup").write_text(json.dumps(group))
    (folder / ".zattrs").write_text(json.dumps(stored_attributes(dataset.attributes, extra), ensure_ascii=False))
    for key, (kind, dims, values, attributes) in dataset.variables.items():
        shape = [known[d][1] for d in dims] or [1]
        array = folder / key
        array.mkdir()
        fill = attributes.get("_FillValue", (kind, FILLS[kind]))[1]
        chunks = [max(1, n) for n in shape]
        document = {"zarr_format": 2, "shape": shape, "dtype": TYPES[kind][0], "chunks": chunks,
                    "fill_value": number(fill), "order": "C", "compressor": None, "filters": None, "_nczarr_array":
                    {"dimrefs": [known[d][0] for d in dims], "storage": "chunked" if dims else "scalar"}}
        (array / ".zarray").write_text(json.dumps(document))
        (array / ".zattrs").write_text(json.dumps(stored_attributes(attributes, {}), ensure_ascii=False))
        if values is not None and np.prod(shape) > 0:
            (array / ".".join("0" * len(shape))).write_bytes(chunk_bytes(kind, values, shape))
    for key, inner in dataset.groups.items():
        write(inner, folder / key, f"{path}/{key}", known)


def netcdf4_file(dataset, path):
    source = path.with_suffix(".cdl")
    source.write_text(cdl(dataset, path.stem))
    subprocess.run(["ncgen", "-4", "-o", path, source], check=True)
