#!/usr/bin/env python3
"""Prints, as a list of CMake, those of SOURCE... that include HEADER neither themselves nor through headers of this repository.

usage: not_including.py HEADER SOURCE...
"""
import functools
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# The folders that includes are relative to, besides the including file's own.
ROOTS = [*REPOSITORY.glob("lib/*/include"), *REPOSITORY.glob("lib/*/src"), *REPOSITORY.glob("lib/*/*/include"), REPOSITORY / "apps", *REPOSITORY.glob("apps/*")]


@functools.cache
def reaches(path, header):
    """Whether a file includes a header, however deep."""
    names = INCLUDE.findall(path.read_text())
    if header in names:
        return True
    return any(reaches(file, header) for name in names if (file := found(path.parent, name)) is not None and file != path)


def found(folder, name):
    """The file of this repository that a source in a folder includes by a name, or None."""
    return next((root / name for root in (folder, *ROOTS) if (root / name).is_file()), None)


def main():
    header, *sources = sys.argv[1:]
    print(*(source for source in sources if not reaches(pathlib.Path(source).resolve(), header)), sep=";")


if __name__ == "__main__":
    main()
