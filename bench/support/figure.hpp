#pragma once

#include <selvage/timing/trial.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {

using timing::Check;
using timing::Contender;
using timing::Times;
using timing::Trial;

/// What is measured in turns under one name.
struct Figure {
  /// The first is what a user gets without options: its time is the figure's.
  std::vector<Contender> contenders;
  std::string label = {};  ///< how the first does it
  /// What else follows from the times of a round, by name and unit: "bus, GB/s".
  std::function<std::map<std::string, double>(const Times&)> derive = {};
  double batch_seconds = 1e-3;
  std::shared_ptr<void> keeps = {};  ///< what they use, until the last round is over
  /// Whether `keeps` lives until all figures are done. UCX holds on to its mappings of GPU memory that messages went through. Were such
  /// memory freed, that of a later figure could lie in its place, and CUDA would refuse to map it once more.
  bool keeps_to_the_end = false;
};

/// The floor on hosts of whoever moves so many bytes: a copy of them within a rank's own memory.
[[nodiscard]] Contender copy_floor(std::size_t bytes);

/// Registers a benchmark of which a repetition is a round of a Trial: Google Benchmark then has medians and spreads of all
/// contenders' times, which are counters, "NAME, us". All contenders are checked before the first round and after the last:
/// nothing else sets the counter "verified".
/// \param make  called when its turn comes, by all ranks
void register_figure(const std::string& name, MPI_Comm comm, int rounds, std::function<Figure()> make);

/// Something that is measured otherwise, round by round.
struct Measurement {
  Check check;                                           ///< before the first round and after the last
  std::function<std::map<std::string, double>()> round;  ///< values by name and unit: "hidden, %"
  std::string first = {};                                ///< the one that is the figure's time, in us
  std::string label = {};
};
void register_measurement(const std::string& name, int rounds, std::function<Measurement()> make);

}  // namespace selvage::bench
