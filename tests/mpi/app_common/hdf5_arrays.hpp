#pragma once

#include "common/hdf5_file.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace selvage::app::testing_support {

using Extent = std::vector<std::int64_t>;

struct World {
  int rank = 0;
  int ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

/// One rank's part of the array, cut along `axis` into unequal slabs; with more ranks than rows some are
/// empty.
inline ArrayBox slab(const Extent& extent, std::size_t axis, int rank, int ranks) {
  ArrayBox box{.begin = Extent(extent.size(), 0), .end = extent};
  const auto cut = [&](std::int64_t part) {
    return extent[axis] * part * part / (std::int64_t{ranks} * ranks);
  };
  box.begin[axis] = cut(rank);
  box.end[axis] = cut(rank + 1);
  return box;
}

/// The number that the cell at `index` of the whole array holds.
template <class T>
T cell_value(const Extent& extent, const Extent& index) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) number = number * extent[axis] + index[axis];
  return static_cast<T>(number) + static_cast<T>(1);
}

/// A box's values, the last axis fastest.
template <class T>
std::vector<T> box_values(const Extent& extent, const ArrayBox& box) {
  std::vector<T> values;
  Extent index = box.begin;
  for (std::int64_t i = 0; i < box.count(); ++i) {
    values.push_back(cell_value<T>(extent, index));
    for (std::size_t axis = extent.size(); axis-- > 0;) {
      if (++index[axis] < box.end[axis]) break;
      index[axis] = box.begin[axis];
    }
  }
  return values;
}

/// One array, "u", of which each rank writes its slab. Collective.
template <class T>
void write_whole(const std::string& path, const Extent& extent, std::size_t axis, WriteMode mode,
                 const Attributes& attributes = {}) {
  const World world;
  const ArrayBox box = slab(extent, axis, world.rank, world.ranks);
  const auto values = box_values<T>(extent, box);
  const auto array = array_block<T>("u", extent, box, values);
  write_hdf5(MPI_COMM_WORLD, path, std::span(&array, 1), attributes, mode);
}

}  // namespace selvage::app::testing_support
