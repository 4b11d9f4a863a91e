#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// MPI messages of one reduction that are under way, and whom they wait for. Not collective.
class PendingMessages {
 public:
  /// \param first_tag  added to the tags given below
  PendingMessages(ContextState& context, int first_tag) : context_(context), first_tag_(first_tag) {}
  PendingMessages(const PendingMessages&) = delete;
  PendingMessages& operator=(const PendingMessages&) = delete;
  /// Messages that are given up: their buffers must be kept.
  ~PendingMessages();

  /// Messages of no bytes are neither sent nor received.
  void receive(std::byte* to, std::int64_t bytes, int rank, int tag);
  void send(const std::byte* from, std::int64_t bytes, int rank, int tag);
  /// Polls. \throws Error{mpi}
  [[nodiscard]] bool are_done();
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// The ranks of those that aren't done, with `what` is awaited of them.
  [[nodiscard]] std::string describe(const char* what) const;

 private:
  MPI_Request* add(int rank);

  ContextState& context_;
  int first_tag_;
  std::vector<MPI_Request> requests_;
  std::vector<int> ranks_;  ///< of the requests
  std::vector<int> done_;   ///< MPI's list of those that have ended
};

}  // namespace selvage::detail
