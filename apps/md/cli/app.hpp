#pragma once

#include "common/session.hpp"

namespace selvage::md {

/// The program without its main, so that a test can run it many times in one process.
[[nodiscard]] const app::AppInfo& app_info();

/// A run of it, for app::run_app(). Collective.
void run(app::Session& session);

}  // namespace selvage::md
