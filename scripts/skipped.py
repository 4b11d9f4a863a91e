#!/usr/bin/env python3
"""Lists the tests that were skipped, with their reasons and the runs that skipped them.

usage: scripts/skipped.py LOG...            print the list
       scripts/skipped.py --expect FILE LOG...   fail where it differs from FILE

LOG is what ctest writes to BUILD/Testing/Temporary/LastTest.log. A test of GoogleTest is skipped by GTEST_SKIP() << REASON;
any other program prints "skipped: REASON" for what it leaves out.

FILE holds lines as this prints them. One that begins with "perhaps " names what only some machines skip: there may be such
skips, for that reason, or none; its "*" stands for anything.
"""

import difflib
import pathlib
import re
import sys

COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")
RUN = re.compile(r"^\d+/\d+ Testing: (.+)$")
REASON_FOLLOWS = re.compile(r": Skipped$")
SKIPPED_TEST = re.compile(r"^\[  SKIPPED \] (\S+)(?:, where .*)? \(\d+ ms\)$")
SKIPPED_PART = re.compile(r"^skipped: (.+)$")
PERHAPS = "perhaps "


def skips_of(log):
    """Yields (what was skipped, why, in which run)."""
    run, reason = "", None
    for line in pathlib.Path(log).read_text(errors="replace").splitlines():
        line = COLOUR.sub("", line)
        if match := RUN.match(line):
            run, reason = match[1], None
        elif match := SKIPPED_PART.match(line):
            yield run, match[1], run
        elif REASON_FOLLOWS.search(line):
            reason = []
        elif match := SKIPPED_TEST.match(line):
            yield match[1], " ".join(reason or ["no reason given"]), run
            reason = None
        elif reason is not None and line.strip():
            reason.append(line.strip())


def listing(logs):
    runs_of = {}
    for log in logs:
        for what, why, run in skips_of(log):
            runs_of.setdefault((what, why), set()).add(run)
    lines = []
    for (what, why), runs in sorted(runs_of.items()):
        where = "" if runs == {what} else f" [{', '.join(sorted(runs))}]"
        lines.append(f"{what}: {why}{where}")
    return lines


def pattern(text):
    return re.compile(".*".join(map(re.escape, text.split("*"))))


def differences(expected, found):
    """What a list and the skips differ in, line by line."""
    lines = [line for line in expected if line and not line.startswith("#")]
    always = [line for line in lines if not line.startswith(PERHAPS)]
    perhaps = [pattern(line.removeprefix(PERHAPS)) for line in lines if line.startswith(PERHAPS)]
    strict = [line for line in found if line in always or not any(known.fullmatch(line) for known in perhaps)]
    return list(difflib.unified_diff(always, strict, "expected", "skipped now", lineterm="", n=0))


def main(arguments):
    if arguments[:1] in (["--help"], ["-h"]) or not arguments:
        print(__doc__.strip())
        return 0 if arguments else 2
    expected = None
    if arguments[0] == "--expect":
        expected = pathlib.Path(arguments[1]).read_text().splitlines()
        arguments = arguments[2:]
    found = listing(arguments)
    if expected is None:
        print("\n".join(found) if found else "none")
        return 0
    difference = differences(expected, found)
    for line in difference:
        print(line)
    if difference:
        print("skipped.py: other tests were skipped than the list says: mend them, or the list", file=sys.stderr)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
