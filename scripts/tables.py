#!/usr/bin/env python3
"""Writes what README.md and docs/ show of the records that were measured: tables, numbers within sentences, and results.md.

    scripts/tables.py            # rewrites what stands between <!-- table NAME -->, or <!-- number NAME -->, and <!-- end -->
    scripts/tables.py --check    # changes nothing; exit code 1 where something isn't what its records say
    scripts/tables.py --root FOLDER ...    # of another checkout

What a table shows is in docs/performance/tables.toml. Of each cell, what its table, column and row say is taken together, the row's
word last:

    file   of docs/results, of figures as scripts/records.py reads them; name, one of them; {placeholders} are the row's
    field  value, spread, floor, choice, commit, another word of the record, the name of a contender, or "spread of NAME"; of
           several the first that the record has. over: the field divided by it
    text   with {placeholders}, of the row's fields: {1} is fields[0] of that record; without fields, the text as it is
    least  how names of peers begin: the least of theirs
    fastest_but  names: of the other peers the one with the least time, with its name
    digits that count (3); percent = true: of one hundred

A table with `simulated`, a file of selvage-topo simulate, has all of its cases. A number is one such cell, in [numbers.NAME]. docs/results/*/results.md is all of a folder's records, as scripts/table.py prints them.

--check also wants every record in docs/results to be verified, and its commit in the history, but for what PyTorch alone made; and
no measurement outside of tables and numbers, but for those in [[allowed]] (scripts/prose_numbers.py). scripts/plot.py tables draws
the tables that have a `plot`.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

import prose_numbers
import records
import table as results_page

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "docs/results"
# How the commit of a record begins that another program made.
OTHERS = "torch "
# What stands in tables.toml beside tables.
NOT_TABLES = ("numbers", "allowed")
TABLE = re.compile(r"(<!-- table (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
NUMBER = re.compile(r"(<!-- number (?P<name>[\w-]+) -->).*?(<!-- end -->)", re.DOTALL)


class Problem(Exception):
    pass


class Records:
    """All files, read once."""

    def __init__(self, root):
        self.root = root
        self.files = {}

    def of(self, file):
        if file not in self.files:
            try:
                self.files[file] = {record["name"]: record for record in records.read(self.root / RESULTS / file)}
            except (OSError, ValueError, KeyError) as error:
                raise Problem(f"{RESULTS}/{file}: {error}") from error
        return self.files[file]

    def find(self, file, name):
        if name not in self.of(file):
            raise Problem(f"{RESULTS}/{file} has no figure {name}")
        return self.of(file)[name]

    def all_files(self):
        """But for machines and their links, which are no figures."""
        for path in sorted((self.root / RESULTS).rglob("*.json")):
            if path.parent.name != "topology":
                yield path.relative_to(self.root / RESULTS).as_posix()


def field_of(record, field):
    if isinstance(field, list):
        return field_of(record, next((each for each in field if has_field(record, each)), field[-1]))
    if field == "choice":
        return record[field].removeprefix("chosen: ")
    # Of one that another program made.
    if field == "commit" and "version" in record:
        return record["version"]
    if field == record.get("first"):
        return record["value"]
    if field in record:
        return record[field]
    if field.startswith("spread of ") and field.removeprefix("spread of ") in record.get("spreads", {}):
        return record["spreads"][field.removeprefix("spread of ")]
    # As records were before Google Benchmark wrote them.
    if field == "bus, GB/s" and "bus_GB/s" in record:
        return record["bus_GB/s"]
    if field not in record["peers"]:
        raise Problem(f"{record['name']} has no peer '{field}', but {', '.join(sorted(record['peers']))}")
    return record["peers"][field]


def has_field(record, field):
    try:
        field_of(record, field)
    except (Problem, KeyError):
        return False
    return True


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
    value = (
        min(each for name, each in record["peers"].items() if name.startswith(given["least"]))
        if "least" in given
        else field_of(record, given.get("field", "value"))
    )
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


def simulated_table(records_of_file):
    """A row per case of `selvage-topo simulate`, a column per method."""
    def percent(value):
        return "" if value is None else f"{value:.1f}"

    portfolios = [record for name, record in records_of_file.items() if name.endswith("/portfolio")]
    methods = [name for name in dict.fromkeys(name for record in portfolios for name in record["peers"]) if name != "default"]
    rows = [["pattern", "fabric", "ranks", "seeds", *methods, "portfolio", "worst", "link load, worst", "time", "choice"]]
    rows.append(["---"] * len(rows[0]))
    for record in portfolios:
        rows.append([
            *record["name"].split("/")[1:4], str(record["repetitions"]), *(percent(record["peers"].get(name)) for name in methods),
            f"**{percent(record['value'])}**", percent(record["worst"]), percent(record.get("worst_link_load_percent")),
            percent(record.get("time_percent")), record.get("remark", record["choice"]),
        ])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def table(all_records, definition):
    if "simulated" in definition:
        return simulated_table(all_records.of(definition["simulated"]))
    columns = definition["columns"]
    lines = ["| " + " | ".join([definition.get("title", ""), *(column["title"] for column in columns)]) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    lines += ["| " + " | ".join(texts) + " |" for texts in cells(all_records, definition)]
    return "\n".join(lines) + "\n"


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, check=False, capture_output=True, text=True)


def commit_problems(all_records):
    """Of commits that aren't in the history; of an archive of the sources there is none."""
    shallow = git(all_records.root, "rev-parse", "--is-shallow-repository")
    if shallow.returncode != 0:
        print("skipped: commits of records aren't looked for, since this is no clone of the repository")
        return
    if shallow.stdout.strip() != "false":
        yield "this clone lacks the history that records' commits are looked for in: git fetch --unshallow"
        return
    commits = {}
    for file in all_records.all_files():
        for record in all_records.of(file).values():
            commits.setdefault(record.get("commit", ""), file)
    for commit, file in commits.items():
        is_known = commit and git(all_records.root, "merge-base", "--is-ancestor", commit, "HEAD").returncode == 0
        if not commit.startswith(OTHERS) and not is_known:
            yield f"{RESULTS}/{file}: commit '{commit}' isn't in the history"


