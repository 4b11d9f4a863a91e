#pragma once

#include "list_path.hpp"

#include <memory>

namespace selvage::detail {

/// Lists whose kernels pack, signal and wait by themselves: the host only enqueues. It takes part where blocks must grow,
/// which both ranks of a link know from their lists and fields, and where no particles move: those words go over MPI.
class KernelListPath : public ListPath {
 public:
  /// This rank's own link.
  virtual void connect_self(ListLink& self, Executor& executor) = 0;
  /// Enqueues, before a rebuild's fence.
  virtual void look_at_state(Executor& executor) = 0;
  /// After each rebuild, when all ranges are known, and a fence.
  /// \param with_self  whether this path serves this rank's own link too
  virtual void take_lists(bool with_self, Executor& executor) = 0;
  /// All of an operation, after start(): the second half, or both in one kernel.
  virtual void take(const ListStep& step) = 0;
  virtual void exchange(const ListStep& step) = 0;
  /// Throws what kernels have found, once they have ended. \throws Error{timeout}, Error{usage}
  virtual void check() const = 0;
};

/// Ranks of one host, whose kernels reach each other's memory.
[[nodiscard]] std::unique_ptr<KernelListPath> make_kernel_lists(ContextState& context, int card_tag,
                                                                int message_tag, bool on_host);
/// Initiation queue: kernels pack into memory of their own rank, and hand the proxy a descriptor for each link and operation,
/// with the length that the message then has; it sends and receives over MPI, and releases the flags that kernels wait for.
/// \param staged  whether MPI is given host memory, where kernels of a GPU pack then, instead of the GPU's
[[nodiscard]] std::unique_ptr<KernelListPath> make_queue_lists(ContextState& context, int message_tag,
                                                               bool on_host, bool staged);

}  // namespace selvage::detail
