#pragma once

#include "message_memory.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// The MPI messages of one reduction that are underway, and the ranks that they wait for. Not collective.
class PendingMessages {
 public:
  /// \param memory     memory of the messages; never freed if messages are abandoned
  /// \param first_tag  added to the tags given below
  PendingMessages(ContextState& context, MessageMemory& memory, int first_tag)
      : context_(context), memory_(memory), first_tag_(first_tag) {}
  PendingMessages(const PendingMessages&) = delete;
  PendingMessages& operator=(const PendingMessages&) = delete;
  ~PendingMessages();

  /// Messages of no bytes are neither sent nor received.
  void receive(std::byte* to, std::int64_t bytes, int rank, int tag = 0);
  void send(const std::byte* from, std::int64_t bytes, int rank, int tag = 0);
  /// Polls. \throws Error{mpi}
  [[nodiscard]] bool are_done();
  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// The ranks of messages that are not complete, with `what` is awaited of them.
  [[nodiscard]] std::string describe(const char* what) const;
  /// Bytes sent so far.
  [[nodiscard]] std::int64_t bytes_between_hosts() const { return sent_bytes_; }

 private:
  enum class Way { in, out };
  struct Partner {
    int rank;
    Way way;
  };
  MPI_Request* add(const Partner& partner);

  ContextState& context_;
  MessageMemory& memory_;
  int first_tag_;
  std::vector<MPI_Request> requests_;
  std::vector<Partner> partners_;  ///< of the requests
  std::vector<int> done_;          ///< indices of completed requests, from MPI
  std::int64_t sent_bytes_ = 0;
};

}  // namespace selvage::detail
