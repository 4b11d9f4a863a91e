#pragma once

#include "collectives/allreduce_table.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/elements.hpp>

#include <cstdint>

namespace selvage::tune {

/// Whether Kokkos' default execution space, which is measured, runs on the host.
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::DefaultExecutionSpace::memory_space>::accessible;

/// What was found out about one size.
struct Measured {
  detail::AllreduceRow row;  ///< version and date are left to the caller
  bool is_noisy = false;     ///< the best one's rounds differ by more than their median
};

/// Times every algorithm that is possible for an ordinary View of the default memory space, in turns, after its result
/// was found right. The best is what the built-in rule says, unless another is clearly faster. Collective; the context
/// has read no table, and no variable forces an algorithm.
/// \throws Error{verification} on every rank for a wrong result
[[nodiscard]] Measured measure(const Context& context, detail::ElementType type, ReduceOperation operation,
                               std::int64_t bytes);

}  // namespace selvage::tune
