#pragma once

#include "proxy_channel.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace selvage::detail {

/// A ProxyChannel's work as small kernels on the caller's instance.
class DeviceChannel {
 public:
  DeviceChannel() = default;
  DeviceChannel(const DeviceChannel&) = delete;
  DeviceChannel& operator=(const DeviceChannel&) = delete;
  virtual ~DeviceChannel() = default;

  /// Enqueues a kernel that has the messages started.
  virtual void start(Executor& executor, const MessageSelection& selection) = 0;
  /// Enqueues a kernel that waits until the messages are complete.
  virtual void wait(Executor& executor, const MessageSelection& selection) = 0;
  /// Waits until the kernels enqueued so far have ended. Before anything is freed: they use what would be, and
  /// freeing device memory stops the proxy that they wait for. \return false: not in time; all that they use must stay
  [[nodiscard]] virtual bool drain(std::chrono::milliseconds longest) noexcept = 0;
  /// Throws what a kernel's wait has found, once. \throws Error{timeout}
  virtual void check() = 0;
};

/// \param line  outlives the result \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<DeviceChannel> make_device_channel(const ContextState& context,
                                                                 const ProxyChannel& line);

}  // namespace selvage::detail
