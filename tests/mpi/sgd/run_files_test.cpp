#include "sgd/io/run_files.hpp"

#include "common/output.hpp"
#include "expect_error.hpp"
#include "sgd/model/random.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::sgd {
namespace {

using app::testing_support::error_message;

constexpr int width = 3;

Samples made_up_samples() {
  Random random(1, 0);
  Samples samples;
  for (int sample = 0; sample < 8; ++sample) {
    for (int feature = 0; feature < width; ++feature) samples.features.push_back(random.uniform());
    samples.labels.push_back(sample % 2);
  }
  return samples;
}

Settings small_training() {
  Settings settings{};
  settings.hidden = {4};
  settings.epochs = 2;
  settings.batch = 4;
  settings.grain = 2;
  settings.rate = 0.1;
  settings.ordered = true;
  settings.overlap = true;
  settings.bucket_bytes = 1 << 20;
  settings.report_every = 4;
  return settings;
}

/// A training that has not begun, and where its files go.
class RunFilesOfSmallTraining : public testing::Test {
 protected:
  app::testing_support::TemporaryDirectory folder;
  Settings settings = small_training();
  Context context{MPI_COMM_WORLD};
  app::Breakdown breakdown{"test", false};
  Trainer trainer{make_instance(), settings, context,
                  std::make_shared<SamplesInMemory>(width, 2, made_up_samples(), made_up_samples()),
                  breakdown};
};

/// Weights that are lost by the last update show in no loss so far: what must not be overwritten is the checkpoint before.
TEST_F(RunFilesOfSmallTraining, AreNotWrittenWithWeightsThatAreLost) {
  const RunFiles files(MPI_COMM_WORLD, folder.path(), {});
  files.write_checkpoint(trainer, settings);
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_00000000.h5"));
  trainer.step();
  static_cast<void>(trainer.report());
  const Tensor& bias = trainer.model().tensors()[3];
  const auto lost = Kokkos::subview(trainer.model().parameters(), static_cast<std::size_t>(bias.begin));
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Kokkos::deep_copy(lost, value);
    const std::string message =
        error_message(ErrorKind::numeric, [&] { files.write_checkpoint(trainer, settings); });
    EXPECT_NE(message.find("an element of dense2.bias is NaN or infinite after step 1"), std::string::npos)
        << message;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint_00000001.h5"));
}

/// What sums of the other kind lack or add isn't what the user gave.
TEST_F(RunFilesOfSmallTraining, OfOtherSumsAreRefusedInTheWordsOfTheInput) {
  const RunFiles files(MPI_COMM_WORLD, folder.path(), {});
  const std::string path = folder / "checkpoint_00000000.h5";
  for (const std::string in_file : {"ordered", "fast"}) {
    settings.ordered = in_file == "ordered";
    files.write_checkpoint(trainer, settings);
    EXPECT_EQ(app::Hdf5Reader(path).has_attribute("grain"), settings.ordered);
    settings.ordered = !settings.ordered;
    const std::string here = settings.ordered ? "ordered" : "fast";
    EXPECT_EQ(error_message(ErrorKind::input, [&] { resume(trainer, path, settings); }),
              path + " can't be continued here: it has comm.reduce = \"" + in_file +
                  "\", and this run comm.reduce = \"" + here + "\": give what the file has");
  }
}

/// Read as it is, its weights would be transposed.
TEST_F(RunFilesOfSmallTraining, OfUnitsByInputsAreRefused) {
  const std::string path = folder / "old.h5";
  app::write_hdf5(MPI_COMM_WORLD, path, std::span<const app::ArrayBlock>(),
                  {{"layers", std::string("3-4-2")}});
  const std::string message = error_message(ErrorKind::input, [&] { resume(trainer, path, settings); });
  EXPECT_NE(message.find("earlier version, which wrote weights as units x inputs"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace selvage::sgd
