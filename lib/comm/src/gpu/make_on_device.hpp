#pragma once

#include <selvage/comm/detail/device_scope.hpp>

#include <memory>
#include <utility>

namespace selvage::detail {

/// Makes a T, and deletes it, while a GPU is the current one.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_on_device(int device, Arguments&&... arguments) {
  const DeviceScope scope(device);
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), [device](T* object) {
    const DeviceScope at_end(device);
    delete object;
  });
}

}  // namespace selvage::detail
