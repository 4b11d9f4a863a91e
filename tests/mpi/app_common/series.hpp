#pragma once

#include "common/session.hpp"

#include <functional>

namespace selvage::app::testing_support {

/// A main() that runs an app as often as tests/support/series.sh asks, between one start of MPI and Kokkos and their end. Its
/// one argument is the folder through which that script speaks to it.
[[nodiscard]] int run_series(int argc, char** argv, const AppInfo& info,
                             const std::function<void(Session&)>& body);

}  // namespace selvage::app::testing_support
