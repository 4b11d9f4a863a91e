#pragma once

#include "common/session.hpp"

namespace selvage::app::testing_support {

/// A mini-app that fails in whatever way its input asks for.
[[nodiscard]] const AppInfo& probe_info();
void run_probe(Session& session);

}  // namespace selvage::app::testing_support
