#pragma once

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/host_copy.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Does nothing before it must, as a device does: work waits in a queue until a fence.
class DeferredExecutor final : public Executor {
 public:
  void enqueue(std::function<void()> work) { queue_.push_back(std::move(work)); }

  void copy(std::span<const CopyBox> boxes) override {
    for (const CopyBox& box : boxes) enqueue([box] { copy_rows_on_host(box, 0, row_count(box)); });
  }
  void stage_out(std::byte* staging, const std::byte* buffer, std::size_t bytes) override {
    enqueue([=] { std::memcpy(staging, buffer, bytes); });
  }
  void stage_in(std::byte* buffer, const std::byte* staging, std::size_t bytes) override {
    enqueue([=] { std::memcpy(buffer, staging, bytes); });
  }
  void fence() override {
    for (const auto& work : queue_) work();
    queue_.clear();
  }
  [[nodiscard]] Buffer allocate(std::size_t bytes) const override {
    auto memory = std::make_shared<std::vector<std::byte>>(bytes);
    std::byte* data = memory->data();
    return {data, std::move(memory)};
  }
  [[nodiscard]] Buffer allocate_zeroed(std::size_t bytes) const override { return allocate(bytes); }
  [[nodiscard]] Buffer allocate_staging(std::size_t bytes) const override { return allocate(bytes); }
  [[nodiscard]] bool runs_on_host() const override { return false; }
  [[nodiscard]] void* stream() const override { return nullptr; }

 private:
  std::vector<std::function<void()>> queue_;
};

}  // namespace selvage::detail
