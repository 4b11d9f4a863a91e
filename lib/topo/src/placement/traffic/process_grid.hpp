#pragma once

#include <span>
#include <vector>

namespace selvage::topo {

/// Ranks in a Cartesian grid of processes, numbered as by MPI_Cart_create: the last dimension is the fastest.
class ProcessGrid {
 public:
  /// \throws Error{input} unless there is a dimension, all are positive and Traffic::max_ranks isn't passed
  explicit ProcessGrid(std::span<const int> dims);

  [[nodiscard]] int rank_count() const { return ranks_; }
  [[nodiscard]] const std::vector<int>& dims() const { return dims_; }
  [[nodiscard]] std::vector<int> coordinates(int rank) const;
  /// -1 when the coordinates lie outside of a dimension that isn't periodic.
  [[nodiscard]] int rank_at(std::span<const int> coordinates, const std::vector<bool>& periodic) const;

 private:
  std::vector<int> dims_;
  int ranks_ = 1;
};

}  // namespace selvage::topo
