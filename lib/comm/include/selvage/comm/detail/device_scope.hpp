#pragma once

namespace selvage::detail {

/// What stands for no GPU where the number of one is meant.
inline constexpr int no_device = -1;

/// Makes a GPU the calling thread's current one, and at its end the one that was current before, whatever
/// Kokkos has left in between. Does nothing for no_device.
///
/// Each public call opens one for its Context's GPU; what lies below allocates, maps and launches there.
class DeviceScope {
 public:
  /// \throws Error{cuda}
  explicit DeviceScope(int device) {
    if (device != no_device) enter(device);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    if (before_ != no_device) leave();
  }

 private:
  void enter(int device);
  void leave() noexcept;

  int before_ = no_device;
};

}  // namespace selvage::detail
