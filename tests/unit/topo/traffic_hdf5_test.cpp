#include "mutation.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace selvage::topo {
namespace {

class TrafficHdf5 : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::temp_directory_path() / ("selvage-" + std::to_string(getpid()) + ".h5")).string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// Writes a good file, lets `damage` change it, and gives the message of the error, with FILE for its path.
  std::string message_after(const std::function<void(hid_t)>& damage) {
    write_traffic(path_, Traffic(2, {{0, 1, {1, 1}, {2, 1}}}));
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    damage(file);
    H5Fclose(file);
    std::string message = input_error([&] { (void)read_traffic(path_); });
    if (message.starts_with(path_)) message.replace(0, path_.size(), "FILE");
    return message;
  }

  static void put_attribute(hid_t file, const char* name, hid_t type, const void* value) {
    if (H5Aexists(file, name) > 0) H5Adelete(file, name);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t id = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(id, type, value);
    H5Aclose(id);
    H5Sclose(space);
  }

  static void put_dataset(hid_t file, const char* name, hid_t type, std::vector<hsize_t> size) {
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr);
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  }

  std::string path_;
};

TEST_F(TrafficHdf5, GivesBackWhatWasWrittenWithItsFacts) {
  const TrafficFacts facts{.mpi_library = "Some MPI 1.0",
                           .seconds = 2.5,
                           .communication_seconds = 0.5,
                           .host_histogram = std::vector<std::uint64_t>(64, 3),
                           .device_histogram = std::vector<std::uint64_t>(64, 4),
                           .is_incomplete = true};
  const Traffic traffic(
      70, {{0, 1, {10, 1}, {20, 2}}, {69, 0, {18446744073709551615u, 7}, {}}, {65, 65, {}, {4, 1}}}, facts);
  write_traffic(path_, traffic);
  EXPECT_EQ(read_traffic(path_), traffic);
}

TEST_F(TrafficHdf5, HoldsThousandsOfRanks) {
  const Traffic traffic = pattern_named("3d-16x16x8").traffic;
  write_traffic(path_, traffic);
  EXPECT_EQ(read_traffic(path_), traffic);
  EXPECT_LT(std::filesystem::file_size(path_), 8u << 20);
}

