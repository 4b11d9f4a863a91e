#pragma once

#include <mpi.h>

#include <chrono>
#include <set>
#include <vector>

namespace selvage::detail {

/// Finds out who doesn't answer, for ranks whose wait has run out. Ranks that wait in a collective operation answer; those
/// that compute, wait for something else, have stopped or are gone don't. Not thread-safe.
class RollCall {
 public:
  static constexpr int tags = 2;

  /// \param first_tag  of `tags` on `comm` that nobody else uses
  RollCall(MPI_Comm comm, int first_tag);

  /// A new operation: what was heard in the one before tells nothing.
  void begin() { heard_.clear(); }
  /// Answers who has asked. Called while this rank waits; looks now and then only.
  void answer();
  /// The other ranks that neither answer within `patience` nor have asked since begin(). MPI may keep messages to them.
  /// \throws Error{mpi}
  [[nodiscard]] std::vector<int> silent(std::chrono::milliseconds patience);

 private:
  void answer_now();
  void receive_from_all(int tag, bool replies);
  void send(int rank, int tag);

  MPI_Comm comm_;
  int question_tag_;
  int answer_tag_;
  unsigned polls_ = 0;
  std::set<int> heard_;
};

}  // namespace selvage::detail
