#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::timing {

/// Work that is timed, whatever it leaves: its times are no record's.
struct Timed {
  std::string name;
  std::function<void()> run;
  int units = 1;  ///< of work that one call of run() does; times are per unit
};

/// Does the work and compares what it leaves with what is right. Collective. \throws Error{verification}
class Check {
 public:
  /// \tparam F  a function object that holds something: one without a state, as `[] {}`, sees nothing of what was timed
  template <class F>
  requires(!std::is_same_v<F, Check> && std::is_invocable_v<const F&> && !std::is_empty_v<F>)
      Check(F function)
      : function_(std::move(function)) {}  // NOLINT(google-explicit-constructor): as a std::function

  void operator()() const { function_(); }
  explicit operator bool() const { return static_cast<bool>(function_); }

 private:
  std::function<void()> function_;
};

/// One of several ways to do the same work.
struct Contender : Timed {
  /// \throws Error{usage} where there is nothing to run or to check
  Contender(std::string its_name, std::function<void()> work, Check its_check, int units_per_call = 1);

  Check check;
};

/// Seconds of a unit of work, by name.
using Times = std::map<std::string, double>;

/// The numbers below `size` in an order that depends on the round alone, so that all ranks have the same.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t size, unsigned round);

/// Times work in turns, round after round, so that a machine whose speed drifts treats all alike. Each round has another order,
/// so that what one leaves behind (caches, queues) doesn't always meet the same other.
///
/// A time is of one unit of work, averaged over a batch of calls, and the slowest rank's.
class Turns {
 public:
  /// Finds out how many calls a batch is. Collective, as all of it.
  /// \param batch_seconds  of which a batch begins and ends with a meeting of the ranks and a fence, some 20 us on GPUs
  Turns(MPI_Comm comm, std::vector<Timed> all, double batch_seconds = 1e-3);

  [[nodiscard]] Times round();

 private:
  MPI_Comm comm_;
  std::vector<Timed> all_;
  std::vector<int> calls_;  ///< of a batch
  unsigned rounds_ = 0;
};

/// Turns of what is checked.
class Trial {
 public:
  /// As of Turns.
  Trial(MPI_Comm comm, std::vector<Contender> contenders, double batch_seconds = 1e-3);

  /// \throws Error{verification} of the first contender that does wrong
  void check() const;
  [[nodiscard]] Times round() { return turns_.round(); }

 private:
  std::vector<Contender> contenders_;
  Turns turns_;
};

}  // namespace selvage::timing
