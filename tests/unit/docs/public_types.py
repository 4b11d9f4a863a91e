#!/usr/bin/env python3
"""Checks that docs/reference/classes.md lists the public types of lib/comm, and only such, and that there are few of them. Public are the
classes, structures and enumerations in namespaces other than `detail`, of headers outside folders of that name; a type within another
belongs to that one.

usage: public_types.py INCLUDE_FOLDER CLASSES_MD
"""

import pathlib
import re
import sys

MOST = 40

NAMESPACE = re.compile(r"\s*(?:inline\s+)?namespace\s*([\w:]*)\s*\{")
DEFINITION = re.compile(r"(?:template\s*<.*>\s*)?(?:enum class|class|struct)\s+([A-Z]\w*)(?![^{]*;)")


def public_types(header):
    """Of the text of a header."""
    names, open_blocks = [], []
    for line in header.splitlines():
        code = re.sub(r"//.*", "", line)
        namespace = NAMESPACE.match(code)
        if namespace:
            if code.count("{") > code.count("}"):
                open_blocks.append(namespace.group(1))
            continue
        definition = DEFINITION.match(code)
        in_namespaces = all(block is not None for block in open_blocks)
        if definition and in_namespaces and not any("detail" in block.split("::") for block in open_blocks):
            names.append(definition.group(1))
        for brace in re.findall(r"[{}]", code):
            if brace == "{":
                open_blocks.append(None)
            elif open_blocks:
                open_blocks.pop()
    return names


def types_of(folder):
    headers = (header for header in pathlib.Path(folder).glob("*.hpp"))
    return {name for header in headers for name in public_types(header.read_text())}


def listed(page):
    """The names in rows of headers, up to the machines, which are lib/topo's."""
    rows = [line for line in page.partition("## Machines")[0].splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"\[`(\w+)`\]", row.split("|")[2])}


OF_BASE = {"Error", "AgreedError", "IncompleteError"}


def main(folder, page):
    types, names = types_of(folder), listed(pathlib.Path(page).read_text()) - OF_BASE
    complaints = [f"{name} is missing in {page}" for name in sorted(types - names)]
    complaints += [f"{page} lists {name}, which is no public type of {folder}" for name in sorted(names - types)]
    if len(types) > MOST:
        complaints.append(f"{len(types)} public types, more than {MOST}: nest, merge or hide one")
    if not types:
        complaints.append(f"no types in {folder}")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
