#pragma once

#include "arena.hpp"
#include "context/context_state.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

  /// \throws Error{usage} unless [offset, offset + length) lies within
  void require_inside(std::uint64_t offset, std::uint64_t length) const;
};

/// The windows of one Context that live on this rank, by id.
class WindowTable {
 public:
  /// The next id; the same on all ranks that ask in the same order.
  [[nodiscard]] int take_id() { return next_id_++; }
  void add(std::shared_ptr<const WindowState> window);
  void remove(int id);
  /// Whoever holds the result keeps the window's memory.
  /// \throws Error{usage} for one that is gone
  [[nodiscard]] std::shared_ptr<const WindowState> find(int id) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const WindowState>> windows_;
  int next_id_ = 0;
};

}  // namespace selvage::detail
