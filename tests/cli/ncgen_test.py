"""ncgen: a dataset made from CDL is, printed again, what netcdf-c's ncgen and ncdump make of the same text."""

import pathlib
import random
import re
import signal
import subprocess

import netCDF4
import numpy
import pytest
from nczarr import cdl
from netcdf_datasets import DATASETS

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "data/nczarr"


def of_netcdf_c(folder, text):
    """What ncdump prints of the netCDF-4 file that ncgen makes."""
    (folder / "peer.cdl").write_text(text)
    subprocess.run(["ncgen", "-4", "-o", folder / "x.nc", folder / "peer.cdl"], check=True)
    return subprocess.run(["ncdump", folder / "x.nc"], check=True, capture_output=True).stdout.decode()


def of_sherd(sherd, text, *options):
    sherd.ok("ncgen", *options, "-o", "x.zarr", input=text.encode())
    return sherd.ok("ncdump", "x.zarr").text


@pytest.mark.parametrize("name", DATASETS)
def test_a_dataset_is_printed_as_by_netcdf_c(sherd, tmp_path, name):
    text = cdl(DATASETS[name])
    assert of_sherd(sherd, text) == of_netcdf_c(tmp_path, text)


@pytest.mark.parametrize("name", ["every_type", "unlimited", "groups", "names"])
def test_what_ncdump_prints_makes_the_same_dataset_again(sherd, name):
    # Text among data may have newlines, at which ncdump begins another text.
    text = of_sherd(sherd, cdl(DATASETS[name]).replace("\\012", " "))
    assert of_sherd(sherd, text) == text


