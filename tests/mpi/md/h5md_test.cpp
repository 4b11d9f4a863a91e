#include "md/io/state_files/h5md.hpp"

#include "engine_fixture.hpp"
#include "expect_error.hpp"
#include "shared_directory.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdint>
#include <memory>
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
  write_h5md(MPI_COMM_WORLD, dir / "a.h5", std::make_shared<const State>(state), 0.5,
             {{"note", std::string("mine")}});
  const StateFile read = read_h5md(dir / "a.h5");
  EXPECT_TRUE(read.has_velocities);
  EXPECT_EQ(read.state.domain, state.domain);
  EXPECT_EQ(read.state.step, state.step);
  EXPECT_EQ(read.state.ids, state.ids);
  EXPECT_EQ(largest_difference(read.state.positions, state.positions), 0);
  EXPECT_EQ(largest_difference(read.state.velocities, state.velocities), 0);
  EXPECT_EQ(read.state.images[5].y, -2);
  const app::Hdf5Reader file(dir / "a.h5");
  EXPECT_EQ(file.text("note"), "mine");
  // Other programs' readers want the box as a time series.
  EXPECT_EQ(file.extent("particles/all/box/edges/value"), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(file.extent("particles/all/box/edges/step"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(file.texts("particles/all/box/boundary"),
            (std::vector<std::string>{"periodic", "periodic", "periodic"}));
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

/// A file of one frame of two atoms, each at (1, 2, 3), in this group.
std::vector<app::ArrayBlock> two_atoms(const std::string& group) {
  static const std::vector<double> positions = {1, 2, 3, 1, 2, 3};
  return {app::array_block<double>(group + "/position/value", {1, 2, 3}, {{0, 0, 0}, {1, 2, 3}}, positions)};
}

/// The box's sides as vectors, the only entries of `edges` that aren't 0 being its own.
app::ArrayBlock box_of_vectors(const std::string& group, const std::vector<double>& edges) {
  return app::array_block<double>(group + "/box/edges/value", {1, 3, 3}, {{0, 0, 0}, {1, 3, 3}}, edges);
}

TEST(H5md, TakesTheOnlyGroupOfParticles) {
  const SharedDirectory dir;
  const std::vector<double> edges = {6, 0, 0, 0, 7, 0, 0, 0, 8};
  auto arrays = two_atoms("particles/trajectory");
  arrays.push_back(box_of_vectors("particles/trajectory", edges));
  app::write_hdf5(MPI_COMM_WORLD, dir / "a.h5", arrays, {});
  const StateFile read = read_h5md(dir / "a.h5");
  EXPECT_EQ(read.state.domain, (Domain{{0, 0, 0}, {6, 7, 8}}));
  EXPECT_EQ(read.state.positions[1].z, 3);
  EXPECT_EQ(read.state.step, 0);

  for (const app::ArrayBlock& more : two_atoms("particles/water")) arrays.push_back(more);
  app::write_hdf5(MPI_COMM_WORLD, dir / "b.h5", arrays, {});
  EXPECT_EQ(error_message(ErrorKind::input, [&] { static_cast<void>(read_h5md(dir / "b.h5")); }),
            dir / "b.h5: no group of particles is named all, and there are 2 others: trajectory, water");
}

TEST(H5md, TakesOnlyAnOrthogonalPeriodicBox) {
  const SharedDirectory dir;
  const auto refusal = [&](const std::vector<double>& edges, const std::string& boundary) {
    auto arrays = two_atoms("particles/all");
    arrays.push_back(box_of_vectors("particles/all", edges));
    const app::ListAttributes lists{
        {"particles/all/box/boundary", std::vector<std::string>{"periodic", boundary, "periodic"}}};
    app::write_hdf5(MPI_COMM_WORLD, dir / "a.h5", arrays, {}, app::WriteMode::automatic, lists);
    return error_message(ErrorKind::input, [&] { static_cast<void>(read_h5md(dir / "a.h5")); });
  };
  EXPECT_EQ(refusal({6, 0, 0, 0, 7, 0.5, 0, 0, 8}, "periodic"), dir / "a.h5: the box isn't orthogonal");
  EXPECT_EQ(refusal({6, 0, 0, 0, 7, 0, 0, 0, 8}, "none"),
            dir / "a.h5: a box with the boundary 'none', and md's are periodic");
}

/// Adds a scalar of a type that needn't be one of this machine.
void add_scalar(hid_t file, const std::string& name, hid_t type, std::int64_t value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0);
  H5Dclose(made);
  H5Sclose(space);
}

void add_offset(hid_t file, const std::string& object, std::int64_t value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Acreate_by_name(file, object.c_str(), "offset", H5T_STD_U16BE, space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(made, H5T_NATIVE_INT64, &value), 0);
  H5Aclose(made);
  H5Sclose(space);
}

TEST(H5md, TakesStepsAtAFixedIntervalInAnyOrderOfBytes) {
  const SharedDirectory dir;
  write_foreign(dir / "a.h5", two_frames(), false);
  const hid_t file = H5Fopen((dir / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  add_scalar(file, "particles/all/position/step", H5T_STD_U32BE, 3'000'000'000);
  add_offset(file, "particles/all/position/step", 250);
  H5Fclose(file);
  // Frame 1 of 2.
  EXPECT_EQ(read_h5md(dir / "a.h5").state.step, 3'000'000'250);
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
  EXPECT_EQ(refusal(path), path + ": has no group 'particles'");
}

}  // namespace
}  // namespace selvage::md
