#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace selvage::app {

/// Times stretches of a GPU's streams by events that are enqueued with the work: nothing waits until a sum is asked for.
class DeviceSpans {
 public:
  DeviceSpans() = default;
  DeviceSpans(const DeviceSpans&) = delete;
  DeviceSpans& operator=(const DeviceSpans&) = delete;
  virtual ~DeviceSpans() = default;

  /// Enqueues the beginning. \param phase  what the span is added to  \return the span, for end()
  [[nodiscard]] virtual std::uint64_t begin(std::size_t phase, void* stream) = 0;
  /// Enqueues the end of a span that was begun.
  virtual void end(std::uint64_t span, void* stream) = 0;
  /// The sum of a phase's spans that have been ended. Waits for them.
  [[nodiscard]] virtual double seconds(std::size_t phase) = 0;
};

/// \throws Error{unsupported} where there are no GPUs
[[nodiscard]] std::unique_ptr<DeviceSpans> make_device_spans();

}  // namespace selvage::app
