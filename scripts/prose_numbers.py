"""Finds measurements that stand in the prose of pages instead of coming from a record.

A measurement is a number with a unit (us, ms, s, GB/s, %), "1.7 times", or a table with a unit among its
titles. Tables and numbers that scripts/tables.py writes aren't prose, nor is what stands in `code`. What isn't measured may be named in tables.toml:

    [[allowed]]
    page = "docs/topology.md"
    text = "unless hop-bytes fall by 3 %"    # where the number stands, whatever the line breaks
    why = "a threshold in the code"
"""

import re

GENERATED = re.compile(r"<!-- (?:table|number) [\w-]+ -->.*?<!-- end -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
# With a line break at most: a lone backtick must not hide a page.
CODE = re.compile(r"`[^`\n]+\n?[^`\n]*`")
INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
MEASUREMENT = re.compile(
    r"(?<![\w.^])\d[\d.,]*(?: \d{3})*\s?(?:[nuµm]s|s|[KMGT]B/s|[MGT]bit/s|%|percent|per cent)(?![\w/])"
    r"|\b\d[\d.]*\s(?:times|x\s(?:faster|slower|longer))\b")
# Of a table that was written by hand, the line of titles.
TITLES = re.compile(r"^\|.*\b(?:[nuµm]s|GB/s)\b.*\|\n(?=\|[-| :]+\|$)", re.MULTILINE)


def pages(root):
    """Those that may hold measurements; results.md is made of records and nothing else."""
    found = [root / "README.md", root / "CHANGELOG.md", *(root / "docs").rglob("*.md"), *root.glob("apps/**/README.md"), *root.glob("lib/*/README.md")]
    return sorted(page for page in found if page.name != "results.md" and page.exists())


def blank(match):
    """As many characters and lines, so that places stay."""
    return re.sub(r"[^\n]", "~", match[0])


def measurements(text):
    """Each with its line."""
    for pattern in (INDENTED, FENCED, GENERATED, CODE):
        text = pattern.sub(blank, text)
    for match in MEASUREMENT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.span(), " ".join(match[0].split())
    for match in TITLES.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.span(), "a table of measurements"


def spans_of(text, wanted):
    """Where it stands, whatever white space lies between its words."""
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    return [match.span() for match in re.finditer(pattern, text)]


def problems(root, allowed):
    unused = {(entry["page"], entry["text"]) for entry in allowed}
    for page in pages(root):
        name = page.relative_to(root).as_posix()
        text = page.read_text(encoding="utf-8")
        spans = [(span, entry["text"]) for entry in allowed if entry["page"] == name for span in spans_of(text, entry["text"])]
        for line, (begin, end), number in measurements(text):
            covering = [wanted for span, wanted in spans if span[0] <= begin and end <= span[1]]
            unused -= {(name, wanted) for wanted in covering}
            if not covering:
                yield (f"{name}:{line}: '{number}' comes from no record: show a record's number (scripts/tables.py), say it in words, "
                       "or name it in [[allowed]] of tables.toml")
    yield from (f"tables.toml: nothing in {page} needs to be allowed '{text}'" for page, text in sorted(unused))
