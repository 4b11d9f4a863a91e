#pragma once

#include "common/breakdown.hpp"
#include "common/environment_facts.hpp"
#include "common/session.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace selvage::app {

/// Everything a run says about itself, as text on rank 0 and as run.json.
///
/// run.json: app, version, command, input (nested, values as used), input_origin (flat), environment,
/// decisions, results, breakdown (seconds), verify, fom.
class Report {
 public:
  using Number = std::variant<std::int64_t, double, std::string>;

  /// Collects the environment: compiler, Kokkos, MPI, HDF5, ranks, hosts, commit. Collective.
  explicit Report(Session& session);

  /// The environment as --env prints it: one "name: value" per line.
  [[nodiscard]] std::string environment_text() const;

  /// What --env asks for: prints environment_text(), or with --json the same as JSON. Rank 0 prints.
  void print_environment() const;

  /// Records why something was chosen (explain() text, a line each) and prints it where the session talks.
  void decide(std::string_view lines);

  /// Records a figure for run.json, e.g. ("error_max", 1.2e-5).
  void result(std::string name, Number value);

  /// Records one check; finish() prints "VERIFY ok NAME: DETAIL" or "VERIFY failed ...". The same call, with
  /// the same outcome, on all ranks. A failed one makes the program exit with 3.
  void verify(std::string name, bool ok, std::string detail);

  /// Records the time breakdown, if it was measured. Collective.
  void breakdown(const Breakdown& breakdown);

  /// Records the figure of merit, printed by finish() as the last line: "FOM: 1.234 GLUPS".
  void figure_of_merit(double value, std::string unit);

  /// Writes DIR/run.json (nothing when dir is empty) and prints breakdown, VERIFY lines and the FOM; with
  /// --json the JSON instead. Collective.
  /// \throws AgreedError{io}
  void finish(const std::string& dir);

  /// run.json's text.
  [[nodiscard]] std::string json() const;

 private:
  struct Check {
    std::string name;
    bool ok;
    std::string detail;
  };

  void print_summary() const;

  Session& session_;
  Facts environment_;
  std::vector<std::string> decisions_;
  std::vector<std::pair<std::string, Number>> results_;
  std::vector<Check> checks_;
  std::vector<Breakdown::Row> breakdown_;
  std::optional<std::pair<double, std::string>> fom_;
};

}  // namespace selvage::app
