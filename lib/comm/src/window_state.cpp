#include "window_state.hpp"

#include <fmt/format.h>

namespace selvage::detail {

void WindowState::require_inside(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= bytes && length <= bytes - offset) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} bytes at offset {} of a window of {} bytes", length, offset, bytes));
}

void WindowTable::add(const WindowState& window) {
  const std::lock_guard lock(mutex_);
  if (windows_.size() <= static_cast<std::size_t>(window.id)) windows_.resize(window.id + 1);
  windows_[window.id] = &window;
}

void WindowTable::remove(int id) {
  const std::lock_guard lock(mutex_);
  windows_[id] = nullptr;
}

const WindowState& WindowTable::find(int id) const {
  const std::lock_guard lock(mutex_);
  if (id >= 0 && static_cast<std::size_t>(id) < windows_.size() && windows_[id] != nullptr) {
    return *windows_[id];
  }
  throw Error(ErrorKind::usage, fmt::format("a transfer to window {}, which is not here", id));
}

}  // namespace selvage::detail
