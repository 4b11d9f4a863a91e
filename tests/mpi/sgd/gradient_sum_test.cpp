#include "sgd/gradient_sum.hpp"

#include "sgd/gradient_pieces.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace selvage::sgd {
namespace {

/// A first weight of 16 rows, and tensors that leave gaps up to the next multiple of 16 bytes.
ModelShape odd_widths() {
  return {.inputs = 16, .hidden = {5}, .classes = 3};
}

Settings settings_of(std::int64_t bucket_bytes) {
  Settings settings{};
  settings.overlap = true;
  settings.bucket_bytes = bucket_bytes;
  return settings;
}

/// Gradients of a model, all of them 1 on each rank.
class Sums {
 public:
  explicit Sums(const Settings& settings)
      : context_(MPI_COMM_WORLD),
        pieces_(cut_gradients(model_, settings.bucket_bytes)),
        sum_(space_, context_, settings,
             {.tensors = pieces_.tensors, .first_of_last_layer = pieces_.layers.back().first}) {}

  /// As backward does.
  void make_ready() {
    sum_.begin(space_);
    Kokkos::deep_copy(space_, sum_.grain(), 1.0F);
    for (int layer = model_.layers() - 1; layer >= 0; --layer) {
      const GradientPieces::OfLayer& pieces = pieces_.layers[static_cast<std::size_t>(layer)];
      sum_.ready(space_, pieces.bias);
      for (const auto& [rows, tensor] : pieces.weight) sum_.ready(space_, tensor);
    }
  }
  /// Whether all gradients from `begin` on are added up over the ranks.
  [[nodiscard]] bool are_summed(std::int64_t begin) const {
    space_.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum_.real());
    for (auto i = static_cast<std::size_t>(begin); i < found.extent(0); ++i)
      if (found(i) != static_cast<float>(context_.size())) return false;
    return true;
  }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return pieces_.tensors; }
  [[nodiscard]] const Space& space() const { return space_; }
  GradientSum& sum() { return sum_; }

 private:
  Space space_ = make_instance();
  Context context_;
  Model model_{space_, odd_widths(), 1};
  GradientPieces pieces_;
  GradientSum sum_;
};

TEST(GradientSum, OnlyAQuarterOfTheFirstWeightIsLeftWhenTheOthersAreThere) {
  Sums sums(settings_of(100));
  ASSERT_EQ(sums.tensors().size(), 7u) << "the first weight of 320 bytes isn't cut in four";
  for (int step = 0; step < 3; ++step) {
    sums.make_ready();
    const std::int64_t begin = sums.sum().finish_but_last(sums.space());
    EXPECT_EQ(begin, sums.tensors()[1].begin);
    EXPECT_TRUE(sums.are_summed(begin)) << step;
    sums.sum().finish(sums.space());
    EXPECT_TRUE(sums.are_summed(0)) << step;
  }
}

TEST(GradientSum, OneBucketHasNothingBeforeItsEnd) {
  Sums sums(settings_of(1 << 20));
  sums.make_ready();
  EXPECT_EQ(sums.sum().finish_but_last(sums.space()), static_cast<std::int64_t>(sums.sum().real().extent(0)));
  sums.sum().finish(sums.space());
  EXPECT_TRUE(sums.are_summed(0));
}

TEST(GradientSum, TravelsFromWhereTensorsLieInSpiteOfGapsBetweenThem) {
  Sums sums(settings_of(1 << 20));
  EXPECT_EQ(sums.tensors()[2].begin, 88) << "16 x 5 weights and 5 biases end at 85";
  sums.make_ready();
  sums.sum().finish(sums.space());
  for (const BucketReport& bucket : sums.sum().report()) EXPECT_TRUE(bucket.is_in_place);
}

}  // namespace
}  // namespace selvage::sgd
