#pragma once

#include "common/report.hpp"
#include "common/session.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/model/space.hpp"

#include <selvage/comm/context.hpp>

namespace selvage::sgd {

/// One run of the program for `data.path = "synthetic:resnet50"`: steps of communication, every sum of the first and the
/// last one verified. Leaves run.json. Collective, all of it.
void run_synthetic(const Space& space, app::Session& session, app::Report& report, const Settings& settings,
                   const Context& context);

}  // namespace selvage::sgd
