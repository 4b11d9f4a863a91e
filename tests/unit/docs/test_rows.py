#!/usr/bin/env python3
"""Checks that docs/testing.md says on which ranks and hosts each test runs: a test belongs to a row whose first cell names it in
backquotes, or names what it begins with (`comm.halo` has comm.halo.queue.np2).

usage: test_rows.py BUILD TESTING_MD
"""

import pathlib
import re
import sys

HEADING = "## Which ranks, which hosts, and why"


def names_of_rows(text):
    """Of the first table below the heading."""
    names, in_table = set(), False
    for line in text.partition(HEADING)[2].splitlines():
        if line.startswith("|"):
            in_table = True
            names.update(re.findall(r"`([^`]+)`", line.split("|")[1]))
        elif in_table:
            break
    return names


def without_a_row(tests, names):
    return sorted(test for test in tests if not any(test == name or test.startswith(name + ".") for name in names))


def tests_of(folder):
    """From what CMake wrote for ctest, whose own list would be written over the log of the ctest that runs this."""
    file = folder / "CTestTestfile.cmake"
    text = file.read_text() if file.exists() else ""  # none where there are no tests below
    tests = re.findall(r'^add_test\((?:\[=*\[|")?([^\]"\s]+)', text, re.MULTILINE)
    for below in re.findall(r'^subdirs\("([^"]+)"\)', text, re.MULTILINE):
        tests += tests_of(folder / below)
    return tests


def main(build, testing):
    names = names_of_rows(pathlib.Path(testing).read_text())
    tests = tests_of(pathlib.Path(build))
    if not names or not tests:
        print(f"{len(names)} names in {testing}, {len(tests)} tests in {build}", file=sys.stderr)
        return 1
    missing = without_a_row(tests, names)
    for test in missing:
        print(f"{test} belongs to no row of {testing}: say there on which ranks and hosts it runs, and why", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
