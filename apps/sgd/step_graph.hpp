#pragma once

#include "sgd/model/space.hpp"

#include <cstddef>
#include <functional>

namespace selvage::sgd {

/// Work that was captured, in one launch.
struct StepGraph {
  std::function<void()> replay;
  std::size_t nodes = 0;  ///< kernels, copies and fills; 0 where there are no graphs

  void operator()() const { replay(); }
};

/// What replays the work that `enqueue` gives the instance, as one graph: a single launch. Nothing runs meanwhile.
/// Where there are no graphs, on hosts, it is `enqueue` itself.
/// \param space  an instance of make_instance(); must outlive the result
/// \throws Error{cuda} when something in it can't be captured
[[nodiscard]] StepGraph capture_step(const Space& space, const std::function<void()>& enqueue);

}  // namespace selvage::sgd
