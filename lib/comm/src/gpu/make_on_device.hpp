#pragma once

#include <selvage/comm/detail/device_scope.hpp>

#include <memory>
#include <utility>

namespace selvage::detail {

struct DeleteOnDevice {
  template <class T>
  void operator()(T* object) const {
    const DeviceScope scope(object->device());
    delete object;
  }
};

/// Makes a T, and deletes it, while its device() is the current one.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_on_device(int device, Arguments&&... arguments) {
  const DeviceScope scope(device);
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), DeleteOnDevice());
}

}  // namespace selvage::detail
