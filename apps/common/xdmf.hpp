#pragma once

#include "common/hdf5_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace selvage::app {

/// A uniform grid of points in physical space. Two or three axes, slowest first (so z, y, x: the last axis is
/// the one that ParaView calls x).
struct UniformMesh {
  std::vector<std::int64_t> points;
  std::vector<double> origin;
  std::vector<double> spacing;
};

/// The arrays of one HDF5 file, as a time series refers to them.
struct XdmfSnapshot {
  double time;
  std::int64_t step;
  std::string file_name = {};  ///< beside the XDMF file
  std::vector<std::pair<std::string, ElementType>> arrays = {};
};

/// Points anywhere in space, as each file of a series has them: one frame of H5MD, whose arrays have the extents 1, points
/// and, of vectors, 3. Readers want these extents as the file has them.
struct PointCloud {
  struct Array {
    std::string name;  ///< as it is shown
    std::string path;  ///< in the HDF5 file
    ElementType type;
    int components;  ///< 1, or 3 of a vector
  };
  std::int64_t points;
  Array positions;
  std::vector<Array> values;
};

/// An XDMF 3 document: a collection in time of uniform grids whose values lie at the points.
[[nodiscard]] std::string xdmf_text(const std::string& name, const UniformMesh& mesh,
                                    std::span<const XdmfSnapshot> snapshots);
/// The same of points; snapshots' arrays are the cloud's.
[[nodiscard]] std::string xdmf_text(const std::string& name, const PointCloud& cloud,
                                    std::span<const XdmfSnapshot> snapshots);

}  // namespace selvage::app
