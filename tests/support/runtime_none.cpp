#include "runtime.hpp"

namespace selvage::test {

Runtime::Runtime(int&, char**) {}
Runtime::~Runtime() = default;

}  // namespace selvage::test
