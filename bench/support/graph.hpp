#pragma once

#include <Kokkos_Core.hpp>

#include <functional>

namespace selvage::bench {

/// An instance whose work can be captured.
[[nodiscard]] Kokkos::DefaultExecutionSpace make_instance();

/// What replays the work that `enqueue` gives the instance, as one graph; empty where there are no graphs.
/// \throws Error{cuda} when something in it can't be captured
[[nodiscard]] std::function<void()> capture(const Kokkos::DefaultExecutionSpace& space,
                                            const std::function<void()>& enqueue);

}  // namespace selvage::bench
