#include "graph.hpp"

namespace selvage::bench {

Kokkos::DefaultExecutionSpace make_instance() {
  return {};
}

std::function<void()> capture(const Kokkos::DefaultExecutionSpace&, const std::function<void()>&) {
  return {};
}

}  // namespace selvage::bench
