#include "wait.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

void wait_until(std::chrono::milliseconds timeout, bool yields, const std::function<bool()>& done,
                const std::function<std::string()>& describe_late) {
  Deadline deadline(timeout);
  Backoff backoff(yields);
  while (!done()) {
    if (deadline.passed()) {
      throw Error(ErrorKind::timeout, fmt::format("waited {} ms for {}", timeout.count(), describe_late()));
    }
    backoff.pause();
  }
}

}  // namespace selvage::detail
