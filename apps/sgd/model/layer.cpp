#include "sgd/model/layer.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace selvage::sgd {
namespace {

std::int64_t countable(const LayerShare& share, const Layer::Shape& shape, std::int64_t largest) {
  if (share.samples * largest <= std::numeric_limits<int>::max()) return share.samples;
  throw Error(
      ErrorKind::input,
      fmt::format("{} samples of a rank have more than 2^31 elements in layer {}: use a smaller batch, or "
                  "more ranks",
                  share.samples, shape.name));
}

}  // namespace

Layer::Layer(const LayerShare& share, Shape shape, std::int64_t largest)
    : share_(share),
      shape_(std::move(shape)),
      output_("sgd: outputs", countable(share, shape_, largest), shape_.outputs),
      output_error_("sgd: errors of outputs", share.samples, shape_.outputs) {}

}  // namespace selvage::sgd
