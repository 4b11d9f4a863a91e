#!/usr/bin/env python3
"""Fails where a source includes something of a higher floor, or of another folder of its own: see lib/comm/src/floors.txt.

    floors.py SOURCES...    folders that hold a floors.txt
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h", ".cu", ".cuh"}


def read_floors(sources):
    """How high each folder is; 0 is the lowest."""
    lines = [line.split("#")[0].split() for line in (sources / "floors.txt").read_text().splitlines()]
    lines = [line for line in lines if line]
    return {folder: len(lines) - number for number, line in enumerate(lines) for folder in line}


def included(sources, path):
    """The files of `sources` that a file includes, relative to it."""
    for name in INCLUDE.findall(path.read_text(errors="replace")):
        for candidate in (path.parent / name, sources / name):
            if candidate.is_file() and sources in candidate.resolve().parents:
                yield candidate.resolve().relative_to(sources)
                break


def problems(sources):
    sources = sources.resolve()
    floors = read_floors(sources)
    files = [path for path in sorted(sources.rglob("*")) if path.suffix in SUFFIXES]
    folders = {path.relative_to(sources).parts[0] for path in files}
    for folder in sorted(folders ^ set(floors)):
        yield f"{sources}: {folder} is {'not in floors.txt' if folder in folders else 'in floors.txt, but not here'}"
    for path in files:
        source = path.relative_to(sources)
        for target in included(sources, path):
            above, below = source.parts[0], target.parts[0]
            if above != below and floors.get(below, 0) >= floors.get(above, 0):
                yield f"{source} includes {target}: {below} is not below {above}"


def main():
    found = [problem for folder in sys.argv[1:] for problem in problems(pathlib.Path(folder))]
    for problem in found:
        print(problem)
    return 1 if found or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
