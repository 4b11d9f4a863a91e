#pragma once

#include <selvage/comm/detail/copy_box.hpp>
#include <selvage/comm/detail/device_scope.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace selvage::detail {

/// Memory that a plan owns, whatever allocated it.
struct Buffer {
  std::byte* data = nullptr;
  std::shared_ptr<void> owner;
};

/// Memory of the current GPU that other processes can map, and that outlives any stream: what Kokkos allocates may come from
/// cudaMallocAsync, has no name for other processes then, and goes back on its instance's stream. \throws Error{cuda}
[[nodiscard]] Buffer allocate_on_device(std::size_t bytes);

/// What a transport may ask of an execution space instance. Transports know bytes and pointers only; this is
/// the seam to Kokkos. All work is enqueued on the instance and ordered with the caller's kernels there.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  /// Copies every box. Boxes of one call don't overlap.
  virtual void copy(std::span<const CopyBox> boxes) = 0;
  /// Copies `bytes` from memory of allocate() to memory of allocate_staging(), and back. A no-op where they
  /// are one.
  virtual void stage_out(std::byte* staging, const std::byte* buffer, std::size_t bytes) = 0;
  virtual void stage_in(std::byte* buffer, const std::byte* staging, std::size_t bytes) = 0;
  /// Waits for all that was enqueued on the instance, and for nothing else.
  virtual void fence() = 0;
  /// Memory that the instance's kernels reach fastest.
  [[nodiscard]] virtual Buffer allocate(std::size_t bytes) const = 0;
  /// The same, zeroed before the call returns.
  [[nodiscard]] virtual Buffer allocate_zeroed(std::size_t bytes) const = 0;
  /// Host memory that MPI reads and the instance copies to and from fastest (page-locked for a GPU).
  [[nodiscard]] virtual Buffer allocate_staging(std::size_t bytes) const = 0;
  /// Whether enqueued work has already happened when the call returns (Serial, OpenMP).
  [[nodiscard]] virtual bool runs_on_host() const = 0;
  /// The instance's cudaStream_t; null on hosts.
  [[nodiscard]] virtual void* stream() const = 0;
  /// The number of the instance's GPU; no_device on hosts.
  [[nodiscard]] virtual int device() const { return no_device; }
};

/// How a reduction folds one contribution into what a rank owns.
class Combiner {
 public:
  Combiner() = default;
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;
  virtual ~Combiner() = default;

  /// target = operation(target, source) for each element of the box.
  virtual void combine(const CopyBox& box) = 0;
};

}  // namespace selvage::detail
