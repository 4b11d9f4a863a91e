#include "common/hdf5_file.hpp"

#include "common/hdf5_gather.hpp"
#include "common/hdf5_objects.hpp"
#include "expect_error.hpp"
#include "file_size_limit.hpp"
#include "hdf5_arrays.hpp"
#include "open_files_limit.hpp"
#include "shared_directory.hpp"

#include <selvage/agreement.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using namespace app::testing_support;

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
    // Three values don't fit where one is wanted.
    EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)reader.integer("a/version"); }),
              dir / "f.h5: attribute 'a/version' has 3 values instead of one");
    EXPECT_EQ(error_message(ErrorKind::input, [&] { (void)reader.text("a/names"); }),
              dir / "f.h5: attribute 'a/names' has 2 values instead of one");
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
  // Several blocks with checksums, which ranks share.
  write_whole<double>(dir / "a.h5", {300, 700}, 0, WriteMode::parallel);
  write_whole<double>(dir / "b.h5", {300, 700}, 1, WriteMode::gathered);
  EXPECT_EQ(bytes_of_file(dir / "a.h5"), bytes_of_file(dir / "b.h5"));
}

/// Changes the lowest bit of the value of a cell whose next one, along the last axis, is in the file too. Rank 0 does it.
template <class T>
void flip_bit(const std::string& path, const Extent& extent, Extent cell) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (World().rank == 0) {
    std::array<T, 2> wanted{cell_value<T>(extent, cell)};
    ++cell.back();
    wanted[1] = cell_value<T>(extent, cell);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const std::string_view pattern(reinterpret_cast<const char*>(wanted.data()), sizeof(wanted));
    const std::size_t place = bytes.find(pattern);
    ASSERT_NE(place, std::string::npos);
    file.seekp(static_cast<std::streamoff>(place));
    file.put(static_cast<char>(bytes[place] ^ 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

template <class T>
std::string message_of_reading(const std::string& path, const ArrayBox& box) {
  const Hdf5Reader file(path);
  std::vector<T> values(static_cast<std::size_t>(box.count()));
  return error_message(ErrorKind::input, [&] { file.read<T>("u", box, values); });
}

template <class T>
void expect_refusal_of_a_flipped_bit(const std::string& path, const Extent& extent) {
  const ArrayBox whole{.begin = Extent(extent.size(), 0), .end = extent};
  const std::string wanted = path + ": the values of 'u' are damaged: the checksum of those from [";
  const std::string message = message_of_reading<T>(path, whole);
  EXPECT_TRUE(message.starts_with(wanted)) << message;
  // The array is one block, so this also concerns ranks whose part has no damaged value.
  const World world;
  const ArrayBox part = slab(extent, 0, world.rank, world.ranks);
  if (part.count() > 0) {
    EXPECT_TRUE(message_of_reading<T>(path, part).starts_with(wanted));
  }
  const Hdf5Reader file(path);
  std::vector<T> row(static_cast<std::size_t>(whole.count() / extent[0]));
  const std::array<std::int64_t, 1> last{extent[0] - 1};
  EXPECT_TRUE(error_message(ErrorKind::input, [&] {
                file.read_rows("u", last, std::span(row));
              }).starts_with(wanted));
}

TEST(Hdf5File, NamesAnArrayWithAFlippedBit) {
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  for (const auto mode : modes()) {
    write_whole<double>(path, {13}, 0, mode);
    flip_bit<double>(path, {13}, {7});
    expect_refusal_of_a_flipped_bit<double>(path, {13});
    write_whole<float>(path, {5, 6, 7}, 1, mode);
    flip_bit<float>(path, {5, 6, 7}, {2, 3, 0});
    expect_refusal_of_a_flipped_bit<float>(path, {5, 6, 7});
    write_whole<std::int32_t>(path, {9, 5}, 1, mode);
    flip_bit<std::int32_t>(path, {9, 5}, {8, 3});
    expect_refusal_of_a_flipped_bit<std::int32_t>(path, {9, 5});
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Hdf5File, VerifiesTheBlocksThatAreRead) {
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  const Extent extent = {300, 700};
  for (const auto mode : modes()) {
    write_whole<double>(path, extent, 0, mode);
    expect_whole<double>(path, extent);
    flip_bit<double>(path, extent, {100, 600});
    EXPECT_NE(
        message_of_reading<double>(path, {{200, 690}, {300, 700}}).find("from [0, 350] to [300, 700] is"),
        std::string::npos);
    const ArrayBox intact{{50, 0}, {150, 350}};
    const Hdf5Reader file(path);
    std::vector<double> values(static_cast<std::size_t>(intact.count()));
    file.read<double>("u", intact, values);
    EXPECT_EQ(values, box_values<double>(extent, intact));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Rank 0 changes the array "u" of a file that all ranks have written.
template <class Change>
void change_array(const std::string& path, const Change& change) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (World().rank == 0) {
    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const Hdf5Handle array(H5Dopen2(file.id(), "u", H5P_DEFAULT), H5Dclose);
    change(array.id());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Hdf5File, IsReadWithoutChecksumsToo) {
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  write_whole<double>(path, {6, 7}, 0, WriteMode::automatic);
  change_array(path, [](hid_t array) {
    for (const char* name : {checksums_name, checksum_block_name}) EXPECT_GE(H5Adelete(array, name), 0);
  });
  expect_whole<double>(path, {6, 7});
}

TEST(Hdf5File, NamesAnArrayWhoseChecksumsAreOfAnotherOne) {
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  write_whole<double>(path, {6, 7}, 0, WriteMode::automatic);
  change_array(path, [](hid_t array) {
    const Hdf5Handle block(H5Aopen(array, checksum_block_name, H5P_DEFAULT), H5Aclose);
    const std::array<std::int64_t, 2> other{3, 7};
    EXPECT_GE(H5Awrite(block.id(), H5T_NATIVE_INT64, other.data()), 0);
  });
  EXPECT_EQ(message_of_reading<double>(path, {{0, 0}, {6, 7}}),
            path + ": the checksums of 'u' are not of as many values");
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

/// The others would wait for it in MPI.
TEST(Hdf5File, FailsOnAllRanksWhereOneCanOpenTooFewFiles) {
  if (!hdf5_is_parallel()) GTEST_SKIP() << "rank 0 alone opens the file";
  const World world;
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  std::optional<OpenFilesLimit> few;
  if (world.rank == world.ranks - 1) few.emplace(1);
  const auto message = agreed_message(ErrorKind::io, [&] {
    write_whole<double>(path, {4, 4}, 0, WriteMode::parallel);
  });
  EXPECT_EQ(message, "cannot write " + path + ": Too many open files");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(Hdf5File, RefusesABoxOutsideItsArray) {
  const SharedDirectory dir;
  const std::vector<double> values(16);
  const auto array = array_block<double>("u", {4, 4}, {{0, 0}, {4, 5}}, values);
  const auto write = [&] { write_hdf5(MPI_COMM_WORLD, dir / "f.h5", std::span(&array, 1), {}); };
  EXPECT_NE(agreed_message(ErrorKind::usage, write).find("array u"), std::string::npos);
}

}  // namespace
