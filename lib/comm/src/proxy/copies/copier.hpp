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
  /// Stores to a word with release order at system scope, after all copies so far.
  virtual void release(std::uint64_t& word, std::uint64_t value) = 0;
  /// A ticket for all copies and releases so far.
  [[nodiscard]] virtual std::uint64_t mark() = 0;
  [[nodiscard]] virtual bool has_done(std::uint64_t ticket) = 0;
};

/// Waits until a copier has done all copies, and destroys it. \return false on a timeout or an error of the GPU: the copier is then
///         never destroyed, and the memory that it copies must never be freed
[[nodiscard]] bool retire(std::unique_ptr<Copier> copier, std::chrono::milliseconds longest) noexcept;

/// Makes a copier whose copies the calling thread carries out at once.
[[nodiscard]] std::unique_ptr<Copier> make_host_copier();
/// Copies in different lanes run at the same time on a GPU. Copiers of one lane share a stream.
enum class CopyLane { outward, inward, polled, first_staged };

/// Makes a copier on the current GPU, which copies between any memory that the GPU reaches, on the lane's stream. The GPU must be
/// current in calls of the copier too. \throws Error{unsupported} without a GPU backend, Error{cuda}
[[nodiscard]] std::unique_ptr<Copier> make_device_copier(CopyLane lane = CopyLane::outward);

}  // namespace selvage::detail
