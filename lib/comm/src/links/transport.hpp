#pragma once

#include "layouts/layout.hpp"
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

/// Describes one field of a rank to a neighbour. Sent once, in a message, when a plan is made.
struct FieldCard {
  SharedRange range;
  std::int32_t is_shared = 0;
  MemoryKind memory = MemoryKind::host;
  std::array<std::int64_t, 4> strides{};
  std::int64_t element_bytes = 0;
  std::int64_t components = 1;
  std::array<char, 64> label{};
};

[[nodiscard]] inline Layout layout_of(const FieldCard& card) {
  return {.strides = card.strides, .element_bytes = card.element_bytes};
}

/// A neighbour, and the fields it has described.
struct PeerPlan {
  Neighbour neighbour;
  std::vector<FieldCard> cards;
};

/// Arguments for links of halos. All references outlive the link.
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