def folder_problems(root):
    for folder in sorted({path.parent for path in (root / RESULTS).glob("*/bench_*.json")}):
        if not (folder / "results.md").exists():
            yield f"{folder.relative_to(root)} has records and no results.md: run scripts/table.py"


def record_problems(all_records):
    for file in all_records.all_files():
        for name, record in all_records.of(file).items():
            if record.get("verified") is not True:
                yield f"{RESULTS}/{file}: {name} isn't verified"
    yield from commit_problems(all_records)


class Pages:
    """What pages say, and what they ought to."""

    def __init__(self, root):
        self.root = root
        path = root / "docs/performance/tables.toml"
        definitions = tomllib.loads(path.read_text(encoding="utf-8"))
        self.allowed = definitions.get("allowed", [])
        self.numbers = definitions.get("numbers", {})
        self.tables = {name: given for name, given in definitions.items() if name not in NOT_TABLES}
        self.unused = {*(("table", name) for name in self.tables), *(("number", name) for name in self.numbers)}
        self.records = Records(root)

    def take(self, kind, name):
        definitions = self.tables if kind == "table" else self.numbers
        if name not in definitions:
            raise Problem(f"tables.toml has no {kind} {name}")
        self.unused.discard((kind, name))
        return definitions[name]

    def rewritten(self, text):
        def table_of(match):
            return match[1] + table(self.records, self.take("table", match["name"])) + match[3]

        def number_of(match):
            return match[1] + cell(self.records, {"title": match["name"], **self.take("number", match["name"])}) + match[3]

        return NUMBER.sub(number_of, TABLE.sub(table_of, text))

    def expected(self):
        """Each page and its text, or the Problem that it has."""
        for page in prose_numbers.pages(self.root):
            try:
                yield page, self.rewritten(page.read_text(encoding="utf-8"))
            except Problem as problem:
                yield page, problem
        for folder in sorted(path.parent for path in (self.root / RESULTS).glob("*/results.md")):
            try:
                yield folder / "results.md", results_page.page(folder.glob("*.json"))
            except (OSError, ValueError, KeyError) as error:
                yield folder / "results.md", Problem(error)


def problems(root, check):
    """Writes pages, unless they are checked only."""
    all_pages = Pages(root)
    for page, text in all_pages.expected():
        name = page.relative_to(root)
        if isinstance(text, Problem):
            yield f"{name}: {text}"
        elif text == page.read_text(encoding="utf-8"):
            continue
        elif check:
            yield f"{name} isn't what its records say: run scripts/tables.py"
        else:
            page.write_text(text, encoding="utf-8")
    yield from (f"tables.toml: no page has the {kind} {name}" for kind, name in sorted(all_pages.unused))
    if not check:
        return
    yield from folder_problems(root)
    try:
        yield from record_problems(all_pages.records)
    except Problem as problem:
        yield str(problem)
    yield from prose_numbers.problems(root, all_pages.allowed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=REPOSITORY)
    arguments = parser.parse_args()
    found = list(problems(arguments.root, arguments.check))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
