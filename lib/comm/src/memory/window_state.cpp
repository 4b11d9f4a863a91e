#include "window_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace selvage::detail {

void WindowState::require_inside(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= bytes && length <= bytes - offset) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} bytes at offset {} of a window of {} bytes", length, offset, bytes));
}

void WindowTable::add(std::shared_ptr<const WindowState> window) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(window->id);
  if (windows_.size() <= index) windows_.resize(index + 1);
  windows_[index] = std::move(window);
}

void WindowTable::remove(int id) {
  const std::lock_guard lock(mutex_);
  windows_[id] = nullptr;
}

std::shared_ptr<const WindowState> WindowTable::find(int id) const {
  const std::lock_guard lock(mutex_);
  if (id >= 0 && static_cast<std::size_t>(id) < windows_.size() && windows_[id] != nullptr) {
    return windows_[id];
  }
  throw Error(ErrorKind::usage, fmt::format("a transfer to window {}, which is not here", id));
}

}  // namespace selvage::detail
