#include "common/hdf5_file.hpp"

#include "common/agreement.hpp"
#include "common/hdf5_gather.hpp"
#include "common/hdf5_objects.hpp"
#include "expect_error.hpp"
#include "file_size_limit.hpp"
#include "shared_directory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using namespace app::testing_support;
using Extent = std::vector<std::int64_t>;

struct World {
  int rank = 0;
  int ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

/// One rank's part of the array, cut along `axis` into unequal slabs; with more ranks than rows some are
/// empty.
ArrayBox slab(const Extent& extent, std::size_t axis, int rank, int ranks) {
  ArrayBox box{.begin = Extent(extent.size(), 0), .end = extent};
  const auto cut = [&](std::int64_t part) {
    return extent[axis] * part * part / (std::int64_t{ranks} * ranks);
  };
  box.begin[axis] = cut(rank);
  box.end[axis] = cut(rank + 1);
  return box;
}

/// The number that the cell at `index` of the whole array holds.
template <class T>
T cell_value(const Extent& extent, const Extent& index) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) number = number * extent[axis] + index[axis];
  return static_cast<T>(number) + static_cast<T>(1);
}

/// A box's values, the last axis fastest.
template <class T>
std::vector<T> box_values(const Extent& extent, const ArrayBox& box) {
  std::vector<T> values;
  Extent index = box.begin;
  for (std::int64_t i = 0; i < box.count(); ++i) {
    values.push_back(cell_value<T>(extent, index));
    for (std::size_t axis = extent.size(); axis-- > 0;) {
      if (++index[axis] < box.end[axis]) break;
      index[axis] = box.begin[axis];
    }
  }
  return values;
}

template <class T>
void write_whole(const std::string& path, const Extent& extent, std::size_t axis, WriteMode mode,
                 const Attributes& attributes = {}) {
  const World world;
  const ArrayBox box = slab(extent, axis, world.rank, world.ranks);
  const auto values = box_values<T>(extent, box);
  const auto array = array_block<T>("u", extent, box, values);
  write_hdf5(MPI_COMM_WORLD, path, std::span(&array, 1), attributes, mode);
}

template <class T>
void expect_whole(const std::string& path, const Extent& extent) {
  const Hdf5Reader file(path);
  ASSERT_EQ(file.extent("u"), extent);
  const ArrayBox whole{.begin = Extent(extent.size(), 0), .end = extent};
  std::vector<T> values(static_cast<std::size_t>(whole.count()));
  file.read<T>("u", whole, values);
  EXPECT_EQ(values, box_values<T>(extent, whole));
}

std::vector<WriteMode> modes() {
  if (hdf5_is_parallel()) return {WriteMode::parallel, WriteMode::gathered, WriteMode::automatic};
  return {WriteMode::gathered, WriteMode::automatic};
}

