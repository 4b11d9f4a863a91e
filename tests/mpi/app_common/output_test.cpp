#include "common/output.hpp"

#include "shared_directory.hpp"

#include <selvage/agreement.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using app::testing_support::SharedDirectory;

const UniformMesh mesh{.points = {8, 3}, .origin = {0, 0}, .spacing = {1, 1}};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

FieldSeries open(const SharedDirectory& dir, std::optional<std::int64_t> first_new_step = std::nullopt) {
  return FieldSeries(MPI_COMM_WORLD, dir.path(), "field", mesh, first_new_step);
}

/// Writes a field that rank 0 holds alone.
void write(FieldSeries& series, std::int64_t step) {
  const bool holds = rank_of_world() == 0;
  const std::vector<double> values(holds ? 24 : 0, static_cast<double>(step));
  const auto array = array_block<double>("u", mesh.points, {{0, 0}, {holds ? 8 : 0, 3}}, values);
  series.write(step, 0.5 * static_cast<double>(step), std::span(&array, 1), {{"case", "x"}});
}

/// The files that the series names, in its order.
std::vector<std::string> listed(const FieldSeries& series) {
  std::ifstream file(series.xdmf_path());
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> names;
  for (auto at = text.find(":/u<"); at != std::string::npos; at = text.find(":/u<", at + 1)) {
    const auto begin = text.rfind('>', at) + 1;
    names.push_back(text.substr(begin, at - begin));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(FieldSeries, WritesOneFilePerStepAndASeriesOfThem) {
  const SharedDirectory dir;
  auto series = open(dir);
  write(series, 0);
  write(series, 100);
  EXPECT_EQ(series.path_of(100), dir / "field_00000100.h5");
  EXPECT_EQ(listed(series), (Names{"field_00000000.h5", "field_00000100.h5"}));
  const Hdf5Reader file(series.path_of(100));
  EXPECT_EQ(file.integer("step"), 100);
  EXPECT_EQ(file.real("time"), 50.0);
  EXPECT_EQ(file.text("case"), "x");
  EXPECT_EQ(file.extent("u"), mesh.points);
}

TEST(FieldSeries, ListsAStepThatIsWrittenTwiceOnce) {
  const SharedDirectory dir;
  auto series = open(dir);
  write(series, 10);
  write(series, 10);
  EXPECT_EQ(listed(series), Names{"field_00000010.h5"});
}

TEST(FieldSeries, GoesOnAfterARestartAndForgetsLaterSteps) {
  const SharedDirectory dir;
  {
    auto series = open(dir);
    for (const std::int64_t step : {0, 10, 20, 30}) write(series, step);
  }
  if (rank_of_world() == 0) std::ofstream(dir / "field_notes.h5") << "not one of them";
  auto series = open(dir, 20);
  write(series, 20);
  EXPECT_EQ(listed(series), (Names{"field_00000000.h5", "field_00000010.h5", "field_00000020.h5"}));
}

TEST(FieldSeries, StartsEmptyWithoutARestart) {
  const SharedDirectory dir;
  {
    auto series = open(dir);
    write(series, 0);
  }
  auto series = open(dir);
  write(series, 10);
  EXPECT_EQ(listed(series), Names{"field_00000010.h5"});
}

TEST(FieldSeries, RefusesAnArrayThatIsNotOnItsMesh) {
  const SharedDirectory dir;
  auto series = open(dir);
  const auto array = array_block<double>("u", {4, 4}, {{0, 0}, {0, 4}}, std::span<const double>());
  EXPECT_THROW(series.write(0, 0, std::span(&array, 1)), Error);
  EXPECT_FALSE(std::filesystem::exists(series.path_of(0)));
}

TEST(FieldSeries, RefusesAMeshWithoutSpacing) {
  const UniformMesh bad{.points = {4, 4}, .origin = {0, 0}, .spacing = {}};
  EXPECT_THROW(FieldSeries(MPI_COMM_WORLD, "/", "field", bad), Error);
}

TEST(OutputDirectory, IsMadeWithItsParents) {
  const SharedDirectory dir;
  make_output_directory(MPI_COMM_WORLD, dir / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
  EXPECT_NO_THROW(make_output_directory(MPI_COMM_WORLD, dir / "a/b/c"));
}

TEST(OutputDirectory, IsRefusedOnAllRanksWhereAFileIsInTheWay) {
  const SharedDirectory dir;
  if (rank_of_world() == 0) std::ofstream(dir / "file") << "x";
  try {
    make_output_directory(MPI_COMM_WORLD, dir / "file/out");
    FAIL() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.message(),
              "cannot make the output directory " + (dir / "file/out") + ": Not a directory");
  }
}

}  // namespace
