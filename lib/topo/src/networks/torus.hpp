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

  void find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const override;
  [[nodiscard]] std::uint32_t hops(int a, int b) const;

 private:
  using Coordinates = std::array<int, 3>;

  [[nodiscard]] Coordinates coordinates(int host) const;
  /// Signed hops along a dimension, the shorter way round.
  [[nodiscard]] int way(int dimension, int from, int to) const;
  void find_path(int from, int to, const std::array<int, 3>& order, Path& path) const;

  std::array<int, 3> dims_;
};

}  // namespace selvage::topo
