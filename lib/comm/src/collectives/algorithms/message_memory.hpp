#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace selvage::detail {

/// Host memory for messages that are sent and received. If messages are abandoned, MPI may still use it, and it is never freed.
class MessageMemory {
 public:
  MessageMemory() = default;
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;
  ~MessageMemory() {
    if (is_abandoned_) static_cast<void>(new std::vector(std::move(blocks_)));
  }

  /// Aligned for every element type.
  [[nodiscard]] std::byte* allocate(std::size_t bytes) {
    std::shared_ptr<std::byte[]> block(new std::byte[bytes]);
    std::byte* const data = block.get();
    keep(std::move(block));
    return data;
  }
  /// Uses memory of another owner.
  void keep(std::shared_ptr<void> block) { blocks_.push_back(std::move(block)); }
  void abandon() { is_abandoned_ = true; }

 private:
  std::vector<std::shared_ptr<void>> blocks_;
  bool is_abandoned_ = false;
};

}  // namespace selvage::detail
