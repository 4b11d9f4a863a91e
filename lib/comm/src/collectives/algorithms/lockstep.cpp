#include "lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::detail {

Lockstep::Lockstep(ContextState& context, const Executor& executor, std::vector<int> group, std::size_t bytes,
                   std::string_view purpose)
    : group_(std::move(group)),
      place_(static_cast<int>(std::ranges::find(group_, context.rank()) - group_.begin())),
      flags_bytes_(group_.size() * sizeof(Flag)),
      blocks_(context, executor, group_, flags_bytes_ + bytes, purpose) {}

void Lockstep::publish(std::uint64_t steps) const {
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != place_) publish_to(peer, steps);
  }
}

bool Lockstep::all_have_done(std::uint64_t steps) const {
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != place_ && !has_done(peer, steps)) return false;
  }
  return true;
}

std::string Lockstep::describe_late(std::uint64_t steps) const {
  std::string late;
  for (int peer = 0; peer < size(); ++peer) {
    const std::string one = describe_late(peer, steps);
    if (!one.empty()) late += (late.empty() ? "" : ", ") + one;
  }
  return late;
}

std::string Lockstep::describe_late(int peer, std::uint64_t steps) const {
  const std::uint64_t seen = peer == place_ ? steps : acquire_epoch(flag(peer, place_));
  if (has_reached(seen, steps)) return {};
  return fmt::format("rank {} (step {} wanted, {} seen)", group_[static_cast<std::size_t>(peer)], steps,
                     seen);
}

}  // namespace selvage::detail
