#pragma once

#include <cstdint>

namespace selvage::detail {

/// Where bytes live, as far as a transport cares.
enum class MemoryKind : std::int32_t { host, device };

}  // namespace selvage::detail
