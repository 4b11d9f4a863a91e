#include "wait.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

void throw_late(std::chrono::milliseconds timeout, const std::string& late) {
  throw Error(ErrorKind::timeout, fmt::format("waited {} ms for {}", timeout.count(), late));
}

}  // namespace selvage::detail
