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

std::string item_text(const PointCloud& cloud, const PointCloud::Array& array, const std::string& file_name) {
  std::string extent = fmt::format("1 {}", cloud.points);
  if (array.components > 1) extent += fmt::format(" {}", array.components);
  return fmt::format(
      R"(<DataItem Format="HDF" NumberType="{}" Precision="{}" Dimensions="{}">{}:/{}</DataItem>)",
      number_type(array.type), bytes_of(array.type), extent, escape(file_name), escape(array.path));
}

std::string cloud_text(const PointCloud& cloud, const std::string& file_name) {
  std::string text = fmt::format(
      R"(        <Topology TopologyType="Polyvertex" NumberOfElements="{}"/>
        <Geometry GeometryType="XYZ">
          {}
        </Geometry>
)",
      cloud.points, item_text(cloud, cloud.positions, file_name));
  for (const auto& array : cloud.values) {
    text += fmt::format(R"(        <Attribute Name="{}" AttributeType="{}" Center="Node">
          {}
        </Attribute>
)",
                        escape(array.name), array.components > 1 ? "Vector" : "Scalar",
                        item_text(cloud, array, file_name));
  }
  return text;
}

/// \param grid_text  of a snapshot: what lies where
template <class GridText>
std::string series_text(const std::string& name, std::span<const XdmfSnapshot> snapshots,
                        const GridText& grid_text) {
  std::string text = fmt::format(R"(<?xml version="1.0" encoding="utf-8"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="{}" GridType="Collection" CollectionType="Temporal">
)",
                                 escape(name));
  for (const auto& snapshot : snapshots) {
    text += fmt::format("      <Grid Name=\"step {}\" GridType=\"Uniform\">\n        <Time Value=\"{}\"/>\n",
                        snapshot.step, snapshot.time);
    text += grid_text(snapshot);
    text += "      </Grid>\n";
  }
  return text + "    </Grid>\n  </Domain>\n</Xdmf>\n";
}

}  // namespace

std::string xdmf_text(const std::string& name, const UniformMesh& mesh,
                      std::span<const XdmfSnapshot> snapshots) {
  return series_text(name, snapshots, [&](const XdmfSnapshot& snapshot) {
    std::string text = mesh_text(mesh);
    for (const auto& [array, type] : snapshot.arrays)
      text += array_text(mesh, snapshot.file_name, array, type);
    return text;
  });
}

std::string xdmf_text(const std::string& name, const PointCloud& cloud,
                      std::span<const XdmfSnapshot> snapshots) {
  return series_text(name, snapshots,
                     [&](const XdmfSnapshot& snapshot) { return cloud_text(cloud, snapshot.file_name); });
}

}  // namespace selvage::app
