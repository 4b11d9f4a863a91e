"""The XDMF document is well-formed XML, whatever the names in it, and refers to the files and arrays it should."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

text = subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout
root = ElementTree.fromstring(text)
assert root.tag == "Xdmf", root.tag
series = root.find("./Domain/Grid[@CollectionType='Temporal']")
assert series.get("Name") == "a&b", series.attrib
grids = series.findall("Grid")
assert [grid.find("Time").get("Value") for grid in grids] == ["0", "0.5"]
for grid, file_name in zip(grids, ["a&b_0.h5", "a&b_10.h5"]):
    attribute = grid.find("Attribute")
    assert attribute.get("Name") == 'u<"&">', attribute.attrib
    assert attribute.find("DataItem").text == f'{file_name}:/u<"&">', attribute.find("DataItem").text
