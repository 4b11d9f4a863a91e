#pragma once

#include "md/domain.hpp"

#include <array>

namespace selvage::md {

/// The box cut by planes into one box per rank. Ranks count with x fastest.
class Decomposition {
 public:
  /// Equal boxes of the smallest surface. The same on all ranks.
  Decomposition(const Domain& domain, int ranks, int rank);

  [[nodiscard]] const Domain& domain() const { return domain_; }
  [[nodiscard]] const std::array<int, 3>& ranks() const { return ranks_; }
  /// Where this rank lies among them.
  [[nodiscard]] const std::array<int, 3>& place() const { return place_; }
  [[nodiscard]] Domain box() const;
  [[nodiscard]] int rank_at(const std::array<int, 3>& place) const {
    return (place[2] * ranks_[1] + place[1]) * ranks_[0] + place[0];
  }
  /// Plane `i` of 0 to ranks()[axis]: boxes lie between planes.
  [[nodiscard]] double plane(int axis, int i) const;

 private:
  Domain domain_;
  std::array<int, 3> ranks_{};
  std::array<int, 3> place_{};
};

}  // namespace selvage::md
