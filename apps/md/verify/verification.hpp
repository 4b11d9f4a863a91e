#pragma once

#include "md/cli/settings.hpp"
#include "md/io/state.hpp"
#include "md/physics/thermo.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvage::md {

/// Compares a run with what is known about it, and keeps the worst:
/// - the thermo figures that LAMMPS gives for its benchmark `in.lj`, where the run is that case; after step 0 only with that
///   benchmark's lists, new every 20 steps;
/// - the total momentum and, with the shifted energy, the total energy, which an undamped run keeps but for what its
///   time step leaves open;
/// - the last step's forces, of up to most_atoms_for_all_pairs atoms, with sums over all pairs.
class Verification {
 public:
  static constexpr std::int64_t most_atoms_for_all_pairs = 5000;

  Verification(const Settings& settings, std::int64_t atoms);

  void check(const ThermoRow& row);
  /// \param forces  in the state's order
  void check_forces(const State& state, const std::vector<Vec3<double>>& forces);

  /// How one comparison ended.
  struct Outcome {
    std::string name;
    bool ok;
    std::string detail;
  };
  /// One per comparison, and a failure where nothing could be compared.
  [[nodiscard]] std::vector<Outcome> outcomes() const;

 private:
  /// The largest difference in units of what is allowed, and where.
  struct Worst {
    double share = -1;
    double difference = 0;
    double allowed = 0;
    std::string where;
    void take(double new_difference, double new_allowed, std::string new_where);
  };

  void check_known(const ThermoRow& row);
  void check_energy(const ThermoRow& row);
  [[nodiscard]] bool is_benchmark() const;
  [[nodiscard]] bool has_benchmark_lists() const;

  Settings settings_;
  std::int64_t atoms_;
  std::optional<ThermoRow> first_;
  std::optional<ThermoRow> settled_;  ///< the first one after the start's lattice has melted
  Worst known_;
  Worst momentum_;
  Worst energy_;
  Worst forces_;
};

}  // namespace selvage::md
