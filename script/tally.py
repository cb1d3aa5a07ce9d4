"""Adds up the JUnit reports named on the command line, or those in a folder. Prints the end of each failed test's
output and, as its last line, `N passed, N failed`.

A report that is missing or contains no test is a failure, since its runner must have died; so is a skipped test if
SHERD_CI is set. A group of tests that share a process (tests/CMakeLists.txt) counts only if it failed, because its
tests have reports of their own. Exits with 1 if anything failed.
"""

import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped, as written by ctest, GoogleTest and pytest; group for a group that did not fail."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "group" if re.fullmatch(r"\w+/\d+_of_\d+", case.get("name")) else "passed"


def cases_of(report):
    """The tests in a report, or in the reports in a folder, in which a group may have no tests."""
    path = pathlib.Path(report)
    files = sorted(path.glob("*.xml")) if path.is_dir() else [path]
    return [case for file in files for case in ElementTree.parse(file).iter("testcase")]


def last_words(case, lines=30):
    """The end of a failed test: its name and its last lines, as recorded by ctest (output), GoogleTest or pytest
    (traceback)."""
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
