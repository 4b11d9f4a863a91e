#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace selvage::bench {

/// One of several ways to do the same work.
struct Contender {
  std::string name;
  std::function<void()> run;
  int units = 1;  ///< of work that one call does; times are per unit
};

/// Times contenders in turn, round after round, so that a machine whose speed drifts treats them alike.
///
/// A sample is the time of one unit of work, averaged over a batch of calls, and the slowest rank's.
class Trial {
 public:
  /// Collective: measures at once.
  /// \param batch_seconds  of which a batch begins and ends with a meeting of the ranks and a fence, some 20 us on GPUs
  Trial(MPI_Comm comm, const std::vector<Contender>& contenders, int rounds, double batch_seconds = 1e-3);

  /// Seconds per unit, one sample per round.
  [[nodiscard]] const std::vector<double>& samples(const std::string& name) const {
    return samples_.at(name);
  }
  [[nodiscard]] double median(const std::string& name) const;
  /// (largest - smallest) / median.
  [[nodiscard]] double spread(const std::string& name) const;
  /// The median over rounds of `other`'s time over `name`'s in the same round: how many times faster `name`
  /// is.
  [[nodiscard]] double speedup(const std::string& name, const std::string& other) const;

 private:
  std::map<std::string, std::vector<double>> samples_;
};

}  // namespace selvage::bench
