#pragma once

#include <selvage/error.hpp>

namespace selvage::detail {

/// What every function that needs a GPU throws in a build without a GPU backend.
inline constexpr const char* no_gpus = "built without a GPU backend";
[[noreturn]] inline void refuse_gpus() {
  throw Error(ErrorKind::unsupported, no_gpus);
}

}  // namespace selvage::detail
