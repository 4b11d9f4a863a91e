#include "common/hdf5_file.hpp"
#include "common/hdf5_handle.hpp"
#include "expect_error.hpp"
#include "hdf5_arrays.hpp"
#include "open_files_limit.hpp"
#include "shared_directory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using namespace app::testing_support;

TEST(Hdf5Reader, ReadsRowsInAnyOrder) {
  const SharedDirectory dir;
  std::vector<float> values(5 * 3);
  std::iota(values.begin(), values.end(), 0.0F);
  const std::array arrays{array_block("a", {5, 3}, {{0, 0}, {5, 3}}, std::span<const float>(values))};
  const std::string path = dir / fmt::format("rows{}.h5", World().rank);
  write_hdf5(MPI_COMM_SELF, path, arrays, {});
  const Hdf5Reader file(path);
  const std::vector<std::int64_t> rows{4, 0, 4};
  std::vector<float> read(9);
  file.read_rows("a", rows, std::span(read));
  EXPECT_EQ(read, (std::vector<float>{12, 13, 14, 0, 1, 2, 12, 13, 14}));
  const auto refusal = [&](std::int64_t row, std::size_t count) {
    const std::vector<std::int64_t> one{row};
    return error_message(row > 4 ? ErrorKind::input : ErrorKind::usage,
                         [&] { file.read_rows("a", one, std::span(read).first(count)); });
  };
  EXPECT_NE(refusal(5, 3).find("array 'a' has no row 5"), std::string::npos);
  EXPECT_NE(refusal(1, 2).find("1 rows of 3 values do not fit 2"), std::string::npos);
}

TEST(Hdf5Reader, NamesAFileThatIsAbsent) {
  const auto message = error_message(ErrorKind::input, [] { Hdf5Reader("/nonexistent/r.h5"); });
  EXPECT_EQ(message, "cannot read /nonexistent/r.h5: No such file or directory");
}

/// The file is right, so it isn't the input that is refused.
TEST(Hdf5Reader, SaysThatTooManyFilesAreOpen) {
  const SharedDirectory dir;
  write_whole<double>(dir / "f.h5", {4, 4}, 0, WriteMode::automatic);
  MPI_Barrier(MPI_COMM_WORLD);
  const OpenFilesLimit none_more(0);
  const auto message = error_message(ErrorKind::io, [&] { Hdf5Reader(dir / "f.h5"); });
  EXPECT_EQ(message, fmt::format("cannot read {}: Too many open files", dir / "f.h5"));
}

TEST(Hdf5Reader, RefusesADirectory) {
  const auto message = error_message(ErrorKind::input, [] { Hdf5Reader("/"); });
  EXPECT_EQ(message, "cannot read /: Is a directory");
}

