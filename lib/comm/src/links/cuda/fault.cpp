#include "fault.hpp"

#include "links/peer_link.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

void throw_if_failed(PeerFault& fault, std::chrono::milliseconds timeout, std::string_view transport) {
  // Acquires what the kernel wrote before it released `kind`.
  const std::uint64_t kind = acquire_word(fault.kind);
  if (kind == Fault::none) return;
  if (kind == Fault::mismatch) {
    throw Error(ErrorKind::usage,
                describe_mismatch(static_cast<int>(fault.rank), fault.wanted, fault.theirs, fault.mine));
  }
  throw Error(
      ErrorKind::timeout,
      fmt::format("a halo {} on the GPU waited {} ms for rank {} ({} transport, {} epoch {} wanted, "
                  "{} seen)",
                  fault.mine.reverse != 0 ? "reduction" : "exchange", timeout.count(), fault.rank, transport,
                  kind == Fault::credit_late ? "credit" : "arrival", fault.wanted, fault.seen));
}

}  // namespace selvage::detail