template <class Work>
std::string agreed_message(ErrorKind kind, Work&& work) {
  try {
    work();
  } catch (const AgreedError& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "no error was agreed on";
  return {};
}

TEST(Hdf5File, HoldsTheWholeArrayWhateverItsShapeAndTheCut) {
  const SharedDirectory dir;
  int number = 0;
  for (const auto mode : modes()) {
    for (const Extent& extent : {Extent{13}, Extent{7, 9}, Extent{2, 3}, Extent{5, 6, 7}}) {
      for (std::size_t axis = 0; axis < extent.size(); ++axis) {
        const std::string path = dir / fmt::format("f{}.h5", number++);
        write_whole<double>(path, extent, axis, mode);
        expect_whole<double>(path, extent);
      }
    }
  }
}

TEST(Hdf5File, HoldsEveryElementType) {
  const SharedDirectory dir;
  for (const auto mode : modes()) {
    write_whole<float>(dir / "f.h5", {5, 4}, 0, mode);
    expect_whole<float>(dir / "f.h5", {5, 4});
    write_whole<std::int32_t>(dir / "f.h5", {5, 4}, 0, mode);
    expect_whole<std::int32_t>(dir / "f.h5", {5, 4});
    write_whole<std::int64_t>(dir / "f.h5", {5, 4}, 0, mode);
    expect_whole<std::int64_t>(dir / "f.h5", {5, 4});
  }
}

TEST(Hdf5File, IsGatheredInManyPiecesWhereItIsLarge) {
  const SharedDirectory dir;
  const Extent extent = {1500, 3000};
  write_whole<double>(dir / "f.h5", extent, 0, WriteMode::gathered);
  expect_whole<double>(dir / "f.h5", extent);
}

TEST(Hdf5File, HoldsSeveralArrays) {
  const SharedDirectory dir;
  const World world;
  const Extent extent = {8, 3};
  const ArrayBox box = slab(extent, 0, world.rank, world.ranks);
  const auto a = box_values<double>(extent, box);
  const auto b = box_values<float>(extent, box);
  for (const auto mode : modes()) {
    const std::vector arrays = {array_block<double>("u", extent, box, a),
                                array_block<float>("v", extent, box, b)};
    write_hdf5(MPI_COMM_WORLD, dir / "f.h5", arrays, {}, mode);
    const Hdf5Reader file(dir / "f.h5");
    EXPECT_EQ(file.arrays(), (std::vector<std::string>{"u", "v"}));
    EXPECT_EQ(file.type("u"), ElementType::float64);
    EXPECT_EQ(file.type("v"), ElementType::float32);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Hdf5File, ReadsBackTheBoxesOfAnotherDecomposition) {
  const SharedDirectory dir;
  const World world;
  const Extent extent = {9, 11};
  write_whole<double>(dir / "f.h5", extent, 0, WriteMode::automatic);
  const Hdf5Reader file(dir / "f.h5");
  const ArrayBox box = slab(extent, 1, world.rank, world.ranks);
  std::vector<double> values(static_cast<std::size_t>(box.count()));
  file.read<double>("u", box, values);
  EXPECT_EQ(values, box_values<double>(extent, box));
}

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

TEST(Hdf5File, KeepsAttributesBitByBit) {
  const SharedDirectory dir;
  for (const auto mode : modes()) {
    write_whole<double>(
        dir / "f.h5", {4, 4}, 0, mode,
        {{"step", std::int64_t{1} << 40}, {"time", 0.1 + 0.2}, {"name", "a case"}, {"none", ""}});
    const Hdf5Reader file(dir / "f.h5");
    EXPECT_EQ(file.integer("step"), std::int64_t{1} << 40);
    EXPECT_EQ(file.real("time"), 0.1 + 0.2);
    EXPECT_EQ(file.text("name"), "a case");
    EXPECT_EQ(file.text("none"), "");
    EXPECT_TRUE(file.has_attribute("step"));
    EXPECT_FALSE(file.has_attribute("stop"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Hdf5File, MakesTheGroupsThatNamesSpeakOf) {
  const SharedDirectory dir;
  const World world;
  const Extent extent = {8, 3};
  const ArrayBox box = slab(extent, 0, world.rank, world.ranks);
  const auto values = box_values<double>(extent, box);
  for (const auto mode : modes()) {
    const std::vector arrays = {array_block<double>("a/b/value", extent, box, values),
                                array_block<double>("a/c/value", extent, box, values)};
    const Attributes attributes = {
        {"top", std::int64_t{7}}, {"a/b/unit", std::string("sigma")}, {"new/one", 0.5}};
    const ListAttributes lists = {{"a/version", std::vector<std::int64_t>{1, 1, 4}},
                                  {"a/names", std::vector<std::string>{"first", "the second"}}};
    write_hdf5(MPI_COMM_WORLD, dir / "f.h5", arrays, attributes, mode, lists);
    const Hdf5Reader reader(dir / "f.h5");
    EXPECT_EQ(reader.extent("a/b/value"), extent);
    EXPECT_TRUE(reader.has_array("a/c/value"));
    EXPECT_FALSE(reader.has_array("a/d/value"));
    EXPECT_FALSE(reader.has_array("d/e/value"));
    EXPECT_EQ(reader.integer("top"), 7);
    EXPECT_EQ(reader.real("new/one"), 0.5);
    EXPECT_EQ(reader.text("a/b/unit"), "sigma");
    EXPECT_FALSE(reader.has_attribute("a/b/top"));
    EXPECT_FALSE(reader.has_attribute("d/unit"));
    EXPECT_EQ(reader.texts("a/names"), (std::vector<std::string>{"first", "the second"}));
    EXPECT_EQ(reader.groups_in("a"), (std::vector<std::string>{"b", "c"}));
    const Hdf5Handle file(H5Fopen((dir / "f.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    std::array<std::int64_t, 3> version = {};
    const Hdf5Handle list(H5Aopen_by_name(file.id(), "a", "version", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle space(H5Aget_space(list.id()), H5Sclose);
    ASSERT_EQ(H5Sget_simple_extent_npoints(space.id()), 3);
    EXPECT_GE(H5Aread(list.id(), H5T_NATIVE_INT64, version.data()), 0);
    EXPECT_EQ(version, (std::array<std::int64_t, 3>{1, 1, 4}));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Hdf5File, HasTheSameBytesHoweverItIsWritten) {
  if (!hdf5_is_parallel()) GTEST_SKIP() << "this HDF5 was built without MPI";
  const SharedDirectory dir;
  const auto bytes_of_file = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  write_whole<double>(dir / "a.h5", {6, 7}, 0, WriteMode::parallel, {{"step", std::int64_t{3}}});
  write_whole<double>(dir / "b.h5", {6, 7}, 1, WriteMode::gathered, {{"step", std::int64_t{3}}});
  EXPECT_EQ(bytes_of_file(dir / "a.h5"), bytes_of_file(dir / "b.h5"));
}

TEST(Hdf5File, RefusesParallelWritesWithoutParallelHdf5) {
  if (hdf5_is_parallel()) GTEST_SKIP() << "this HDF5 was built with MPI";
  const SharedDirectory dir;
  const auto message = agreed_message(
      ErrorKind::unsupported, [&] { write_whole<double>(dir / "f.h5", {4}, 0, WriteMode::parallel); });
  EXPECT_NE(message, "");
}

TEST(Hdf5File, FailsOnAllRanksWhenTheDiskIsFullAndKeepsTheEarlierFile) {
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  for (const auto mode : modes()) {
    write_whole<double>(path, {4, 4}, 0, mode);
    MPI_Barrier(MPI_COMM_WORLD);
    {
      const FileSizeLimit full(100'000);
      const auto message = agreed_message(ErrorKind::io, [&] {
        write_whole<double>(path, {400, 400}, 0, mode);
      });
      EXPECT_NE(message.find(path), std::string::npos) << message;
      EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    }
    expect_whole<double>(path, {4, 4});
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Hdf5File, ReleasesSendersWhenAGatheredWriteFailsHalfway) {
  const SharedDirectory dir;
  const World world;
  const Extent extent = {3000, 1000};
  const ArrayBox box = slab(extent, 0, world.rank, world.ranks);
  const auto values = box_values<double>(extent, box);
  const auto array = array_block<double>("u", extent, box, values);
  silence_hdf5();
  Hdf5Handle file;
  Hdf5Handle dataset;
  if (world.rank == 0) {
    file = {H5Fcreate((dir / "f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, serial_access().id()), H5Fclose};
    dataset = create_dataset(file.id(), array);
  }
  const FileSizeLimit full(1'000'000);
  const auto write = [&] { write_gathered(MPI_COMM_WORLD, array, dataset.id()); };
  if (world.rank == 0) {
    const auto message = error_message(ErrorKind::io, write);
    EXPECT_EQ(message, "H5Dwrite of u: file write failed: File too large");
  } else {
    EXPECT_NO_THROW(write());
  }
}

TEST(Hdf5File, NamesAPathThatCannotBeWritten) {
  for (const auto mode : modes()) {
    const auto message = agreed_message(ErrorKind::io, [&] {
      write_whole<double>("/nonexistent/f.h5", {4, 4}, 0, mode);
    });
    EXPECT_EQ(message, "cannot create /nonexistent/f.h5.partial: No such file or directory");
  }
}

TEST(Hdf5File, RefusesABoxOutsideItsArray) {
  const SharedDirectory dir;
  const std::vector<double> values(16);
  const auto array = array_block<double>("u", {4, 4}, {{0, 0}, {4, 5}}, values);
  const auto write = [&] { write_hdf5(MPI_COMM_WORLD, dir / "f.h5", std::span(&array, 1), {}); };
  EXPECT_NE(agreed_message(ErrorKind::usage, write).find("array u"), std::string::npos);
}

TEST(Hdf5Reader, NamesAFileThatIsAbsent) {
  const auto message = error_message(ErrorKind::input, [] { Hdf5Reader("/nonexistent/r.h5"); });
  EXPECT_EQ(message, "/nonexistent/r.h5: cannot be read: No such file or directory");
}

TEST(Hdf5Reader, RefusesADirectory) {
  const auto message = error_message(ErrorKind::input, [] { Hdf5Reader("/"); });
  EXPECT_EQ(message, "/: is a directory, not an HDF5 file");
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
