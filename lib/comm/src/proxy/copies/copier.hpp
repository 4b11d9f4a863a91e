#pragma once

#include <selvage/comm/detail/copy_box.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace selvage::detail {

/// Copies bytes for a service thread, in order, without blocking it.
class Copier {
 public:
  Copier() = default;
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;
  virtual ~Copier() = default;

  virtual void copy(std::byte* target, const std::byte* source, std::size_t bytes) = 0;
  virtual void copy(const CopyBox& box) = 0;
  /// Releases a word at system scope, after all copies so far.
  virtual void release(std::uint64_t& word, std::uint64_t value) = 0;
  /// A ticket for all that was asked so far.
  [[nodiscard]] virtual std::uint64_t mark() = 0;
  [[nodiscard]] virtual bool has_done(std::uint64_t ticket) = 0;
};

/// Ends a copier, once what it was asked for is done. \return false: not in time, or it can't be known; the copier is left behind
///         then for good, and so must be what it copies
[[nodiscard]] bool retire(std::unique_ptr<Copier> copier, std::chrono::milliseconds longest) noexcept;

/// The calling thread copies, at once.
[[nodiscard]] std::unique_ptr<Copier> make_host_copier();
/// What copies side by side on a GPU. Copiers of one lane share a stream, and take turns.
enum class CopyLane { outward, inward, polled, first_staged };

/// A stream of the lane, on the current GPU, copies between any memory that the GPU reaches; the GPU must be
/// current in its calls too. \throws Error{unsupported} without a GPU backend, Error{cuda}
[[nodiscard]] std::unique_ptr<Copier> make_device_copier(CopyLane lane = CopyLane::outward);

}  // namespace selvage::detail
