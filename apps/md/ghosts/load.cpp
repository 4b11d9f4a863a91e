#include "md/ghosts/load.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace selvage::md {

double imbalance(std::span<const double> load_by_rank) {
  const double all = std::accumulate(load_by_rank.begin(), load_by_rank.end(), 0.0);
  if (all <= 0) return 1;
  return std::ranges::max(load_by_rank) * static_cast<double>(load_by_rank.size()) / all;
}

std::string describe_load(std::span<const double> atoms_by_rank) {
  const auto [least, most] = std::ranges::minmax(atoms_by_rank);
  return fmt::format("{} to {} atoms per rank, imbalance {:.3f}", least, most, imbalance(atoms_by_rank));
}

void check_none_lost(std::int64_t step, std::int64_t expected, std::span<const double> atoms_by_rank) {
  const auto found =
      static_cast<std::int64_t>(std::accumulate(atoms_by_rank.begin(), atoms_by_rank.end(), 0.0));
  if (found == expected) return;
  throw Error(
      ErrorKind::numeric,
      fmt::format("at step {} there are {} atoms on all ranks together, {} {} than the {} of the start", step,
                  found, std::abs(expected - found), found < expected ? "fewer" : "more", expected));
}

}  // namespace selvage::md
