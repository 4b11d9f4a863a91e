#include "common/xdmf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace selvage::app {
namespace {

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

const char* number_type(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64 ? "Float" : "Int";
}

std::string mesh_text(const UniformMesh& mesh) {
  const bool flat = mesh.points.size() == 2;
  return fmt::format(
      R"(        <Topology TopologyType="{0}" Dimensions="{1}"/>
        <Geometry GeometryType="{2}">
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="{3}">{4}</DataItem>
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="{3}">{5}</DataItem>
        </Geometry>
)",
      flat ? "2DCoRectMesh" : "3DCoRectMesh", fmt::join(mesh.points, " "),
      flat ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ", mesh.points.size(), fmt::join(mesh.origin, " "),
      fmt::join(mesh.spacing, " "));
}

std::string array_text(const UniformMesh& mesh, const std::string& file_name, const std::string& name,
                       ElementType type) {
  return fmt::format(
      R"(        <Attribute Name="{0}" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" NumberType="{1}" Precision="{2}" Dimensions="{3}">{4}:/{0}</DataItem>
        </Attribute>
)",
      escape(name), number_type(type), bytes_of(type), fmt::join(mesh.points, " "), escape(file_name));
}

}  // namespace

std::string xdmf_text(const std::string& name, const UniformMesh& mesh,
                      std::span<const XdmfSnapshot> snapshots) {
  std::string text = fmt::format(R"(<?xml version="1.0" encoding="utf-8"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="{}" GridType="Collection" CollectionType="Temporal">
)",
                                 escape(name));
  for (const auto& snapshot : snapshots) {
    text += fmt::format("      <Grid Name=\"step {}\" GridType=\"Uniform\">\n        <Time Value=\"{}\"/>\n",
                        snapshot.step, snapshot.time);
    text += mesh_text(mesh);
    for (const auto& [array, type] : snapshot.arrays)
      text += array_text(mesh, snapshot.file_name, array, type);
    text += "      </Grid>\n";
  }
  return text + "    </Grid>\n  </Domain>\n</Xdmf>\n";
}

}  // namespace selvage::app
