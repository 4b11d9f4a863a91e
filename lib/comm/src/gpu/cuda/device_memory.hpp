#pragma once

#include "check.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace selvage::detail {

/// An array in this GPU's memory, filled once from the host.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(const std::vector<T>& values) {
    if (values.empty()) return;
    void* data = nullptr;
    check_cuda(cudaMalloc(&data, values.size() * sizeof(T)), "cudaMalloc");
    data_ = std::shared_ptr<T>(static_cast<T*>(data), [](T* block) { cudaFree(block); });
    check_cuda(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }
  [[nodiscard]] T* data() const { return data_.get(); }

 private:
  std::shared_ptr<T> data_;
};

/// One T in page-locked host memory that kernels can write.
template <class T>
class PinnedValue {
 public:
  PinnedValue() {
    void* data = nullptr;
    check_cuda(cudaHostAlloc(&data, sizeof(T), cudaHostAllocMapped), "cudaHostAlloc");
    value_ = std::shared_ptr<T>(new (data) T(), [](T* block) { cudaFreeHost(block); });
  }
  [[nodiscard]] T* get() const { return value_.get(); }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace selvage::detail
