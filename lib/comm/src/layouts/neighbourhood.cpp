#include "neighbourhood.hpp"

namespace selvage::detail {

int component(Direction direction, int axis) {
  for (int i = 0; i < axis; ++i) direction /= 3;
  return direction % 3 - 1;
}

Region owned_region(const Shape& shape, Direction direction) {
  Region region;
  for (int axis = 0; axis < shape.axes; ++axis) {
    const Side& side = shape.width[axis];
    const std::int64_t extent = shape.extents[axis];
    switch (component(direction, axis)) {
      case -1:
        region.begin[axis] = side.low;
        region.extents[axis] = side.high;
        break;
      case 0:
        region.begin[axis] = side.low;
        region.extents[axis] = extent;
        break;
      default:
        region.begin[axis] = side.low + extent - side.low;
        region.extents[axis] = side.low;
    }
  }
  return region;
}

Region ghost_region(const Shape& shape, Direction direction) {
  Region region;
  for (int axis = 0; axis < shape.axes; ++axis) {
    const Side& side = shape.width[axis];
    const std::int64_t extent = shape.extents[axis];
    switch (component(direction, axis)) {
      case -1:
        region.begin[axis] = 0;
        region.extents[axis] = side.low;
        break;
      case 0:
        region.begin[axis] = side.low;
        region.extents[axis] = extent;
        break;
      default:
        region.begin[axis] = side.low + extent;
        region.extents[axis] = side.high;
    }
  }
  return region;
}

Region in_field(Region cells, const Field& field, int axes) {
  for (int axis = axes; axis < 4; ++axis) {
    cells.begin[axis] = 0;
    cells.extents[axis] = field.extents[axis];
  }
  return cells;
}

}  // namespace selvage::detail
