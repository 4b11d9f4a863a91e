#pragma once

// An unstructured mesh, its parts, and the lists that a ListHalo takes of each.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace mesh {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Integers = Kokkos::View<int*, Memory>;

/// The unit square cut into 2 n^2 triangles of different shapes. Nodes are numbered at random. Ranks have strips of triangles.
struct Mesh {
  int n, ranks;
  std::vector<int> number;               ///< of a node, by its place
  std::vector<std::array<double, 2>> x;  ///< by number

  Mesh(int cells, int parts) : n(cells), ranks(parts), number((cells + 1) * (cells + 1)), x(number.size()) {
    std::mt19937 random(1);
    std::iota(number.begin(), number.end(), 0);
    std::shuffle(number.begin(), number.end(), random);
    const auto moved = [&](int i) { return i % n == 0 ? i : i - 0.2 + 0.4 * (random() % 1000) / 1000; };
    for (int place = 0; place < (n + 1) * (n + 1); ++place)
      x[number[place]] = {moved(place / (n + 1)) / n, moved(place % (n + 1)) / n};
  }
  [[nodiscard]] int rank_of(int triangle) const { return triangle / 2 / n * ranks / n; }
  [[nodiscard]] std::array<int, 3> corners(int triangle) const {
    const int first = triangle / 2 / n * (n + 1) + triangle / 2 % n, last = first + n + 2;
    return {number[first], number[triangle % 2 == 0 ? last - 1 : last],
            number[triangle % 2 == 0 ? last : first + 1]};
  }
};

/// A rank's triangles, whose corners are numbers in Views: first the nodes that it owns, then ghosts.
struct Part {
  Kokkos::View<int* [3], Kokkos::LayoutRight, Memory> triangles;
  Kokkos::View<double* [2], Kokkos::LayoutRight, Memory> x;
  std::int64_t owned = 0;
  Integers send_ids, send_ranks;
};

template <class View, class Value>
View to_view(const std::string& label, const std::vector<Value>& values) {
  const View view(label, values.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (View::rank() == 1)
      host(i) = values[i];
    else
      std::copy(values[i].begin(), values[i].end(), &host(i, 0));
  }
  Kokkos::deep_copy(view, host);
  return view;
}

inline Part make_part(const Mesh& mesh, int rank) {
  // The nodes of each rank's triangles, ascending. A node belongs to the first rank that has it.
  std::vector<std::set<int>> touched(mesh.ranks);
  std::vector<int> owner(mesh.x.size(), mesh.ranks);
  for (int triangle = 0; triangle < 2 * mesh.n * mesh.n; ++triangle) {
    for (const int node : mesh.corners(triangle)) {
      owner[node] = std::min(owner[node], mesh.rank_of(triangle));
      touched[mesh.rank_of(triangle)].insert(node);
    }
  }
  // --8<-- [start:lists]
  // Ghosts lie by their owners' ranks, and then in the order of the owners' lists.
  std::vector<int> local(mesh.x.size()), send_ids, send_ranks;
  std::vector<std::array<double, 2>> x;
  Part part;
  const auto add_nodes_of = [&](int from) {
    for (const int node : touched[rank]) {
      if (owner[node] != from) continue;
      local[node] = static_cast<int>(x.size());
      x.push_back(mesh.x[node]);
    }
  };
  add_nodes_of(rank);
  part.owned = static_cast<std::int64_t>(x.size());
  for (int other = 0; other < mesh.ranks; ++other) {
    if (other == rank) continue;
    add_nodes_of(other);
    for (const int node : touched[other]) {
      if (owner[node] != rank) continue;
      send_ids.push_back(local[node]);
      send_ranks.push_back(other);
    }
  }
  // --8<-- [end:lists]
  std::vector<std::array<int, 3>> triangles;
  for (int triangle = 0; triangle < 2 * mesh.n * mesh.n; ++triangle) {
    if (mesh.rank_of(triangle) != rank) continue;
    for (int& corner : triangles.emplace_back(mesh.corners(triangle))) corner = local[corner];
  }
  part.triangles = to_view<decltype(part.triangles)>("triangles", triangles);
  part.x = to_view<decltype(part.x)>("x", x);
  part.send_ids = to_view<Integers>("send ids", send_ids);
  part.send_ranks = to_view<Integers>("send ranks", send_ranks);
  return part;
}

}  // namespace mesh
