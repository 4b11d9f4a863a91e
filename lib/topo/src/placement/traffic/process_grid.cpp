#include "process_grid.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic.hpp>

#include <fmt/format.h>

namespace selvage::topo {

ProcessGrid::ProcessGrid(std::span<const int> dims) : dims_(dims.begin(), dims.end()) {
  if (dims.empty()) throw Error(ErrorKind::input, "a process grid without dimensions");
  for (const int extent : dims) {
    if (extent < 1)
      throw Error(ErrorKind::input, fmt::format("a process grid with a dimension of {}", extent));
    if (extent > Traffic::max_ranks / ranks_) {
      throw Error(ErrorKind::input, fmt::format("a process grid of more than {} ranks", Traffic::max_ranks));
    }
    ranks_ *= extent;
  }
}

std::vector<int> ProcessGrid::coordinates(int rank) const {
  std::vector<int> at(dims_.size());
  for (std::size_t d = dims_.size(); d-- > 0;) {
    at[d] = rank % dims_[d];
    rank /= dims_[d];
  }
  return at;
}

int ProcessGrid::rank_at(std::span<const int> coordinates, const std::vector<bool>& periodic) const {
  int rank = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    int at = coordinates[d];
    if (at < 0 || at >= dims_[d]) {
      if (periodic.empty() || !periodic[d]) return -1;
      at = (at % dims_[d] + dims_[d]) % dims_[d];
    }
    rank = rank * dims_[d] + at;
  }
  return rank;
}

}  // namespace selvage::topo
