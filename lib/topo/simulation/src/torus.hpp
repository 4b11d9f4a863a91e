#pragma once

#include <selvage/topo/network.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

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

  /// Signed hops along a dimension, the shorter way round.
  [[nodiscard]] int way(int dimension, int from, int to) const;
  /// The same along each of them.
  [[nodiscard]] Coordinates ways(int from, int to) const;
  /// \param order  of the dimensions in which the two differ
  void find_path(int from, int to, const Coordinates& ways, std::span<const int> order, Path& path) const;

  std::array<int, 3> dims_;
  std::vector<Coordinates> coordinates_;  // of each host
};

}  // namespace selvage::topo
