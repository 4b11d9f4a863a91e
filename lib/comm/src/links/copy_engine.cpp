#include "copy_engine.hpp"

#include "peer.hpp"

#include <fmt/format.h>

namespace selvage::detail {

std::string refuse_copy_engine(const PairFacts& facts) {
  if (!facts.device_memory) return "copy engines belong to GPUs";
  return refuse_peer(facts);
}

std::string refuse_copy_engine_initiation(Initiation initiation, const PairFacts& /*facts*/, bool) {
  if (initiation == Initiation::host || initiation == Initiation::stream) return {};
  return fmt::format("kernels can't start copy engines, so there is no initiation {}", to_string(initiation));
}

}  // namespace selvage::detail
