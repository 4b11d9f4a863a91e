#include "runtime.hpp"

#include <Kokkos_Core.hpp>

namespace selvage::test {

Runtime::Runtime(int& argc, char** argv) {
  Kokkos::initialize(argc, argv);
}
Runtime::~Runtime() {
  Kokkos::finalize();
}

}  // namespace selvage::test
