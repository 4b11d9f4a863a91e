#pragma once

#include "sgd/space.hpp"

#include <functional>

namespace selvage::sgd {

/// What replays the work that `enqueue` gives the instance, as one graph: a single launch. Nothing runs meanwhile.
/// Where there are no graphs, on hosts, it is `enqueue` itself.
/// \param space  an instance of make_instance(); must outlive the result
/// \throws Error{cuda} when something in it can't be captured
[[nodiscard]] std::function<void()> capture_step(const Space& space, const std::function<void()>& enqueue);

}  // namespace selvage::sgd
