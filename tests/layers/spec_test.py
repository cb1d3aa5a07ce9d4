"""Checks that the pages in docs/spec cite tests that exist. Errors name page and line.

- Every row of a table names a test that proves it, or says "not yet" and why.
- Every file, test and CTest test that is cited exists, so that a renamed test is noticed.
- docs/SPEC.md links every page.

It first checks with small documents that each rule can fail.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CITED = re.compile(r"`([^`\s]+\.(?:cc|py))(?:::|: )([^`]+)`")
CTEST = re.compile(r"`ctest ([^`]+)`")
SCRIPT = re.compile(r"`((?:script|\.ci)/[\w-]+)`")


def names_in(path):
    """The names that a file's tests can be cited by."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return set(re.findall(r"^def (test_\w+)\(", text, re.M))
    return {".".join(names) for names in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.M)}


def ctests():
    """The tests that CTest runs in addition to the C++ tests."""
    text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    names = {name for name in re.findall(r"add_test\(NAME (\S+)", text) if "$" not in name}
    names |= {"package/" + way for ways in re.findall(r"foreach\(way ([^)]+)\)", text) for way in ways.split()}
    return names | {"fuzz/" + path.stem for path in (ROOT / "fuzz").glob("*.cpp")}


def citations(line):
    """(citation, whether it exists) for each citation of a line."""
    for name, listed in CITED.findall(line):
        path = ROOT / "tests" / name
        known = names_in(path) if path.is_file() else set()
        for test in re.split(r",\s*", listed):
            yield f"{name}: {test}", test in known
    for test in CTEST.findall(line):
        yield f"ctest {test}", test in ctests()
    for script in SCRIPT.findall(line):
        yield script, (ROOT / script).is_file()


def faults(text, page="page"):
    for number, line in enumerate(text.splitlines(), 1):
        cited = list(citations(line))
        for name, exists in cited:
            if not exists:
                yield f"{page}:{number}: {name}: this test does not exist"
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)][1:-1]
        if len(cells) < 2 or set(cells[0]) <= set("-: ") or cells[-1] == "proof":
            continue
        if not cited and not re.match(r"not yet: \S|not in this version: \S", cells[-1]):
            yield f"{page}:{number}: neither a test nor \"not yet: \" and the reason"


def self_test():
    wrong = ["| a rule | |", "| a rule | not yet |", "| a rule | some words |", "`layers/spec_test.py::test_nothing`",
             "`layers/none_test.py::test_x`", "`array/array_test.cc: Array.NoSuchTest`", "`ctest layers/none`", "`script/none`",
             "`array/array_test.cc: Array.AppendGrowsTheArrayAndReturnsWhere, Array.NoSuchTest`"]
    right = ["| rule | proof |", "|---|---|", "| a rule | not yet: it is not written |", "words", "`ctest layers/spec`",
             "| a rule | `array/array_test.cc: Array.AppendGrowsTheArrayAndReturnsWhere` |", "`script/test`", "`ctest package/shared`"]
    for line in wrong:
        if len(list(faults(line))) != 1:
            yield f"self-test: {line!r} passes"
    for line in right:
        yield from faults(line)
    if not any("docs/absent.md does not exist" in fault for fault in readme_faults("[x](docs/absent.md#part)")):
        yield "self-test: a link of README.md to an absent page passes"


def readme_faults(text):
    """Pages for readers that README.md does not link, and links to files that do not exist."""
    links = set(re.findall(r"\]\(([^)#:]+)[^):]*\)", text))
    pages = {str(page.relative_to(ROOT)) for folder in ("docs", "docs/format", "docs/spec") for page in (ROOT / folder).glob("*.md")}
    yield from (f"README.md: no link to {page}" for page in sorted(pages - links))
    yield from (f"README.md: {link} does not exist" for link in sorted(links) if not (ROOT / link).exists())


def main():
    index = (ROOT / "docs/SPEC.md").read_text(encoding="utf-8")
    pages = sorted((ROOT / "docs/spec").glob("*.md"))
    found = [*self_test()]
    for page in pages:
        found += faults(page.read_text(encoding="utf-8"), f"docs/spec/{page.name}")
        if f"(spec/{page.name})" not in index:
            found.append(f"docs/SPEC.md: no link to docs/spec/{page.name}")
    if not pages:
        found.append("docs/spec: no pages")
    found += readme_faults((ROOT / "README.md").read_text(encoding="utf-8"))
    print("\n".join(found) or f"every row of the {len(pages)} pages in docs/spec names its tests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
