#include <selvage/comm/detail/launch_setup.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

struct LaunchSetups {
  std::mutex mutex;
  std::vector<void (*)()> to_be_called;
};

/// Made at the first use: source files add to it in no particular order.
LaunchSetups& launch_setups() {
  static LaunchSetups setups;
  return setups;
}

}  // namespace

bool add_launch_setup(void (*setup)()) {
  LaunchSetups& setups = launch_setups();
  const std::lock_guard lock(setups.mutex);
  setups.to_be_called.push_back(setup);
  return true;
}

void set_up_launches() {
  LaunchSetups& setups = launch_setups();
  const std::lock_guard lock(setups.mutex);
  for (void (*const setup)() : std::exchange(setups.to_be_called, {})) setup();
}

}  // namespace selvage::detail
