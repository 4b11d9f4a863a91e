#pragma once

#include <selvage/error.hpp>

namespace selvage::detail {

/// Throws the error of all functions that need a GPU, in a build without a GPU backend.
inline constexpr const char* no_gpus = "built without a GPU backend";
[[noreturn]] inline void refuse_gpus() {
  throw Error(ErrorKind::unsupported, no_gpus);
}

}  // namespace selvage::detail
