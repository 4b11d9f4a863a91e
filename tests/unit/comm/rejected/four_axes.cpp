#include <selvage/comm/grid.hpp>

void reject(const selvage::Context& context) {
  const selvage::Grid<4> grid(context, {.cells = {8, 8, 8, 8}});
}
