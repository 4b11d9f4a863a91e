#include "window_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace selvage::detail {
namespace {

[[noreturn]] void refuse(int window) {
  throw Error(ErrorKind::usage, fmt::format("a transfer to window {}, which is not here", window));
}

}  // namespace

void WindowState::require_inside(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= bytes && length <= bytes - offset) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} bytes at offset {} of a window of {} bytes", length, offset, bytes));
}

void WindowState::require_word(std::uint64_t offset) const {
  require_inside(offset, sizeof(std::uint64_t));
  if (offset % alignof(std::uint64_t) != 0)
    throw Error(ErrorKind::usage,
                fmt::format("an arrival counter at offset {}: not a multiple of 8", offset));
}

void WindowTable::add(std::shared_ptr<const WindowState> window) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(window->id);
  if (windows_.size() <= index) windows_.resize(index + 1);
  windows_[index] = {.window = std::move(window)};
}

void WindowTable::close(int id) {
  const std::lock_guard lock(mutex_);
  windows_[id].is_closed = true;
}

void WindowTable::remove(int id) {
  const std::lock_guard lock(mutex_);
  windows_[id].window = nullptr;
}

WindowUse WindowTable::begin(int id) const {
  const std::lock_guard lock(mutex_);
  const Entry& entry = find(id);
  if (entry.is_closed) refuse(id);
  return WindowUse(entry.window);
}

WindowUse WindowTable::answer(int id) const {
  const std::lock_guard lock(mutex_);
  return WindowUse(find(id).window);
}

const WindowTable::Entry& WindowTable::find(int id) const {
  const bool is_known = id >= 0 && static_cast<std::size_t>(id) < windows_.size();
  if (!is_known || windows_[id].window == nullptr) refuse(id);
  return windows_[id];
}

}  // namespace selvage::detail
