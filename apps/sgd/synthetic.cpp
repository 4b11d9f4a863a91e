#include "sgd/synthetic.hpp"

#include <utility>

namespace selvage::sgd {
namespace {

using Elements = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// Sums over up to 500 ranks stay below 2^24.
KOKKOS_INLINE_FUNCTION std::int64_t pattern(std::int64_t element, std::int64_t step) {
  return (element + 31 * step) % 97 + 1;
}

struct Write {
  Vector<float> gradients;
  std::int64_t step;
  int rank;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    gradients(i) = static_cast<float>(pattern(i, step) * (rank + 1));
  }
};

struct CountWrong {
  Vector<std::int64_t> fixed;
  Vector<float> real;
  bool ordered;
  std::int64_t step;
  std::int64_t ranks;

  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t& wrong) const {
    const double found = ordered ? fixed_point::to_real(fixed(i)) : static_cast<double>(real(i));
    if (found != static_cast<double>(pattern(i, step) * (ranks * (ranks + 1) / 2))) ++wrong;
  }
};

}  // namespace

Synthetic::Synthetic(const Space& space, const Context& context, const Settings& settings,
                     std::vector<Tensor> tensors)
    : space_(space),
      context_(context),
      tensors_(std::move(tensors)),
      gradients_(space, context, settings, {tensors_, tensors_.size() - 1}),
      figures_(1) {}

void Synthetic::write_tensor(std::int64_t step, std::size_t tensor) {
  const std::int64_t begin = tensors_[tensor].begin;
  Kokkos::parallel_for("sgd::write", Elements(space_, begin, begin + tensors_[tensor].count),
                       Write{gradients_.grain(), step, context_.rank()});
  gradients_.add(space_, tensor, figures_);
}

void Synthetic::step(std::int64_t step) {
  gradients_.begin(space_);
  for (std::size_t tensor = tensors_.size(); tensor-- > 0;) {
    write_tensor(step, tensor);
    gradients_.ready(space_, tensor);
  }
  gradients_.finish(space_);
}

void Synthetic::write(std::int64_t step) {
  gradients_.begin(space_);
  for (std::size_t tensor = tensors_.size(); tensor-- > 0;) write_tensor(step, tensor);
}

void Synthetic::exchange() {
  for (std::size_t tensor = tensors_.size(); tensor-- > 0;) gradients_.ready(space_, tensor);
  gradients_.finish(space_);
}

std::int64_t Synthetic::count_wrong(std::int64_t step) const {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "sgd::verify", Elements(space_, 0, parameters()),
      CountWrong{gradients_.fixed(), gradients_.real(), gradients_.ordered(), step, context_.size()}, wrong);
  space_.fence("sgd: sums verified");
  gradients_.check();
  return wrong;
}

void Synthetic::clear() {
  Kokkos::deep_copy(space_, gradients_.grain(), 0);
  gradients_.begin(space_);
  space_.fence("sgd: cleared");
}

}  // namespace selvage::sgd
