#include "sgd/sums/gradient_sum.hpp"

#include "sgd/sums/gradient_pieces.hpp"
#include "thrown.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
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
  explicit Sums(const Settings& settings, const ModelShape& shape = odd_widths())
      : context_(MPI_COMM_WORLD),
        model_(space_, shape, 1),
        pieces_(cut_gradients(model_, settings.bucket_bytes)),
        sum_(space_, context_, settings,
             {.tensors = pieces_.tensors, .first_of_last_layer = pieces_.layers.back().first}) {}

  /// As backward does.
  void make_ready() {
    sum_.begin(space_);
    Kokkos::deep_copy(space_, sum_.grain(), 1.0F);
    for (int layer = model_.layers() - (sum_.has_tiles() ? 2 : 1); layer >= 0; --layer) {
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
  [[nodiscard]] bool is_last_rank() const { return context_.rank() == context_.size() - 1; }
  /// A step's sums; publishes tiles, where there are some, without regard to figures.
  void step() {
    make_ready();
    if (sum_.has_tiles()) sum_.add_last_layer(space_, figures_, true);
    sum_.finish(space_);
    space_.fence();
    sum_.check();
  }
  GradientSum& sum() { return sum_; }

 private:
  Space space_ = make_instance();
  Context context_;
  Model model_;
  GradientPieces pieces_;
  StepFigures figures_{1};
  GradientSum sum_;
};

TEST(GradientSum, OnlyAQuarterOfTheFirstWeightIsLeftWhenTheOthersAreThere) {
  Sums sums(settings_of(100));
  ASSERT_EQ(sums.tensors().size(), 7u) << "the first weight of 320 bytes isn't cut in four";
  for (int step = 0; step < 3; ++step) {
    sums.make_ready();
    const std::int64_t begin = sums.sum().finish_all_but_last(sums.space());
    EXPECT_EQ(begin, sums.tensors()[1].begin);
    EXPECT_TRUE(sums.are_summed(begin)) << step;
    sums.sum().finish(sums.space());
    EXPECT_TRUE(sums.are_summed(0)) << step;
  }
}

TEST(GradientSum, OneBucketHasNothingBeforeItsEnd) {
  Sums sums(settings_of(1 << 20));
  sums.make_ready();
  EXPECT_EQ(sums.sum().finish_all_but_last(sums.space()),
            static_cast<std::int64_t>(sums.sum().real().extent(0)));
  sums.sum().finish(sums.space());
  EXPECT_TRUE(sums.are_summed(0));
}

TEST(GradientSum, TravelsFromWhereTensorsLieInSpiteOfGapsBetweenThem) {
  Sums sums(settings_of(1 << 20));
  EXPECT_EQ(sums.tensors()[2].begin, 88) << "16 x 5 weights and 5 biases end at 85";
  sums.make_ready();
  sums.sum().finish(sums.space());
  for (const GradientBuckets::Report& bucket : sums.sum().report()) EXPECT_TRUE(bucket.is_in_place);
}

/// What ranks are told that wait for the last one: it makes the first step, and leaves out the second.
std::string message_without_the_last_rank(Sums& sums) {
  sums.step();
  if (sums.is_last_rank()) return {};
  const auto error = test::thrown_by([&] { sums.step(); });
  EXPECT_TRUE(error && error->kind() == ErrorKind::timeout);
  return error ? error->message() : "nothing was thrown";
}

TEST(GradientSum, ALateRankIsNamedWithTheTensorsOfTheBucket) {
  const test::ShortTimeout limit;
  Sums sums(settings_of(100));
  const std::string message = message_without_the_last_rank(sums);
  if (!sums.is_last_rank()) {
    EXPECT_NE(message.find("; bucket 0 holds dense2."), std::string::npos) << message;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(GradientSum, ALateRankIsNamedWithTheTensorsOfTheTiles) {
  const test::ShortTimeout limit;
  Settings settings = settings_of(1 << 20);
  settings.tiles = true;
  Sums sums(settings, {.inputs = 16, .hidden = {}, .classes = 3});
  const std::string message = message_without_the_last_rank(sums);
  if (!sums.is_last_rank()) {
    EXPECT_NE(message.find("; its tiles hold dense1.weight and dense1.bias"), std::string::npos) << message;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::sgd
