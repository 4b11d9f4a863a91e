#pragma once

#include "layouts/neighbourhood.hpp"
#include "link.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/options.hpp>
#include <selvage/error.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// What one rank tells a neighbour of one of its fields, once, when a plan is made. Travels in a message.
struct FieldCard {
  SharedRange range;
  std::int32_t is_shared = 0;
  MemoryKind memory = MemoryKind::host;
  std::array<std::int64_t, 4> strides{};
  std::int64_t element_bytes = 0;
  std::int64_t components = 1;
  std::array<char, 64> label{};
};

/// A neighbour as a link for halos sees it.
struct PeerPlan {
  Neighbour neighbour;
  std::vector<FieldCard> cards;
};

/// What a link for halos is made from; all references outlive it.
struct TransportParts {
  ContextState& context;
  const Executor& executor;
  std::span<const Field> fields;
  int axes;
  std::vector<PeerPlan> peers;  ///< the neighbours it is to serve
  GhostReuse ghost_reuse;
  Initiation initiation;
  int first_tag;  ///< of tags_per_plan
};
inline constexpr int tags_per_plan = max_fields + 1;

}  // namespace selvage::detail
