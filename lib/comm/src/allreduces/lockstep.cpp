#include "lockstep.hpp"

#include <fmt/format.h>

namespace selvage::detail {

Lockstep::Lockstep(ContextState& context, const Executor& executor, std::size_t bytes,
                   std::string_view purpose)
    : rank_(context.rank()),
      size_(context.size()),
      flags_bytes_(static_cast<std::size_t>(context.size()) * sizeof(Flag)),
      blocks_(context, executor, flags_bytes_ + bytes, purpose) {}

void Lockstep::publish(std::uint64_t steps) const {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) release_epoch(flag(rank_, peer), steps);
  }
}

bool Lockstep::all_have_done(std::uint64_t steps) const {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_ && !has_reached(acquire_epoch(flag(peer, rank_)), steps)) return false;
  }
  return true;
}

std::string Lockstep::describe_late(std::uint64_t steps) const {
  std::string late;
  for (int peer = 0; peer < size_; ++peer) {
    const std::uint64_t seen = peer == rank_ ? steps : acquire_epoch(flag(peer, rank_));
    if (has_reached(seen, steps)) continue;
    late += fmt::format("{}rank {} (step {} wanted, {} seen)", late.empty() ? "" : ", ", peer, steps, seen);
  }
  return late;
}

}  // namespace selvage::detail
