#pragma once

#include "part.hpp"

namespace selvage::profile {

/// Asks CUDA's driver where a buffer lies, if the process has loaded the driver; memory is the host's otherwise.
/// Managed memory counts as the device's, as the driver says.
[[nodiscard]] Memory memory_of(const void* buffer);

}  // namespace selvage::profile