/// As h5py's "lzf" packs, of which the C library knows nothing.
TEST_F(TrafficHdf5, NamesAFilterThatIsNotThere) {
  constexpr H5Z_filter_t filter = 32000;
  constexpr std::array<H5Z_class2_t, 1> classes{
      {{H5Z_CLASS_T_VERS, filter, 1, 1, "lzf", nullptr, nullptr,
        [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
          return bytes;
        }}}};
  const std::string message = message_after([&](hid_t file) {
    ASSERT_GE(H5Zregister(classes.data()), 0);
    const std::array<hsize_t, 2> size{2, 2};
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 2, size.data());
    H5Pset_filter(layout, filter, H5Z_FLAG_MANDATORY, 0, nullptr);
    const hid_t space = H5Screate_simple(2, size.data(), nullptr);
    H5Ldelete(file, "device/bytes", H5P_DEFAULT);
    const hid_t id = H5Dcreate2(file, "device/bytes", H5T_STD_U64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    const std::array<std::uint64_t, 4> values{};
    H5Dwrite(id, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(id);
    H5Sclose(space);
    H5Pclose(layout);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    H5Zunregister(filter);
  });
  EXPECT_EQ(
      message,
      "FILE: device/bytes: it is packed by HDF5's filter 32000 (lzf), which is not there: unpack it with "
      "h5repack -f NONE");
}

TEST_F(TrafficHdf5, NamesFileAndDatasetOfWhatIsWrong) {
  const int two = 2;
  const int negative = -1;
  const double nan = std::nan("");
  const double three = 3;
  EXPECT_EQ(message_after([](hid_t file) { H5Adelete(file, "ranks"); }),
            "FILE: ranks: the attribute is missing");
  EXPECT_EQ(message_after(
                [&](hid_t file) { put_attribute(file, "selvage_traffic_version", H5T_NATIVE_INT, &two); }),
            "FILE: selvage_traffic_version: version 2 is unknown, 1 is known");
  EXPECT_EQ(message_after([&](hid_t file) { put_attribute(file, "ranks", H5T_NATIVE_INT, &negative); }),
            "FILE: ranks: -1 is out of range");
  EXPECT_EQ(message_after([&](hid_t file) { put_attribute(file, "ranks", H5T_NATIVE_DOUBLE, &three); }),
            "FILE: ranks: the attribute is not a whole number");
  EXPECT_EQ(message_after([&](hid_t file) { put_attribute(file, "seconds", H5T_NATIVE_DOUBLE, &nan); }),
            "FILE: seconds: nan is not a time");
  EXPECT_EQ(message_after([&](hid_t file) { put_attribute(file, "library", H5T_NATIVE_INT, &two); }),
            "FILE: library: the attribute is not a text");
  EXPECT_EQ(message_after([](hid_t file) { H5Ldelete(file, "device/bytes", H5P_DEFAULT); }),
            "FILE: device/bytes: the dataset is missing");
  EXPECT_EQ(message_after([](hid_t file) {
              put_dataset(file, "host/bytes", H5T_STD_U64LE, {2, 3});
            }),
            "FILE: host/bytes: the size is 2 x 3 instead of 2 x 2");
  EXPECT_EQ(message_after([](hid_t file) { put_dataset(file, "host/bytes", H5T_STD_U64LE, {4}); }),
            "FILE: host/bytes: the size is 4 instead of 2 x 2");
  // The macros are comma expressions, which nvcc doesn't take in a list.
  const hid_t with_sign = H5T_STD_I64LE;
  const hid_t narrow = H5T_STD_U32LE;
  const hid_t with_fraction = H5T_IEEE_F64LE;
  for (const hid_t type : {with_sign, narrow, with_fraction}) {
    EXPECT_EQ(message_after([&](hid_t file) {
                put_dataset(file, "device/messages", type, {2, 2});
              }),
              "FILE: device/messages: the numbers are not of type uint64");
  }
  EXPECT_EQ(message_after([](hid_t file) { put_dataset(file, "host/histogram", H5T_STD_U64LE, {63}); }),
            "FILE: host/histogram: the size is 63 instead of 64");
}

TEST_F(TrafficHdf5, RefusesOtherAndTruncatedFiles) {
  write_traffic(path_, Traffic(2, {{0, 1, {1, 1}, {2, 1}}}));
  std::ifstream whole(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    EXPECT_EQ(input_error([&] { (void)read_traffic(path_); }), path_ + ": not an HDF5 file that can be read")
        << size;
  }
  EXPECT_THROW(write_traffic("/nowhere/t.h5", Traffic(1, {})), Error);
}

TEST_F(TrafficHdf5, SaysWhereThereIsNoFileOrOnlyItsParts) {
  std::filesystem::remove(path_);
  EXPECT_EQ(input_error([&] { (void)read_traffic(path_); }), path_ + ": there is no such file");
  std::ofstream(path_ + ".rank0") << "a part";
  EXPECT_EQ(input_error([&] { (void)read_traffic(path_); }),
            path_ + ": there is no such file, but parts of one: selvage-profile-merge makes it of them");
  std::filesystem::remove(path_ + ".rank0");
}

TEST_F(TrafficHdf5, IsSilentAtTheEndAfterADamagedFile) {
  const auto prints = [] {
    H5E_auto2_t function = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &function, nullptr);
    return function != nullptr;
  };
  H5E_auto2_t function = [](hid_t, void*) -> herr_t { return 0; };
  H5Eset_auto2(H5E_DEFAULT, function, nullptr);
  write_traffic(path_, Traffic(2, {{0, 1, {1, 1}, {2, 1}}}));
  (void)read_traffic(path_);
  EXPECT_TRUE(prints());
  std::filesystem::resize_file(path_, 1000);
  EXPECT_NE(input_error([&] { (void)read_traffic(path_); }), "");
  EXPECT_FALSE(prints());
}

TEST_F(TrafficHdf5, SurvivesMutations) {
  write_traffic(path_, Traffic(3, {{0, 1, {1, 1}, {2, 1}}, {2, 1, {64, 4}, {0, 0}}}));
  std::ifstream good(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(good)), std::istreambuf_iterator<char>());
  expect_only_input_errors(
      bytes,
      [&](const std::string& changed) {
        std::ofstream(path_, std::ios::binary) << changed;
        (void)read_traffic(path_);
      },
      1000);
}

}  // namespace
}  // namespace selvage::topo
