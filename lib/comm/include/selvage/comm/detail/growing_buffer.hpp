#pragma once

#include <selvage/comm/detail/executor.hpp>

#include <algorithm>
#include <cstddef>

namespace selvage::detail {

/// Memory of an executor that grows by half at least, so that lists which change a little allocate nothing.
class GrowingBuffer {
 public:
  /// Room for `count` values, in memory that the executor's kernels reach. What it held is lost where it grows: the
  /// instance is fenced first, since its kernels may still use that.
  template <class T>
  T* reserve(std::size_t count, Executor& executor) {
    return reinterpret_cast<T*>(reserve_bytes(count * sizeof(T), executor));
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(buffer_.data);
  }
  [[nodiscard]] std::size_t capacity_bytes() const { return capacity_; }

 private:
  std::byte* reserve_bytes(std::size_t bytes, Executor& executor) {
    if (bytes > capacity_) {
      executor.fence();
      capacity_ = std::max(bytes, capacity_ + capacity_ / 2);
      buffer_ = executor.allocate(capacity_);
    }
    return buffer_.data;
  }

  Buffer buffer_;
  std::size_t capacity_ = 0;
};

/// The same with an image in host memory; on hosts both are one.
class MirroredBuffer {
 public:
  template <class T>
  T* reserve(std::size_t count, Executor& executor) {
    const std::size_t bytes = count * sizeof(T);
    const std::size_t before = kernels_.capacity_bytes();
    std::byte* data = kernels_.reserve<std::byte>(bytes, executor);
    if (executor.runs_on_host()) {
      host_ = {data, nullptr};
    } else if (kernels_.capacity_bytes() != before) {
      host_ = executor.allocate_staging(kernels_.capacity_bytes());
    }
    used_ = bytes;
    return reinterpret_cast<T*>(host_.data);
  }
  /// For the host.
  template <class T>
  [[nodiscard]] T* host() const {
    return reinterpret_cast<T*>(host_.data);
  }
  /// For kernels.
  template <class T>
  [[nodiscard]] T* kernels() const {
    return kernels_.as<T>();
  }
  /// Enqueued on the instance; the host's image must stay until that has happened.
  void to_kernels(Executor& executor) const {
    executor.stage_in(kernels_.as<std::byte>(), host_.data, used_);
  }
  /// Enqueued: the host's image is there after a fence.
  void start_to_host(Executor& executor) const {
    executor.stage_out(host_.data, kernels_.as<std::byte>(), used_);
  }
  /// Has happened when it returns.
  void to_host(Executor& executor) const {
    start_to_host(executor);
    executor.fence();
  }

 private:
  GrowingBuffer kernels_;
  Buffer host_;
  std::size_t used_ = 0;
};

}  // namespace selvage::detail
