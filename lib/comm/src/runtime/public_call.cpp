#include "public_call.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

void PublicCall::Claim::refuse(int rank) {
  throw Error(
      ErrorKind::usage,
      fmt::format("two threads of rank {} use objects of one Context at the same time: let one thread "
                  "use them, or make a Context for each thread",
                  rank));
}

}  // namespace selvage::detail
