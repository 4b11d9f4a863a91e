#pragma once

#include <cstdint>

namespace selvage::detail {

class ContextState;

/// Collective: checks that all ranks together have as many particles after a step as before.
/// \throws Error{verification} on all ranks
void require_conserved(ContextState& context, std::int64_t before, std::int64_t after);

}  // namespace selvage::detail
