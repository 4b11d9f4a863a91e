"""The XDMF document is well-formed XML, whatever the names in it, and refers to the files and arrays it should."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

text = subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout
mesh, cloud = text.split(b"-----\n")


def grids_of(document):
    root = ElementTree.fromstring(document)
    assert root.tag == "Xdmf", root.tag
    series = root.find("./Domain/Grid[@CollectionType='Temporal']")
    assert series.get("Name") == "a&b", series.attrib
    grids = series.findall("Grid")
    assert [grid.find("Time").get("Value") for grid in grids] == ["0", "0.5"]
    return grids


grids = grids_of(mesh)
for grid, file_name in zip(grids, ["a&b_0.h5", "a&b_10.h5"]):
    attribute = grid.find("Attribute")
    assert attribute.get("Name") == 'u<"&">', attribute.attrib
    assert attribute.find("DataItem").text == f'{file_name}:/u<"&">', attribute.find("DataItem").text

for grid, file_name in zip(grids_of(cloud), ["a&b_0.h5", "a&b_10.h5"]):
    assert grid.find("Topology").attrib == {"TopologyType": "Polyvertex", "NumberOfElements": "7"}
    items = {item.text: item.attrib for item in grid.iter("DataItem")}
    assert items == {
        f"{file_name}:/all/x&y/value": {"Format": "HDF", "NumberType": "Float", "Precision": "8", "Dimensions": "1 7 3"},
        f"{file_name}:/all/v": {"Format": "HDF", "NumberType": "Float", "Precision": "4", "Dimensions": "1 7 3"},
        f"{file_name}:/all/id": {"Format": "HDF", "NumberType": "Int", "Precision": "8", "Dimensions": "1 7"},
    }, items
    assert [attribute.get("AttributeType") for attribute in grid.findall("Attribute")] == ["Vector", "Scalar"]
