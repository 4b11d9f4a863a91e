#include "jacobi/io/run_files.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>

namespace selvage::jacobi {
namespace {

constexpr std::int64_t rows_per_rank = 3;
constexpr std::int64_t columns = 5;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_world() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// A directory for one test, removed by rank 0 at the end.
class RunFilesTest : public testing::Test {
 protected:
  RunFilesTest() {
    app::Input input = app::Input::parse("", "");
    settings_ = read_settings(input);
    settings_.cells = {rows_per_rank * ranks_of_world(), columns};
    int run = static_cast<int>(getpid());
    MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
    settings_.standard.out_dir =
        std::filesystem::temp_directory_path() / ("selvage_run_files_" + std::to_string(run));
    values_.resize(static_cast<std::size_t>(rows_per_rank * columns));
    std::iota(values_.begin(), values_.end(), 100.0 * rank_of_world());
  }
  ~RunFilesTest() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world() == 0) std::filesystem::remove_all(settings_.standard.out_dir);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  [[nodiscard]] app::ArrayBox box() const {
    const std::int64_t first = rows_per_rank * rank_of_world();
    return {{first, 0}, {first + rows_per_rank, columns}};
  }
  [[nodiscard]] std::string write_restart() const {
    RunFiles files(MPI_COMM_WORLD, settings_, std::nullopt);
    files.write_restart(
        7, app::array_block<double>("u", settings_.cells, box(), std::span<const double>(values_)));
    return files.dir() + "/restart_00000007.h5";
  }

  Settings settings_{};
  std::vector<double> values_;
};

std::string refusal(const std::string& path, const Settings& settings, const app::ArrayBox& box) {
  try {
    static_cast<void>(Restart(path, settings).read<double>(box));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    return error.message();
  }
  return "nothing was refused";
}

TEST_F(RunFilesTest, RestartGivesBackEachRanksCellsAndTheStep) {
  const Restart restart(write_restart(), settings_);
  EXPECT_EQ(restart.step(), 7);
  EXPECT_EQ(restart.read<double>(box()), values_);
}

TEST_F(RunFilesTest, RestartRefusesValuesThatAreNotFinite) {
  values_[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal(write_restart(), settings_, box()).find("nan"), std::string::npos);
  MPI_Barrier(MPI_COMM_WORLD);
  values_[4] = -std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(write_restart(), settings_, box()).find("-inf"), std::string::npos);
}

TEST_F(RunFilesTest, RestartNamesTheFirstDifference) {
  const std::string path = write_restart();
  Settings other = settings_;
  other.amplitude = 2;
  EXPECT_NE(refusal(path, other, box()).find("amplitude is 1, and this run's is 2"), std::string::npos);
  other = settings_;
  other.periodic = {true, false};
  EXPECT_NE(refusal(path, other, box()).find("sides is fixed,fixed"), std::string::npos);
}

TEST_F(RunFilesTest, NormsLeaveUnknownFiguresEmpty) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  RunFiles(MPI_COMM_WORLD, settings_, std::nullopt).append({3, 0.5, none, none, none, none});
  if (rank_of_world() != 0) return;
  std::string text(1000, ' ');
  const std::string path = settings_.standard.out_dir + "/norms.csv";
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  EXPECT_EQ(text, "step,residual,residual_theory,error,theory,error_exact\n3,0.5,,,,\n");
}

}  // namespace
}  // namespace selvage::jacobi
