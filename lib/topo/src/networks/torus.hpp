#pragma once

#include <selvage/topo/network.hpp>

#include <array>
#include <cstdint>

namespace selvage::topo {

/// A torus of three dimensions with one host per router. Fixed paths go along the dimensions in their order; adaptive
/// ones share among the six orders, where those differ.
class Torus : public Network {
 public:
  explicit Torus(const std::array<int, 3>& dims);

  [[nodiscard]] std::vector<Path> paths(int from, int to, Routing routing) const override;
  [[nodiscard]] std::uint32_t hops(int a, int b) const;

 private:
  using Coordinates = std::array<int, 3>;

  [[nodiscard]] Coordinates coordinates(int host) const;
  [[nodiscard]] int host_at(const Coordinates& at) const;
  /// Signed hops along a dimension, the shorter way round.
  [[nodiscard]] int way(int dimension, int from, int to) const;
  [[nodiscard]] Path path(int from, int to, const std::array<int, 3>& order) const;

  std::array<int, 3> dims_;
};

}  // namespace selvage::topo
