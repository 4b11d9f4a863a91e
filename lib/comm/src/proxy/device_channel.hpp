#pragma once

#include "proxy_channel.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace selvage::detail {

/// Does what a ProxyChannel does, by small kernels on the caller's instance.
class DeviceChannel {
 public:
  DeviceChannel() = default;
  DeviceChannel(const DeviceChannel&) = delete;
  DeviceChannel& operator=(const DeviceChannel&) = delete;
  virtual ~DeviceChannel() = default;

  /// Enqueues a kernel that asks the proxy to start the messages.
  virtual void start(Executor& executor, const MessageSelection& selection) = 0;
  /// Enqueues a kernel that waits until the messages are complete.
  virtual void wait(Executor& executor, const MessageSelection& selection) = 0;
  /// Waits until the kernels enqueued so far have ended. Call it before anything is freed: the kernels may use it, and freeing GPU
  /// memory stops the proxy that they wait for. \return false on a timeout: what they use must then never be freed
  [[nodiscard]] virtual bool drain(std::chrono::milliseconds longest) noexcept = 0;
  /// Throws, once, if a kernel's wait has timed out. \throws Error{timeout}
  virtual void check() = 0;
};

/// \param line  outlives the result \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<DeviceChannel> make_device_channel(const ContextState& context,
                                                                 const ProxyChannel& line);

}  // namespace selvage::detail