TEST(Hdf5Reader, RefusesATruncatedFile) {
  const SharedDirectory dir;
  const World world;
  write_whole<double>(dir / "f.h5", {100, 100}, 0, WriteMode::automatic);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::uintmax_t bytes : {40'000, 1000, 3, 0}) {
    if (world.rank == 0) std::filesystem::resize_file(dir / "f.h5", bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const auto message = error_message(ErrorKind::input, [&] { Hdf5Reader(dir / "f.h5"); });
    EXPECT_TRUE(message.starts_with((dir / "f.h5") + ": is not a complete HDF5 file: ")) << message;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// An array of two of `value`, or a scalar, stored as another program, or another machine, might.
void store_foreign(const Hdf5Handle& file, const char* name, hid_t stored, double value, bool is_scalar) {
  const hsize_t two = 2;
  const Hdf5Handle space(is_scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &two, nullptr), H5Sclose);
  const Hdf5Handle array(
      H5Dcreate2(file.id(), name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  const std::array<double, 2> values = {value, value};
  EXPECT_GE(H5Dwrite(array.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

void store_texts_of_any_length(const Hdf5Handle& file, const char* name) {
  const hsize_t two = 2;
  const Hdf5Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  const Hdf5Handle list(H5Acreate2(file.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose);
  const std::array<const char*, 2> texts = {"periodic", "none"};
  EXPECT_GE(H5Awrite(list.id(), type.id(), texts.data()), 0);
}

TEST(Hdf5Reader, ReadsWhatOtherProgramsStore) {
  const SharedDirectory dir;
  if (World().rank == 0) {
    const Hdf5Handle file(H5Fcreate((dir / "f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose);
    store_foreign(file, "other_order", H5T_IEEE_F32BE, 1.5, false);
    store_foreign(file, "short", H5T_STD_I16BE, -7, false);
    store_foreign(file, "unsigned", H5T_STD_U32LE, 4e9, false);
    store_foreign(file, "scalar", H5T_STD_I64BE, 11, true);
    store_foreign(file, "long", H5T_NATIVE_LDOUBLE, 1, false);
    store_texts_of_any_length(file, "texts");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Hdf5Reader file(dir / "f.h5");
  const ArrayBox both{{0}, {2}};
  std::vector<float> single(2);
  file.read<float>("other_order", both, single);
  EXPECT_EQ(single[1], 1.5F);
  std::vector<std::int32_t> narrow(2);
  file.read<std::int32_t>("short", both, narrow);
  EXPECT_EQ(narrow[1], -7);
  std::vector<std::int64_t> wide(2);
  file.read<std::int64_t>("unsigned", both, wide);
  EXPECT_EQ(wide[1], 4'000'000'000);
  wide.resize(1);
  file.read<std::int64_t>("scalar", {{}, {}}, wide);
  EXPECT_EQ(wide[0], 11);
  EXPECT_EQ(file.texts("texts"), (std::vector<std::string>{"periodic", "none"}));
  EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)file.type("long"); }),
            dir / "f.h5: array 'long' holds no numbers of at most 64 bits");
  EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)file.groups_in("none"); }),
            dir / "f.h5: has no group 'none'");
}

TEST(Hdf5Reader, NamesWhatAFileLacks) {
  const SharedDirectory dir;
  write_whole<double>(dir / "f.h5", {4, 4}, 0, WriteMode::automatic,
                      {{"name", "x"}, {"step", std::int64_t{1}}});
  const Hdf5Reader file(dir / "f.h5");
  EXPECT_TRUE(file.has_array("u"));
  EXPECT_FALSE(file.has_array("v"));
  EXPECT_NE(error_message(ErrorKind::input, [&] { (void)file.extent("v"); }).find("has no array 'v'"),
            std::string::npos);
  EXPECT_NE(
      error_message(ErrorKind::input, [&] { (void)file.integer("time"); }).find("has no attribute 'time'"),
      std::string::npos);
  for (const auto& wrong : {error_message(ErrorKind::input, [&] { (void)file.integer("name"); }),
                            error_message(ErrorKind::input, [&] { (void)file.real("step"); }),
                            error_message(ErrorKind::input, [&] { (void)file.text("step"); })}) {
    EXPECT_NE(wrong.find("has another type"), std::string::npos) << wrong;
  }
}

TEST(Hdf5Reader, RequiresWhatDescribesARun) {
  const SharedDirectory dir;
  const Attributes described = {{"name", "x"}, {"rate", 0.1}, {"step", std::int64_t{1}}};
  write_whole<double>(dir / "f.h5", {4, 4}, 0, WriteMode::automatic, described);
  const Hdf5Reader file(dir / "f.h5");
  EXPECT_NO_THROW(file.require(described));
  EXPECT_NO_THROW(file.require({}));
  const auto message = [&](const Attributes& wanted) {
    return error_message(ErrorKind::input, [&] { file.require(wanted); });
  };
  EXPECT_NE(message({{"name", "x"}, {"rate", 0.2}}).find("its rate is 0.1, and this run's is 0.2"),
            std::string::npos);
  EXPECT_NE(message({{"name", "y"}}).find("its name is x, and this run's is y"), std::string::npos);
  EXPECT_NE(message({{"step", std::int64_t{2}}}).find("its step is 1"), std::string::npos);
  EXPECT_NE(message({{"time", 0.0}}).find("has no attribute 'time'"), std::string::npos);
}

TEST(Hdf5Reader, RefusesAnotherPrecisionAndAnotherShape) {
  const SharedDirectory dir;
  write_whole<double>(dir / "f.h5", {4, 4}, 0, WriteMode::automatic);
  const Hdf5Reader file(dir / "f.h5");
  std::vector<float> single(16);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            file.read<float>("u", {{0, 0}, {4, 4}}, single);
                          })
                .find("holds float64, not float32"),
            std::string::npos);
  std::vector<double> values(16);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            file.read<double>("u", {{0, 0}, {2, 8}}, values);
                          })
                .find("has other extents"),
            std::string::npos);
  EXPECT_NE(error_message(ErrorKind::input, [&] { file.read<double>("u", {{0}, {16}}, values); }), "");
  EXPECT_NE(error_message(ErrorKind::usage, [&] { file.read<double>("u", {{0, 0}, {4, 3}}, values); }), "");
}

}  // namespace