def test_names_that_ncdump_prints_are_read_again(sherd, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("d%1", 1)
        for c in map(chr, range(33, 127)):
            if c != "/":
                file.createVariable(f"v{ord(c)}_{c}z", "i4", ("d%1",)).setncattr(f"a{c}", 1)
                file.createVariable(f"v{ord(c)}_{c}", "i4", ("d%1",))
    text = subprocess.run(["ncdump", tmp_path / "x.nc"], check=True, capture_output=True).stdout.decode()
    assert sherd.ok("ncdump", "x.nc").text == text
    assert of_sherd(sherd, text) == text


def test_names_that_are_words_of_cdl_are_printed_and_read_again(sherd, tmp_path):
    names = ["variable", "variables", "dimension", "dimensions", "data", "group", "types", "v"]
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        for name in names:
            file.createVariable(name, "i4").a = numpy.int32(1)
    text = subprocess.run(["ncdump", tmp_path / "x.nc"], check=True, capture_output=True).stdout.decode()
    assert sherd.ok("ncdump", "x.nc").text == text
    assert of_sherd(sherd, text) == text


def test_a_full_text_that_ends_in_a_newline_is_read_again_from_ncdump(sherd):
    text = of_sherd(sherd, 'netcdf x {\ndimensions:\n\tn = 3 ;\nvariables:\n\tchar c ;\n\tchar d(n) ;\ndata:\n c = "\\n" ;\n d = "ab\\n" ;\n}\n')
    assert text.count('\\n",\n    ""') == 2
    assert of_sherd(sherd, text) == text


@pytest.mark.parametrize("name", ["every_type", "unlimited", "groups"])
def test_zarr_v3_holds_the_same_dataset(sherd, name):
    text = cdl(DATASETS[name])
    expected = of_sherd(sherd, text)
    sherd.ok("ncgen", "--store-format", "zarr3", "-o", "3/x.zarr", input=text.encode())
    assert sherd.ok("info", "--json", "3/x.zarr").json["format"] == "zarr3"
    assert sherd.ok("ncdump", "3/x.zarr").text == expected


# Debian's netcdf-c does not have these filters; elements without fill values are whatever was in memory; and texts that NCZarr cuts
# are whole in a file.
PEERS_LACK = [r'\w+:_Filter = "[^"]*" ;', r'nofill:_NoFill = "true" ;', r"\w+:_nczarr_maxstrlen = \d+ ;", r":_nczarr_default_maxstrlen = \d+ ;"]


@pytest.mark.parametrize("sample", ["4.9.0/all.cdl", "all3.cdl", "all4.cdl"])
def test_a_sample_is_printed_as_by_netcdf_c(sherd, tmp_path, sample):
    text = (SAMPLES / sample).read_text()
    for pattern in PEERS_LACK:
        text = re.sub(pattern, "", text)
    assert of_sherd(sherd, text) == of_netcdf_c(tmp_path, text)


def test_long_texts_are_refused_or_cut_between_characters_with_a_warning(sherd):
    refused = sherd("ncgen", "-o", "x.zarr", SAMPLES / "all4.cdl")
    assert refused.code == 2 and "--truncate" in refused.stderr and "'vstr' has a text of 31 bytes" in refused.stderr
    ran = sherd.ok("ncgen", "--truncate", "-o", "x.zarr", SAMPLES / "all4.cdl")
    assert "/vstr8: 2 texts are longer than 8 bytes (_nczarr_maxstrlen) and cut to that" in ran.stderr
    assert 'vstr8 = "abc", "01234567", _, "größee" ;' in sherd.ok("ncdump", "x.zarr").text
    silent = sherd.ok("ncgen", "-o", "y.zarr#compat=seed", SAMPLES / "all4.cdl")
    assert silent.stderr == ""


INTEGERS = {"byte": ("b", -128, 127), "short": ("s", -32768, 32767), "int": ("", -2147483648, 2147483647), "int64": ("LL", -(2**63), 2**63 - 1),
            "ubyte": ("UB", 0, 255), "ushort": ("us", 0, 65535), "uint": ("U", 0, 2**32 - 1), "uint64": ("ull", 0, 2**64 - 1)}
NAMES = ["a", "temp_2m", "größe", r"two\ words", r"\1st", r"a\(b\)", "x.y-z+1@k", "data", "types", r"q\\uote\"", "é", "Float", "_hidden"]


class Generator:
    """CDL by chance, of what both programs read alike."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.used = 0

    def space(self):
        return self.random.choice([" ", " ", " ", "\n", "\t", "  // a comment = \"\n", " /* { */ "])

    def name(self):
        self.used += 1
        return f"{self.random.choice(NAMES)}{self.used}"

    def real(self):
        value = self.random.choice([self.random.uniform(-10, 10), self.random.uniform(-1e30, 1e30), 0.0, 0.1, float(self.random.randrange(1000))])
        return self.random.choice([repr(value), f"{value:.3e}", f"{value:+.2f}", "NaN", "Infinity", "-Infinity", "1.", ".5"])

    def number(self, kind, plain=False):
        if kind in ("float", "double"):
            text = self.real()
            return text if plain or kind == "double" else text + "f"
        suffix, low, high = INTEGERS[kind]
        value = self.random.choice([low, high, 0, 1, self.random.randint(low, high), max(low, -7)])
        if value == low and kind in ("int", "int64"):
            value += 1  # ncgen reads these in other ways by kind
        if self.random.random() < 0.1 and value > 0 and not plain:
            return f"0{value:o}{suffix}"
        plain = plain and kind not in ("int64", "uint64")
        return f"{value}{'' if plain and value < 2**31 else suffix}"

    def text(self, longest):
        letters = ["a", "b", " ", "z", "é", "\\t", "\\\"", "\\\\", "\\101", "'", "\\a", "//", "{"]
        text, size = "", 0
        for letter in self.random.choices(letters, k=self.random.randint(1, 6)):
            size += 2 if letter in ("é", "//") else 1
            if size > longest:
                break
            text += letter
        return f'"{text or "q"}"'

    def attribute(self, owner):
        name, kind = self.name(), self.random.choice([*INTEGERS, "float", "double", "char", "string"])
        if kind in ("char", "string"):
            texts = [self.text(20) for _ in range(self.random.randint(1, 3))]
            return f"{kind + ' ' if kind == 'string' or self.random.random() < 0.3 else ''}{owner} :{name} ={self.space()}{', '.join(texts)} ;"
        values = [self.number(kind) for _ in range(self.random.randint(1, 4))]
        return f"{kind + ' ' if self.random.random() < 0.5 else ''}{owner} :{name} = {(',' + self.space()).join(values)} ;"

    def values(self, kind, count):
        def one():
            if self.random.random() < 0.1:
                return "_"
            return self.text(30) if kind == "string" else self.number(kind, plain=self.random.random() < 0.5)
        return ("," + self.space()).join(one() for _ in range(count))

    def data(self, kind, lengths):
        """`lengths` are those of the dimensions, None for unlimited ones."""
        if not lengths:
            return self.text(1) if kind == "char" else self.values(kind, 1)
        if kind == "char":
            row = lengths[-1] or 4
            rows = 1
            for n in lengths[:-1]:
                rows *= n or 2
            full = [f'"{"".join(self.random.choices("abcxyz", k=row))}"' for _ in range(rows - 1)]
            return ", ".join([*full, self.text(row)])
        inner = [d for d in range(1, len(lengths)) if lengths[d] is None]
        if not inner:
            total = 1
            for n in lengths:
                total *= n or 3
            return self.values(kind, self.random.randint(1, total))
        first, items = inner[0], 1
        for n in lengths[:first]:
            items *= n or 2
        return ", ".join("{" + self.data(kind, [None, *lengths[first + 1:]]) + "}" for _ in range(self.random.randint(1, items)))

    def group(self, depth, known):
        known, lines = dict(known), []
        dimensions = {self.name(): self.random.choice([1, 2, 3, 5, None]) for _ in range(self.random.randint(0, 4))}
        known |= dimensions
        if dimensions:
            lines.append("dimensions:" + self.space() + " ".join(f"{k} = {v or 'unlimited'} ;" for k, v in dimensions.items()))
        variables = {}
        for _ in range(self.random.randint(0, 5)):
            kind = self.random.choice([*INTEGERS, "float", "double", "char", "string"])
            dims = self.random.choices(list(known), k=self.random.randint(0, 3)) if known else []
            if any(known[d] is None for d in dims):  # ncgen ends where more than values of the last dimension are missing
                dims = dims[:2]
            if kind == "char":  # braces around characters are read in another way
                dims = [d for i, d in enumerate(dims) if i == 0 or known[d] is not None]
            variables[self.name()] = kind, dims
        if variables:
            lines.append("variables:")
        for name, (kind, dims) in variables.items():
            lines.append(f"{kind}{self.space()}{name}{'(' + ', '.join(dims) + ')' if dims else ''} ;")
            lines += [self.attribute(name) for _ in range(self.random.randint(0, 3))]
            if self.random.random() < 0.3 and kind not in ("string", "char"):
                lines.append(f"{name} :_FillValue = {self.number(kind)} ;")
        lines += [self.attribute("") for _ in range(self.random.randint(0, 2))]
        given = {name: of for name, of in variables.items() if self.random.random() < 0.8}
        if given:
            lines.append("data:")
        lines += [f"{name} ={self.space()}{self.data(kind, [known[d] for d in dims])} ;" for name, (kind, dims) in given.items()]
        for _ in range(self.random.randint(0, 2) if depth < 3 else 0):
            lines += [f"group: {self.name()} {{", *self.group(depth + 1, known), "}"]
        return lines

    def dataset(self):
        return "\n".join(["netcdf x {", *self.group(0, {}), "}", ""])


@pytest.mark.parametrize("seed", range(60))
def test_cdl_by_chance_is_printed_as_by_netcdf_c(sherd, tmp_path, seed):
    text = Generator(seed).dataset()
    assert of_sherd(sherd, text) == of_netcdf_c(tmp_path, text)


SMALL = "netcdf small { dimensions: x = 2, t = unlimited ; variables: int v(t, x) ; data: v = 1, 2, 3, 4 ; }"


def test_without_an_output_the_text_is_only_checked(sherd, tmp_path):
    (tmp_path / "small.cdl").write_text(SMALL)
    assert sherd.ok("ncgen", "small.cdl").text == ""
    assert sherd("ncgen", input=b"netcdf x { :a = ; } }").code == 4
    assert [p.name for p in tmp_path.iterdir()] == ["small.cdl"]


@pytest.mark.parametrize("options", [["-b"], ["-lb"], ["-l", "b"], ["-4"], ["-k", "nc4"], ["-k", "netCDF-4 classic model"], ["-3"], ["-5"], ["-6"], ["-7"]],
                         ids="".join)
def test_the_default_output_is_named_after_the_file(sherd, tmp_path, options):
    (tmp_path / "sub.dir").mkdir()
    (tmp_path / "sub.dir/ocean.v1.cdl").write_text(SMALL)
    sherd.ok("ncgen", *options, "sub.dir/ocean.v1.cdl")
    assert "v = \n" not in sherd.ok("ncdump", "ocean.v1.nc").text and (tmp_path / "ocean.v1.nc").is_file()


def test_the_default_output_of_standard_input_is_named_after_the_dataset(sherd, tmp_path):
    sherd.ok("ncgen", "-b", input=SMALL.encode())
    sherd.ok("ncgen", "-b", "-N", "other", "-", input=SMALL.encode())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.nc", "small.nc"]
    assert sherd("ncgen", "-b", input=b"netcdf a/b { }").code == 2


def test_a_url_says_how_the_dataset_is_written(sherd, tmp_path):
    sherd.ok("ncgen", "-o", f"file://{tmp_path}/x.zarr#mode=zarr,file", input=SMALL.encode())
    assert "_nczarr" not in "".join(p.read_text() for p in tmp_path.rglob(".z*"))
    assert "v" in sherd.ok("ncdump", "x.zarr").text
    assert sherd("ncgen", "-o", "x.zarr#mode=nczarr,zip", input=SMALL.encode()).code == 2  # a directory
    ran = sherd("ncgen", "-o", "y.zarr#mode=zar", input=SMALL.encode())
    assert ran.code == 2 and "the mode 'zar' is unknown; choose from nczarr, zarr" in ran.stderr and not (tmp_path / "y.zarr").exists()


def test_shards_are_an_option_of_zarr_v3(sherd):
    text = ("netcdf x { dimensions: t = unlimited ; x = 4 ; variables: int v(t, x) ; v:_ChunkSizes = 2, 2 ; int w(x) ; string s(t) ;\n"
            'data: v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ; w = 1, 2, 3, 4 ; s = "a", "b", "c" ; }')
    sherd.ok("ncgen", "-o", "plain.zarr", input=text.encode())
    sherd.ok("--store-format", "zarr3", "ncgen", "--shards", "t/5,x/", "-o", "x.zarr", input=text.encode())
    info = {name: sherd.ok("info", "--json", f"x.zarr/{name}").json for name in "vws"}
    assert (info["v"]["chunks"], info["v"]["shards"]) == ([2, 2], [6, 4])
    assert info["w"]["shards"] == [4] and info["s"]["shards"] is not None
    assert sherd.ok("ncdump", "-n", "x", "x.zarr").text == sherd.ok("ncdump", "-n", "x", "plain.zarr").text
    for options, message in ((["--shards", "t/5"], "add --store-format zarr3"), (["--store-format", "zarr3", "--shards", "nope:"], "no variable 'nope'")):
        ran = sherd("ncgen", *options, "-o", "y.zarr", input=text.encode())
        assert ran.code in (2, 3) and message in ran.stderr, ran.stderr


def test_the_header_alone_has_no_data(sherd):
    sherd.ok("ncgen", "-H", "-o", "x.zarr", input=SMALL.encode())
    assert "t = UNLIMITED ; // (0 currently)" in sherd.ok("ncdump", "x.zarr").text
    assert sherd("ncgen", "-H", "-o", "x.zarr", input=SMALL.replace("4 ;", "4 4 ;").encode()).code == 4


def test_without_fill_values_is_an_option(sherd):
    sherd.ok("ncgen", "-x", "--no-durable", "-o", "x.zarr", input=SMALL.encode())
    assert '_NoFill = "true"' in sherd.ok("ncdump", "-h", "-s", "x.zarr").text


@pytest.mark.parametrize("options", [["-3"], ["-6"], ["-7"], ["-5"], ["-k", "nc3"], ["-k", "cdf5"], ["-k", "64-bit offset"]], ids="".join)
def test_a_smaller_data_model_is_refused_what_it_lacks(sherd, tmp_path, options):
    ran = sherd("ncgen", *options, "-o", "x.zarr", input=b"netcdf x {\nvariables:\n  string s ;\n}")
    assert ran.code == 2 and "line 3, column 10: 's' is of the type string" in ran.stderr
    assert not list(tmp_path.iterdir())


def test_other_languages_and_kinds_are_refused(sherd, tmp_path):
    for language in ("c", "C", "f77", "java", "perl"):
        ran = sherd("ncgen", "-l", language, input=SMALL.encode())
        assert ran.code == 5 and f"-l {language} prints a program" in ran.stderr
    assert sherd("ncgen", "-k", "nc9", input=SMALL.encode()).code == 2
    assert sherd("ncgen", "none.cdl").code == 3
    assert sherd("ncgen", tmp_path).code == 7
    assert not list(tmp_path.iterdir())


def test_an_error_names_file_line_and_column(sherd, tmp_path):
    (tmp_path / "bad.cdl").write_text("netcdf x {\nvariables:\n\tint größe(y) ;\n}")
    assert sherd("ncgen", "bad.cdl").stderr == "sherd: 'bad.cdl': line 3, column 12: the dimension 'y' is not defined\n"
    error = sherd("ncgen", "--json", input=b"netcdf x { types: opaque(2) raw ; }").error
    assert error["code"] == "unsupported" and "line 1, column 29: the type 'raw' is opaque" in error["message"]


@pytest.mark.parametrize(("attribute", "column", "message"), [
    ('v:a = 1, "x"', 10, "v:a: the values of an attribute are all texts or all numbers"),
    ("byte v:a = 300", 12, "v:a: 300 does not fit into the type byte"),
    ("v:a = 99999999999999999999999", 7, "v:a: the number 99999999999999999999999 is out of range"),
    ('int v:a = "x"', 11, "v:a: a number of the type int is expected, not a text"),
    ("v:a = 1, q", 10, "v:a: a value is expected, not 'q'"),
    ("v:_FillValue = 1, 2", 16, "v:_FillValue: must be one value of the type int"),
    ("v:_ChunkSizes = 5", 17, "v:_ChunkSizes: the chunk length 5 is greater than the length of 'n', 3"),
    ('byte :big = 1, 300', 13, ":big: 300 does not fit into the type byte")])
def test_an_error_of_an_attribute_names_it_after_its_position(sherd, attribute, column, message):
    ran = sherd("ncgen", input=f"netcdf x {{ dimensions: n = 3 ; variables: int v(n) ;\n{attribute} ; }}".encode())
    assert ran.code == 4 and f"standard input: line 2, column {column}: {message}" in ran.stderr, ran.stderr


def test_an_existing_dataset_is_replaced_and_other_files_are_kept(sherd, tmp_path):
    sherd.ok("ncgen", "-o", "x.zarr", input=b"netcdf x { variables: int old ; }")
    sherd.ok("ncgen", "-o", "x.zarr", input=SMALL.encode())
    assert not (tmp_path / "x.zarr/old").exists()
    (tmp_path / "x.zarr/readme.txt").write_text("keep me")
    assert sherd("ncgen", "-o", "x.zarr", input=SMALL.encode()).code == 6
    (tmp_path / "y.nc").write_bytes(b"CDF\x01")
    assert sherd("ncgen", "-o", "y.nc", input=SMALL.encode()).code != 0
    assert (tmp_path / "y.nc").read_bytes() == b"CDF\x01" and (tmp_path / "x.zarr/readme.txt").exists()


@pytest.mark.parametrize("old, new", [("zarr2", "zarr3"), ("zarr3", "zarr2")])
def test_a_dataset_in_the_other_version_is_replaced_and_files_are_kept(sherd, tmp_path, old, new):
    sherd.ok("ncgen", "--store-format", old, "-o", "x.zarr", input=cdl(DATASETS["groups"]).encode())
    text = of_sherd(sherd, cdl(DATASETS["every_type"])) and sherd.ok("ncdump", "-n", "y", "x.zarr").text
    sherd.ok("ncgen", "--store-format", old, "-o", "y.zarr", input=cdl(DATASETS["groups"]).encode())
    sherd.ok("ncgen", "--store-format", new, "-o", "y.zarr", input=cdl(DATASETS["every_type"]).encode())
    assert sherd.ok("ncdump", "y.zarr").text == text and sherd.ok("info", "--json", "y.zarr").json["format"] == new
    assert sherd.ok("check", "y.zarr").text.startswith("ok")
    kept = "zarr.json" if old == "zarr3" else ".zgroup"
    assert not list((tmp_path / "y.zarr").rglob(kept))
    (tmp_path / "y.zarr/note.txt").write_text("mine")
    refused = sherd("ncgen", "--store-format", old, "-o", "y.zarr", input=cdl(DATASETS["groups"]).encode())
    assert refused.code == 6 and "note.txt" in refused.stderr and sherd.ok("ncdump", "y.zarr").text == text


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@pytest.mark.parametrize("name", [r"\!x", r"a\ ", r"\-x", r"\ a", "v" * 250, "v" * 257, "é" * 150, "zarr.json"])
def test_a_name_that_cannot_be_stored_keeps_the_existing_dataset(sherd, tmp_path, format, name):
    sherd.ok("ncgen", "--store-format", format, "-o", "x.zarr", input=b"netcdf x { dimensions: q = 1 ; variables: int q(q) ; data: q = 5 ; }")
    before = sherd.ok("ncdump", "x.zarr").text
    text = f"netcdf x {{ dimensions: q = 1 ;\nvariables: int b(q) ;\n int {name}(q) ; }}".encode()
    for output in (["-o", "x.zarr"], []):
        ran = sherd("ncgen", "--store-format", format, *output, input=text)
        assert ran.code == 2 and "standard input: line 3, column 6: " in ran.stderr and "name" in ran.stderr, ran.stderr
    assert sherd.ok("ncdump", "x.zarr").text == before and sherd.ok("check", "x.zarr").code == 0


def test_a_dataset_that_cannot_be_written_leaves_nothing_behind(sherd, tmp_path):
    text = SMALL.replace("data:", 'v:_DeflateLevel = 1 ; v:_Fletcher32 = "true" ; data:')
    ran = sherd("ncgen", "-o", "x.zarr", input=text.encode())
    assert ran.code == 5 and "standard input: line 1, column 66" in ran.stderr
    assert not list(tmp_path.iterdir())
    assert sherd("ncgen", input=text.encode()).code == 5, "the check alone finds it, too"
    sherd.ok("ncgen", "-o", "x.zarr", input=SMALL.encode())
    before = sorted(tmp_path.rglob("*"))
    assert sherd("ncgen", "-o", "x.zarr", input=text.encode()).code == 5
    assert sorted(tmp_path.rglob("*")) == before


def test_names_that_zarr_v3_reserves_are_refused_there(sherd, tmp_path):
    text = "netcdf x { dimensions: x = 2 ;\n  variables: int __v(x) ; }"
    reserved = "Zarr v3 reserves names that begin with '__'; choose another name, or Zarr v2"
    ran = sherd("ncgen", "--store-format", "zarr3", "-o", "x.zarr", input=text.encode())
    assert ran.code == 2 and "line 2, column 18: '__v'" in ran.stderr and reserved in ran.stderr
    sherd.ok("ncgen", "-o", "x.zarr", input=text.encode())
    ran = sherd("nccopy", "--store-format", "zarr3", "x.zarr", "y.zarr")
    assert ran.code == 2 and "/__v: " in ran.stderr and reserved in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.zarr"]
    assert "int __v(x) ;" in sherd.ok("ncdump", "x.zarr").text


def test_an_interrupted_run_leaves_nothing_behind(sherd, start, tmp_path):
    (tmp_path / "big.cdl").write_text("netcdf x { dimensions: t = unlimited, x = 1 ; variables: byte v(t, x), w(t, x) ; data: v = "
                                      + "1, " * 200000 + "1 ; w = " + "2, " * 200000 + "2 ; }")
    process = start("ncgen", "-o", "x.zarr", "big.cdl")
    while process.poll() is None and len(list(tmp_path.glob("x.zarr/.sherd-new-*/node/v/*"))) <= 3:
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130 and b"interrupted" in process.stderr.read()
    assert [p.name for p in tmp_path.iterdir()] == ["big.cdl"]


HOSTILE = {
    "nothing": b"", "zeros": b"\0" * 1000, "bytes": bytes(range(256)) * 10, "a png": b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "utf-16": SMALL.encode("utf-16"),
    "braces": b"netcdf x {" * 50000, "groups": b"netcdf x {" + b"group: g {" * 50000, "no end": b"netcdf x { :a = \"" + b"a" * 1000000,
    "comment": b"netcdf x { /*" + b"*" * 1000000, "name": b"netcdf x { :" + b"a" * 1000000 + b"\xff = 1 ; }", "digits": b"netcdf x { :a = " + b"9" * 1000000 + b" ; }",
    "lists": b"netcdf x { dimensions: t = unlimited, u = unlimited ; variables: int v(t, u) ; data: v = " + b"{" * 100000,
    "lengths": b"netcdf x { dimensions: a = 4611686018427387904 ; variables: double v(a, a, a, a) ; }",
    "long": b"netcdf x { dimensions: a = 4611686018427387905 ; }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_and_leaves_nothing(sherd, tmp_path, name):
    ran = sherd("ncgen", "-o", "x.zarr", input=HOSTILE[name])
    assert ran.code in (2, 4, 5) and "standard input: line " in ran.stderr and len(ran.stderr) < 600
    assert not list(tmp_path.iterdir())


def test_memory_follows_the_length_of_the_text(sherd):
    text = b"netcdf x { dimensions: a = 3000000, b = 1000000 ; variables: double v(a, b) ; v:_ChunkSizes = 1, 200000 ; data: v = " + b"1," * 999999 + b"1 ; }"
    peak = sherd.ok("ncgen", "-o", "x.zarr", "--stats", input=text).stderr
    assert int(re.search(r'"peak_rss": ?(\d+)', peak).group(1)) < 100 * 2**20 + 30 * len(text)


def test_ncdump_of_a_quantized_variable_makes_the_dataset_again(sherd, tmp_path):
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 4)
        file.createVariable("q", "f4", ("x",), zlib=True, significant_digits=3)[:] = [1.234567, 2, 3, 4]
    sherd.ok("nccopy", "x.nc", "y.zarr")
    text = sherd.ok("ncdump", "-n", "x", "y.zarr").text
    assert "q:_QuantizeBitGroomNumberOfSignificantDigits = 3 ;" in text
    ran = sherd("ncgen", "-o", "z.zarr", input=text.encode())
    assert ran.code == 0 and "is kept as an attribute, but values are stored as they are" in ran.stderr
    assert sherd.ok("ncdump", "-n", "x", "z.zarr").text == text


def test_ncdump_of_a_file_in_latin_1_is_read_as_nccopy_reads_the_file(sherd, tmp_path):
    (tmp_path / "x.cdl").write_bytes(b'netcdf x { variables: int v ; v:units = "\xb0C" ; :title = "\xc2\xb0" ; data: v = 1 ; }')
    subprocess.run(["ncgen", "-3", "-o", tmp_path / "x.nc", tmp_path / "x.cdl"], check=True)
    sherd.ok("nccopy", "x.nc", "y.zarr")
    printed = subprocess.run(["ncdump", tmp_path / "x.nc"], check=True, capture_output=True).stdout
    ran = sherd("ncgen", "-o", "z.zarr", input=printed)
    assert ran.code == 0 and "warning: standard input: line 4: not valid UTF-8" in ran.stderr
    assert sherd.ok("ncdump", "-n", "x", "z.zarr").text == sherd.ok("ncdump", "-n", "x", "y.zarr").text
