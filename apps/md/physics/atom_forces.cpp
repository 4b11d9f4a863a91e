#include "md/physics/atom_forces.hpp"

#include "common/rank_sums.hpp"

#include <cstdint>

namespace selvage::md {
namespace {

/// An atom as numbers: id, position, force. Ids up to 2^53 are exact, and a place without an atom has id 0.
constexpr std::size_t numbers_per_atom = 7;
constexpr const char* what = "gathering forces to verify them";

}  // namespace

AtomForces gather_forces(MPI_Comm comm, const State& own, const std::vector<Vec3<double>>& forces) {
  const auto most =
      static_cast<std::size_t>(app::max_over_ranks(comm, what, static_cast<double>(own.atoms())));
  std::vector<double> numbers;
  for (std::size_t i = 0; i < own.ids.size(); ++i) {
    const Vec3<double>& x = own.positions[i];
    const Vec3<double>& f = forces[i];
    numbers.insert(numbers.end(), {static_cast<double>(own.ids[i]), x.x, x.y, x.z, f.x, f.y, f.z});
  }
  numbers.resize(most * numbers_per_atom, 0.0);
  const std::vector<double> all = app::gather_everywhere(comm, what, numbers);
  AtomForces result;
  result.state.domain = own.domain;
  result.state.step = own.step;
  for (std::size_t i = 0; i < all.size(); i += numbers_per_atom) {
    if (all[i] == 0) continue;
    result.state.ids.push_back(static_cast<std::int64_t>(all[i]));
    result.state.positions.push_back({all[i + 1], all[i + 2], all[i + 3]});
    result.forces.push_back({all[i + 4], all[i + 5], all[i + 6]});
  }
  return result;
}

}  // namespace selvage::md
