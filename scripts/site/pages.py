"""The pages of the site that don't lie in docs/, and the links between all of them; a hook of mkdocs (mkdocs.yml).

Pages are written for a reader of the source tree: their links are relative to their own place in it. A README of another folder
becomes a page as it is. A source or a folder that a page links to becomes a page that shows it.
"""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = ROOT / "build/site-api/api"
API_URI = "reference/api"
# What the reference shows better than the source does.
SHOWN_BY = {
    "lib/comm/include/selvage/comm": "reference/classes.md",
    "lib/comm/c/include/selvage/selvage.h": f"{API_URI}/selvage_8h.html",
    "docs": "README.md",
    "apps": "apps/jacobi/README.md",
    "docs/results": "performance/README.md",
}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^()\s#]+)(#[^()\s]*)?(?=\))")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "cpp", ".c": "c", ".f90": "fortran", ".sh": "bash", ".sbatch": "bash", ".py": "python",
             ".toml": "toml", ".cff": "yaml", ".txt": "text"}
LONGEST_SOURCE = 100_000


def on_files(files, config):
    for path in nav_paths(config.nav):
        if files.get_file_from_path(path) is None and (ROOT / path).is_file():
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for path in sorted(API.rglob("*")):
        if path.is_file():
            uri = f"{API_URI}/{path.relative_to(API).as_posix()}"
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    for page in list(files.documentation_pages()):
        for target in targets(page):
            add_source(files, config, target)
    return files


def on_page_markdown(markdown, page, config, files):
    place = repository_path(page.file.src_uri)

    def rewritten(match):
        target = resolved(place, match[1])
        uri = uri_of(target)
        if files.get_file_from_path(uri) is None:
            return match[0]
        return posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".") + (match[2] or "")

    return outside_code(markdown, lambda text: LINK.sub(rewritten, text))


def nav_paths(entries):
    """Of the nav of mkdocs.yml, which nests lists and dicts."""
    if isinstance(entries, str):
        yield entries
        return
    for entry in entries.values() if isinstance(entries, dict) else entries:
        yield from nav_paths(entry)


def repository_path(uri):
    """Where a page of the site lies in the source tree."""
    return f"docs/{uri}" if (ROOT / "docs" / uri).is_file() else uri


def resolved(place, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), link))


def uri_of(target):
    """What shows a path of the source tree."""
    if target in SHOWN_BY:
        return SHOWN_BY[target]
    if target.startswith("docs/") and (ROOT / target).is_file():
        return target.removeprefix("docs/")
    if (ROOT / target / "README.md").is_file():
        return f"{target}/README.md".removeprefix("docs/")
    if target.endswith(".md"):
        return target
    return f"source/{target}.md"


def outside_code(markdown, change):
    """Markdown with what lies outside fenced code changed."""
    parts, end = [], 0
    for match in FENCED.finditer(markdown):
        parts += [change(markdown[end:match.start()]), match[0]]
        end = match.end()
    return "".join(parts) + change(markdown[end:])


def targets(page):
    """The paths of the source tree that a page links to."""
    found = set()
    place = repository_path(page.src_uri)
    outside_code(page.content_string, lambda text: found.update(resolved(place, match[1]) for match in LINK.finditer(text)) or text)
    return sorted(target for target in found if not target.startswith("..") and (ROOT / target).exists())


def add_source(files, config, target):
    """The page that shows a source or a folder, unless another page does."""
    uri = uri_of(target)
    if not uri.startswith("source/") or files.get_file_from_path(uri) is not None:
        return
    path = ROOT / target
    content = folder_page(files, config, target) if path.is_dir() else source_page(target)
    if files.get_file_from_path(uri) is None:
        files.append(File.generated(config, uri, content=content))


def source_page(target):
    path = ROOT / target
    text = re.sub(r"^.*--8<-- \[.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return f"---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n\n# {target}\n\n~~~~~~{LANGUAGES.get(path.suffix, 'text')}\n{text}\n~~~~~~\n"


def folder_page(files, config, target):
    entries = []
    for path in sorted((ROOT / target).iterdir(), key=lambda path: (path.is_dir(), path.name)):
        name = path.relative_to(ROOT).as_posix()
        if path.is_dir():
            entries.append(f"- `{path.name}/`")
        elif path.suffix in LANGUAGES and path.stat().st_size < LONGEST_SOURCE:
            add_source(files, config, name)
            entries.append(f"- [{path.name}]({posixpath.basename(target)}/{path.name}.md)")
        else:
            entries.append(f"- `{path.name}`")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {target}/\n\n" + "\n".join(entries) + "\n"
