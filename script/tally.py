"""Adds up the JUnit reports named on the command line, or those in a folder, and prints `N passed, N failed` as its last
line, before it the end of what each failed test said.

A report that is missing or names no test is a failure, for its runner must have died; so is a skipped test where
SHERD_CI is set. A group of tests that share a process (tests/CMakeLists.txt) counts only if it failed: its tests have
reports of their own. Exits with 1 where anything failed.
"""

import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped, as ctest, GoogleTest and pytest write it; group for a group that did not fail."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "group" if re.fullmatch(r"\w+/\d+_of_\d+", case.get("name")) else "passed"


def cases_of(report):
    """The tests in a report, or in the reports in a folder, where a group may be without tests."""
    path = pathlib.Path(report)
    files = sorted(path.glob("*.xml")) if path.is_dir() else [path]
    return [case for file in files for case in ElementTree.parse(file).iter("testcase")]


def last_words(case, lines=30):
    """How a failed test ends: its name and its last lines, as ctest (output), GoogleTest or pytest (traceback) recorded them."""
    said = [child.text or "" for child in case if child.tag in ("failure", "error", "system-out")]
    ending = [f"    {line}" for text in said for line in text.rstrip().splitlines()[-lines:]]
    return "\n".join([f"failed: {case.get('classname')} {case.get('name')}", *ending])


def main(reports):
    counts = {"passed": 0, "failed": 0, "skipped": 0, "group": 0}
    for report in reports:
        try:
            cases = cases_of(report)
        except (OSError, ElementTree.ParseError) as error:
            print(f"{report}: {error}")
            cases = []
        if not cases:
            print(f"{report}: no test was run")
            counts["failed"] += 1
        for case in cases:
            result = outcome(case)
            if result == "skipped" and os.environ.get("SHERD_CI"):
                result = "failed"
                print(f"skipped, which is a failure here: {case.get('classname')} {case.get('name')}")
            elif result == "failed":
                print(last_words(case))
            counts[result] += 1
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
