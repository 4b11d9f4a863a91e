"""undocumented.py XML_FOLDER: names the public types that have no comment, by what Doxygen wrote; exit code 1 if there are any.

Types within others are explained by these. Those in C have comments that aren't Doxygen's.
"""

import pathlib
import sys
import xml.etree.ElementTree


def has_comment(element):
    return any("".join(part.itertext()).strip() for name in ("briefdescription", "detaileddescription") for part in element.findall(name))


def types(folder):
    for path in sorted(folder.glob("*.xml")):
        for compound in xml.etree.ElementTree.parse(path).getroot().findall("compounddef"):
            if compound.get("kind") in ("class", "struct"):
                yield compound, compound.findtext("compoundname")
            if compound.get("kind") == "namespace":
                for member in compound.iter("memberdef"):
                    if member.get("kind") == "enum":
                        yield member, member.findtext("qualifiedname")


def undocumented(folder):
    """Each as (file, line, name)."""
    found = list(types(folder))
    outer = {name for _, name in found}
    for element, name in found:
        place = element.find("location")
        if name.rpartition("::")[0] in outer or place.get("file").endswith(".h") or has_comment(element):
            continue
        yield place.get("file"), int(place.get("line")), name


def main():
    lines = sorted(undocumented(pathlib.Path(sys.argv[1])))
    for file, line, name in lines:
        print(f"{file}:{line}: {name} has no comment", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
