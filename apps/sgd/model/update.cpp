#include "sgd/model/update.hpp"

namespace selvage::sgd {
namespace {

using Elements = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

struct MoveByFixed {
  Optimizer optimizer;
  Vector<std::int64_t> sums;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const double mean = fixed_point::to_real(sums(i)) / static_cast<double>(optimizer.batch);
    optimizer.move(i, static_cast<float>(mean));
  }
};

struct MoveByReal {
  Optimizer optimizer;
  Vector<float> sums;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    optimizer.move(i, sums(i) / static_cast<float>(optimizer.batch));
  }
};

Elements all_of(const Space& space, const Optimizer& optimizer) {
  return {space, 0, static_cast<std::int64_t>(optimizer.parameters.extent(0))};
}

}  // namespace

void update(const Space& space, const Optimizer& optimizer, const Vector<std::int64_t>& sums) {
  Kokkos::parallel_for("sgd::update", all_of(space, optimizer), MoveByFixed{optimizer, sums});
}

void update(const Space& space, const Optimizer& optimizer, const Vector<float>& sums) {
  Kokkos::parallel_for("sgd::update", all_of(space, optimizer), MoveByReal{optimizer, sums});
}

}  // namespace selvage::sgd
