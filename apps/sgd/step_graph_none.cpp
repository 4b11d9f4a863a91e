#include "sgd/step_graph.hpp"

namespace selvage::sgd {

std::function<void()> capture_step(const Space& /*space*/, const std::function<void()>& enqueue) {
  return enqueue;
}

}  // namespace selvage::sgd
