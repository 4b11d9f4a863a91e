#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace selvage::timing {

/// One of several ways to do the same work.
struct Contender {
  std::string name;
  std::function<void()> run;
  /// Does the work and compares what it leaves with what is right. Collective. \throws Error{verification}
  std::function<void()> check;
  int units = 1;  ///< of work that one call of run() does; times are per unit
};

/// Seconds of a unit of work, by contender.
using Times = std::map<std::string, double>;

/// Times contenders in turn, round after round, so that a machine whose speed drifts treats them alike. Each round has another
/// order, so that what one leaves behind (caches, queues) doesn't always meet the same other.
///
/// A time is of one unit of work, averaged over a batch of calls, and the slowest rank's.
class Trial {
 public:
  /// Finds out how many calls a batch is. Collective, as all of it.
  /// \param batch_seconds  of which a batch begins and ends with a meeting of the ranks and a fence, some 20 us on GPUs
  Trial(MPI_Comm comm, std::vector<Contender> contenders, double batch_seconds = 1e-3);

  /// \throws Error{verification} of the first contender that does wrong
  void check() const;
  [[nodiscard]] Times round();

 private:
  MPI_Comm comm_;
  std::vector<Contender> contenders_;
  std::vector<int> calls_;  ///< of a batch, by contender
  unsigned rounds_ = 0;
};

}  // namespace selvage::timing
