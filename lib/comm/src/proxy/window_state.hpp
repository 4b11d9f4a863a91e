#pragma once

#include "memory/arena.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Memory that all ranks of a Context have, of one size, and where each can be reached from here.
struct WindowState {
  int id = -1;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::host;
  Buffer local;
  /// By rank: whether messages go through host memory, since MPI takes none of the GPU's while kernels wait for it.
  std::vector<bool> staged;
  std::vector<PeerMappings::Mapped> mapped;  ///< by rank; null where only messages reach
  /// Transfers that read or write the window. A transfer that ends releases what it has read and written to the owner, who
  /// acquires it with 0.
  mutable std::atomic<int> transfers{0};

  /// \throws Error{usage} unless [offset, offset + length) lies within
  void require_inside(std::uint64_t offset, std::uint64_t length) const;
  /// \throws Error{usage} unless a 64-bit word lies there, aligned
  void require_word(std::uint64_t offset) const;
};

/// What a transfer holds: the window's memory stays as long, and its owner waits for it.
class WindowUse {
 public:
  WindowUse() = default;
  explicit WindowUse(std::shared_ptr<const WindowState> window) : window_(std::move(window)) {
    window_->transfers.fetch_add(1, std::memory_order_relaxed);
  }
  WindowUse(WindowUse&&) noexcept = default;
  WindowUse& operator=(WindowUse&& other) noexcept {
    window_.swap(other.window_);
    return *this;
  }
  ~WindowUse() {
    if (window_) window_->transfers.fetch_sub(1, std::memory_order_release);
  }
  const WindowState& operator*() const { return *window_; }
  const WindowState* operator->() const { return window_.get(); }

 private:
  std::shared_ptr<const WindowState> window_;
};

/// The windows of one Context that live on this rank, by id.
class WindowTable {
 public:
  /// The next id; the same on all ranks that ask in the same order.
  [[nodiscard]] int take_id() { return next_id_++; }
  void add(std::shared_ptr<const WindowState> window);
  /// No transfer of this rank may begin any more; those of others may still come.
  void close(int id);
  void remove(int id);
  /// For a transfer that this rank begins. \throws Error{usage} for a window that is closed or gone
  [[nodiscard]] WindowUse begin(int id) const;
  /// For a transfer that another rank has begun. \throws Error{usage} for a window that is gone
  [[nodiscard]] WindowUse answer(int id) const;

 private:
  struct Entry {
    std::shared_ptr<const WindowState> window;
    bool is_closed = false;
  };
  [[nodiscard]] const Entry& find(int id) const;

  mutable std::mutex mutex_;
  std::vector<Entry> windows_;
  int next_id_ = 0;
};

}  // namespace selvage::detail
