#pragma once

#include "list_path.hpp"

#include <memory>

namespace selvage::detail {

/// Lists whose kernels pack, signal and wait, so that the host only enqueues kernels. The host does more in two cases: when blocks must
/// grow, which both ranks of a link know from their lists and fields, and for headers without particles, of rebuilds and failures, which go
/// by MPI.
class KernelListPath : public ListPath {
 public:
  /// Sets the link from this rank to itself.
  virtual void connect_self(ListLink& self, Executor& executor) = 0;
  /// Enqueues what must be done before the fence of a rebuild.
  virtual void look_at_state(Executor& executor) = 0;
  /// The epoch after the last one of kernels. Call it after that fence.
  [[nodiscard]] virtual std::uint64_t following_epoch() const = 0;
  /// Call it after each rebuild, when all ranges are known, and after a fence.
  /// \param with_self  whether this path also carries the link from this rank to itself
  /// \param epoch  of the rebuild; not before following_epoch(), and the same at both ends of a link
  virtual void take_lists(bool with_self, std::uint64_t epoch, Executor& executor) = 0;
  /// Enqueues the rest of an operation after start(): its second half, or both halves in one kernel.
  virtual void take(const ListStep& step) = 0;
  virtual void exchange(const ListStep& step) = 0;
};

/// For ranks of one host whose kernels can access each other's memory.
[[nodiscard]] std::unique_ptr<KernelListPath> make_kernel_lists(ContextState& context, int card_tag,
                                                                int message_tag, bool on_host);
/// For the initiation queue: kernels pack to memory of their own rank, and write a command with the message's length for each link and
/// operation. The proxy sends and receives over MPI and releases the flags that kernels wait for.
/// \param staged  whether kernels of a GPU pack to host memory, which MPI is then given, instead of GPU memory
[[nodiscard]] std::unique_ptr<KernelListPath> make_queue_lists(ContextState& context, int message_tag,
                                                               bool on_host, bool staged);

}  // namespace selvage::detail
