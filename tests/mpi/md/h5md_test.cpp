#include "md/state_files/h5md.hpp"

#include "engine_fixture.hpp"
#include "expect_error.hpp"
#include "shared_directory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::md {
namespace {

using app::testing_support::error_message;
using app::testing_support::SharedDirectory;
using namespace testing_support;

/// A file of two frames of three atoms as another program might have written it: fp32, without ids, images and, if so
/// asked, velocities, in a box whose edges are a time series.
void write_foreign(const std::string& path, const std::vector<float>& positions, bool with_velocities,
                   std::vector<std::int64_t> extent = {2, 3, 3}) {
  const auto whole = [](const std::vector<std::int64_t>& of) {
    return app::ArrayBox{std::vector<std::int64_t>(of.size(), 0), of};
  };
  const std::vector<double> edges = {5, 5, 5, 6, 7, 8};
  std::vector<app::ArrayBlock> arrays = {
      app::array_block<float>("particles/all/position/value", extent, whole(extent), positions),
      app::array_block<double>("particles/all/box/edges/value", {2, 3}, whole({2, 3}), edges)};
  if (with_velocities) {
    arrays.push_back(
        app::array_block<float>("particles/all/velocity/value", extent, whole(extent), positions));
  }
  app::write_hdf5(MPI_COMM_WORLD, path, arrays, {});
}

std::vector<float> two_frames() {
  std::vector<float> values;
  for (int i = 0; i < 18; ++i) values.push_back(0.25F * static_cast<float>(i));
  return values;
}

TEST(H5md, HoldsAStateBitByBit) {
  const SharedDirectory dir;
  State state = disordered({3, 4, 3}, 0.2);
  state.step = 123456789012;
  state.domain.lower[1] = -0.1;
  state.images[5] = {1, -2, 30};
  write_h5md(MPI_COMM_WORLD, dir / "a.h5", state, 0.5, {{"note", std::string("mine")}});
  const StateFile read = read_h5md(dir / "a.h5");
  EXPECT_TRUE(read.has_velocities);
  EXPECT_EQ(read.state.domain, state.domain);
  EXPECT_EQ(read.state.step, state.step);
  EXPECT_EQ(read.state.ids, state.ids);
  EXPECT_EQ(largest_difference(read.state.positions, state.positions), 0);
  EXPECT_EQ(largest_difference(read.state.velocities, state.velocities), 0);
  EXPECT_EQ(read.state.images[5].y, -2);
  EXPECT_EQ(app::Hdf5Reader(dir / "a.h5").text("note"), "mine");
}

TEST(H5md, TakesTheLastFrameOfAnotherProgramsFile) {
  const SharedDirectory dir;
  write_foreign(dir / "a.h5", two_frames(), true);
  const StateFile read = read_h5md(dir / "a.h5");
  EXPECT_EQ(read.state.domain, (Domain{{0, 0, 0}, {6, 7, 8}}));
  EXPECT_EQ(read.state.ids, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(read.state.positions[2].y, 0.25 * 16);
  EXPECT_EQ(read.state.velocities[0].x, 0.25 * 9);
  EXPECT_EQ(read.state.images[1].z, 0);
  write_foreign(dir / "b.h5", two_frames(), false);
  EXPECT_FALSE(read_h5md(dir / "b.h5").has_velocities);
}

TEST(H5md, NamesWhatItCantUse) {
  const SharedDirectory dir;
  const auto refusal = [&](const std::string& path) {
    return error_message(ErrorKind::input, [&] { static_cast<void>(read_h5md(path)); });
  };
  const std::string path = dir / "a.h5";
  write_foreign(path, two_frames(), true, {3, 3, 2});
  EXPECT_EQ(refusal(path), path + ": the array particles/all/position/value isn't frames x atoms x 3");
  const std::vector<double> other = {1, 2};
  const std::vector arrays = {app::array_block<double>("u", {2}, {{0}, {2}}, other)};
  app::write_hdf5(MPI_COMM_WORLD, path, arrays, {});
  EXPECT_EQ(refusal(path), path + ": has no array 'particles/all/position/value'");
}

}  // namespace
}  // namespace selvage::md
