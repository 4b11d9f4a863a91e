#!/usr/bin/env python3
"""Writes the tables of README.md and docs/ that hold figures, from the records that were measured.

    scripts/tables.py            # rewrites what stands between <!-- table NAME --> and <!-- end -->
    scripts/tables.py --check    # changes nothing; exit code 1 where a table isn't what its records say

What a table shows is in docs/performance/tables.toml. Of each cell, what its table, column and row say is taken together, the row's
word last:

    file   of docs/results, of figures as scripts/records.py reads them; name, one of them; {placeholders} are the row's
    field  value, spread, floor, choice, commit, or the name of a peer; over: the field divided by it
    text   with {placeholders}, of the row's fields: {1} is fields[0] of that record; without fields, the text as it is
    fastest_but  names: of the other peers the one with the least time, with its name
    digits that count (3); percent = true: of one hundred

--check also wants every record that a table shows to be verified, and its commit in the history, but for what others' programs
made. scripts/plot.py tables draws the tables that have a `plot`.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

import records

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "docs" / "results"
# How the commit of a record begins that another program made.
OTHERS = ("torch ", "LAMMPS")
TABLE = re.compile(r"(<!-- table (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Problem(Exception):
    pass


class Records:
    """All files, read once, and which records were shown."""

    def __init__(self):
        self.files = {}
        self.shown = {}

    def find(self, file, name):
        if file not in self.files:
            try:
                self.files[file] = {record["name"]: record for record in records.read(RESULTS / file)}
            except (OSError, ValueError, KeyError) as error:
                raise Problem(f"docs/results/{file}: {error}") from error
        if name not in self.files[file]:
            raise Problem(f"docs/results/{file} has no figure {name}")
        self.shown[(file, name)] = self.files[file][name]
        return self.files[file][name]


def field_of(record, field):
    if field == "choice":
        return record[field].removeprefix("chosen: ")
    if field in ("value", "spread", "commit", "unit", "hardware"):
        return record[field]
    if field == "floor" and field in record:
        return record[field]
    # As records were before Google Benchmark wrote them.
    if field == "bus, GB/s" and "bus_GB/s" in record:
        return record["bus_GB/s"]
    if field not in record["peers"]:
        raise Problem(f"{record['name']} has no peer '{field}', but {', '.join(sorted(record['peers']))}")
    return record["peers"][field]


def number(value, digits):
    """1234, 12.3, 0.123: as many digits as count, and no fewer than stand before the point."""
    if isinstance(value, str):
        return value
    if value == 0:
        return "0"
    # What rounds up to 10 has two digits before the point.
    rounded = abs(float(f"{value:.{digits}g}"))
    if rounded >= 1:
        return f"{value:.{max(digits - len(str(int(rounded))), 0)}f}"
    return f"{value:#.{digits}g}"


def cell(all_records, given):
    if "file" not in given or ("text" in given and "fields" not in given):
        return given.get("text", "")
    if "name" not in given:
        raise Problem(f"a cell of '{given['title']}' has no name")
    record = all_records.find(given["file"], given["name"].format(**given))
    digits = given.get("digits", 3)
    if "fastest_but" in given:
        name = min(record["peers"].keys() - given["fastest_but"], key=record["peers"].get)
        return f"`{name}` {number(record['peers'][name], digits)}"
    if "fields" in given:
        values = [number(field_of(record, field), digits) for field in given["fields"]]
        return given["text"].format(None, *values, **{key: given[key] for key in given if key != "text"})
    value = field_of(record, given.get("field", "value"))
    if "over" in given:
        value /= field_of(record, given["over"])
    if given.get("percent"):
        value *= 100
    return number(value, digits) + given.get("unit", "")


def cells(all_records, definition):
    """Rows of texts, each with its title first."""
    columns = definition["columns"]
    common = {key: value for key, value in definition.items() if key not in ("columns", "rows", "title", "plot")}
    for row in definition["rows"]:
        texts = [row["title"]]
        for place, column in enumerate(columns):
            own = row.get("cells", [{}] * len(columns))[place]
            texts.append(cell(all_records, {**common, **column, **{k: v for k, v in row.items() if k != "cells"}, **own}))
        yield texts


def table(all_records, definition):
    columns = definition["columns"]
    lines = ["| " + " | ".join([definition.get("title", ""), *(column["title"] for column in columns)]) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    lines += ["| " + " | ".join(texts) + " |" for texts in cells(all_records, definition)]
    return "\n".join(lines) + "\n"


def has_history():
    """Not in an archive of the sources, nor in a clone of the last commits."""
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=REPOSITORY, check=False,
                             capture_output=True, text=True)
    return shallow.returncode == 0 and shallow.stdout.strip() == "false"


def is_in_history(commit):
    known = subprocess.run(["git", "merge-base", "--is-ancestor", commit, "HEAD"], cwd=REPOSITORY, check=False,
                           stderr=subprocess.DEVNULL)
    return known.returncode == 0


def check_records(all_records):
    for (file, name), record in all_records.shown.items():
        if record.get("verified") is not True:
            yield f"docs/results/{file}: {name} isn't verified"
    if not has_history():
        print("skipped: commits of records aren't looked for, since this clone lacks the history")
        return
    commits = {}
    for (file, _), record in all_records.shown.items():
        commits.setdefault(record["commit"], file)
    for commit, file in commits.items():
        if not commit.startswith(OTHERS) and not is_in_history(commit):
            yield f"docs/results/{file}: commit {commit} isn't in the history"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    definitions = tomllib.loads((REPOSITORY / "docs/performance/tables.toml").read_text(encoding="utf-8"))
    all_records = Records()
    problems = []
    unused = set(definitions)
    for page in sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]):
        text = page.read_text(encoding="utf-8")

        def written(match, page=page):
            name = match["name"]
            if name not in definitions:
                raise Problem(f"{page.relative_to(REPOSITORY)}: tables.toml has no table {name}")
            unused.discard(name)
            return match[1] + table(all_records, definitions[name]) + match[3]

        try:
            new = TABLE.sub(written, text)
        except Problem as problem:
            problems.append(f"{page.relative_to(REPOSITORY)}: {problem}")
            continue
        if new != text and arguments.check:
            problems.append(f"{page.relative_to(REPOSITORY)}: a table isn't what its records say: run scripts/tables.py")
        elif new != text:
            page.write_text(new, encoding="utf-8")
    problems += [f"tables.toml: no page has the table {name}" for name in sorted(unused)]
    if arguments.check:
        problems += check_records(all_records)
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
