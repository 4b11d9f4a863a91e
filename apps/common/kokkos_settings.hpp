#pragma once

#include <span>
#include <string>

namespace selvage::app {

/// Looks at what Kokkos would end the process for, with a backtrace: values of its arguments ("--kokkos-num-threads=4") and
/// environment variables (KOKKOS_NUM_THREADS). Those that it doesn't know here are left to Kokkos.
/// \throws Error{usage}, Error{input} for a variable
void require_kokkos_settings(std::span<const std::string> arguments);

}  // namespace selvage::app
