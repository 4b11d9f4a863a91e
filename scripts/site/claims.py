"""Finds what pages of the site say of programs and isn't so: options that a program doesn't have, environment variables and CMake
options that nothing reads, messages that nothing prints (```{ .text .message }). Also pictures that are large or that no page shows.
Prints a line for each; exit code 1 if there are any.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where the options of a program stand.
PROGRAMS = {
    "jacobi": ["apps/common", "apps/jacobi"],
    "md": ["apps/common", "apps/md"],
    "sgd": ["apps/common", "apps/sgd"],
    "selvage-topo": ["lib/topo/tool"],
    "selvage-tune": ["lib/comm/tool"],
    **{name: [f"scripts/{name}"] for name in ("bind.sh", "demo.sh", "deps.sh", "figures.sh", "gpu.sh", "pictures.sh", "site.sh", "test.sh", "plot.py")},
}
READERS = ["lib/base/src", "cmake", "scripts", "CMakeLists.txt"]
SPEAKERS = ["lib", "apps", "cmake"]
MESSAGE = re.compile(r"^``` \{ \.text \.message \}\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^(?: {4}|\t)(.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?\n(.*?)^```", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
PLACEHOLDER = re.compile(r"\$?\{[^{}]*\}|@\w+@|\$\{\w+\}")
LEAST_FIXED_TEXT = 20
LARGEST_PICTURE = 100_000


def pages():
    """Those that were written for the site; the others have readers of their own."""
    folders = ["start", "tutorials", "howto", "reference", "explanation"]
    return sorted([*(page for folder in folders for page in (ROOT / "docs" / folder).glob("*.md")), ROOT / "docs/faq.md"])


def text_of(places):
    """Of all sources in some files and folders."""
    files = []
    for place in (ROOT / name for name in places):
        files += sorted(place.rglob("*")) if place.is_dir() else [place]
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())


def commands(text):
    """Each without the options of what is behind it in a pipe or a list."""
    joined = re.sub(r"\\\n\s*", " ", text)
    code = [match[1] for match in INDENTED.finditer(joined)]
    code += [line for match in FENCED.finditer(joined) for line in match[1].splitlines()]
    code += [match[1] for match in SPAN.finditer(FENCED.sub("", joined))]
    for line in code:
        yield from re.split(r"&&|\|\|?|;|\$\(|\)| # ", line)


def wrong_options(text):
    for command in commands(text):
        program = None
        for word in command.split():
            name = word.strip("\"'").rpartition("/")[2]
            if name in PROGRAMS:
                program = name
            elif program and re.match(r"--[a-z]", word) and word.partition("=")[0] not in options_of(program):
                yield f"{program} has no option {word}"


@functools.cache
def options_of(program):
    return set(re.findall(r"--[a-z][\w-]*", text_of(PROGRAMS[program]))) | {"--help"}


def wrong_variables(text):
    for name in sorted(set(re.findall(r"\bSELVAGE_[A-Z_]+", text)) - known_variables()):
        yield f"nothing reads {name}"


@functools.cache
def known_variables():
    return set(re.findall(r"\bSELVAGE_[A-Z_]+", text_of(READERS)))


@functools.cache
def fixed_parts():
    """Of each text that programs print, what lies between the values in it."""
    found = []
    for match in LITERALS.finditer(text_of(SPEAKERS)):
        literal = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[0])).replace('\\"', '"')
        parts = [part for part in PLACEHOLDER.split(literal) if part.strip()]
        if sum(map(len, parts)) >= LEAST_FIXED_TEXT:
            found.append(parts)
    return found


def has_in_order(text, parts):
    place = 0
    for part in parts:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def wrong_messages(text):
    for match in MESSAGE.finditer(text):
        message = " ".join(match[1].split())
        if not any(has_in_order(message, parts) for parts in fixed_parts()):
            yield f"nothing prints '{message}'"


def wrong_claims(text):
    yield from wrong_messages(text)
    rest = MESSAGE.sub("", text)
    yield from wrong_options(rest)
    yield from wrong_variables(rest)


def wrong_pictures():
    shown = "\n".join(page.read_text(encoding="utf-8") for folder in ("*.md", "apps/**/*.md", "lib/**/*.md", "docs/**/*.md")
                      for page in ROOT.glob(folder))
    for picture in sorted((ROOT / "docs/images").iterdir()):
        if f"/images/{picture.name})" not in shown and f"(images/{picture.name})" not in shown:
            yield f"{picture.relative_to(ROOT)}: no page shows it"
        if picture.stat().st_size > LARGEST_PICTURE:
            yield f"{picture.relative_to(ROOT)}: {picture.stat().st_size} bytes, at most {LARGEST_PICTURE} wanted"


def main():
    found = [f"{page.relative_to(ROOT)}: {claim}" for page in pages() for claim in wrong_claims(page.read_text(encoding="utf-8"))]
    found += wrong_pictures()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
