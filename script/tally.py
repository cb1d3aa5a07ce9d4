"""Adds up the JUnit reports named on the command line and prints `N passed, N failed` as its last line.

A report that is missing or names no test is a failure, for its runner must have died; so is a skipped test where
SHERD_CI is set. Exits with 1 where anything failed.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped, as ctest and pytest write it."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def main(reports):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for report in reports:
        try:
            cases = list(ElementTree.parse(report).iter("testcase"))
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
            counts[result] += 1
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
