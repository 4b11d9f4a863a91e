#pragma once

#include <mpi.h>

#include <chrono>
#include <set>
#include <vector>

namespace selvage::detail {

/// Long enough for ranks that began to wait later.
constexpr std::chrono::milliseconds roll_call_patience{1000};

/// Finds the ranks that don't answer, after a wait has timed out. Ranks that wait in a collective operation answer. Ranks that compute,
/// wait for something else, have stopped or have died don't. Not thread-safe.
class RollCall {
 public:
  static constexpr int tags = 2;

  /// \param first_tag  of `tags` on `comm` that nobody else uses
  RollCall(MPI_Comm comm, int first_tag);

  /// Begins a new operation: what ranks said in the one before no longer counts.
  void begin() { heard_.clear(); }
  /// Answers ranks that have asked. Call it in every poll of a wait; it looks for messages only now and then.
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
