#include "sgd/model/resnet50.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace selvage::sgd {
namespace {

class Tensors {
 public:
  void add(const std::string& name, std::int64_t count) {
    const std::int64_t begin = list_.empty() ? 0 : list_.back().begin + list_.back().count;
    list_.push_back({name, begin, {count}, count});
  }
  /// With its normalisation. \param side  of the square of pixels
  void add_convolution(const std::string& name, int inputs, int outputs, int side) {
    add(name + ".weight", std::int64_t{outputs} * inputs * side * side);
    add(name + ".scale", outputs);
    add(name + ".shift", outputs);
  }
  [[nodiscard]] const std::vector<Tensor>& list() const { return list_; }

 private:
  std::vector<Tensor> list_;
};

}  // namespace

std::vector<Tensor> resnet50_tensors() {
  constexpr std::array blocks_of_stage{3, 4, 6, 3};
  constexpr int expansion = 4;
  Tensors tensors;
  tensors.add_convolution("conv1", 3, 64, 7);
  int inputs = 64;
  int width = 64;
  for (std::size_t stage = 0; stage < blocks_of_stage.size(); ++stage) {
    for (int block = 0; block < blocks_of_stage[stage]; ++block) {
      const std::string name = fmt::format("stage{}.block{}", stage + 1, block + 1);
      tensors.add_convolution(name + ".conv1", inputs, width, 1);
      tensors.add_convolution(name + ".conv2", width, width, 3);
      tensors.add_convolution(name + ".conv3", width, expansion * width, 1);
      if (block == 0) tensors.add_convolution(name + ".shortcut", inputs, expansion * width, 1);
      inputs = expansion * width;
    }
    width *= 2;
  }
  tensors.add("dense.weight", std::int64_t{1000} * inputs);
  tensors.add("dense.bias", 1000);
  return tensors.list();
}

}  // namespace selvage::sgd
