#include "sgd/io/idx_file.hpp"

#include "expect_error.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

using app::testing_support::error_message;
using app::testing_support::read_text;
using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;

std::string idx(const std::vector<int>& extent, const std::string& values, char type = 8) {
  std::string text{0, 0, type, static_cast<char>(extent.size())};
  for (const int length : extent)
    for (const int shift : {24, 16, 8, 0}) text.push_back(static_cast<char>(length >> shift & 0xff));
  return text + values;
}

void write_compressed(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(file);
}

const std::string two_images{"\x00\x01\x02\x03\x04\xff\x06\x07\x08\x09\x0a\x0b", 12};

void write_data_set(const TemporaryDirectory& folder) {
  write_compressed(folder / "train-images-idx3-ubyte.gz", idx({2, 2, 3}, two_images));
  write_text(folder / "train-labels-idx1-ubyte", idx({2}, {"\x00\x04", 2}));
  write_text(folder / "t10k-images-idx3-ubyte", idx({1, 2, 3}, two_images.substr(6)));
  write_compressed(folder / "t10k-labels-idx1-ubyte.gz", idx({1}, "\x03"));
}

TEST(IdxFile, IsReadPlainAndCompressedInAnyOrder) {
  const TemporaryDirectory folder;
  write_data_set(folder);
  const IdxSamples samples(folder.path());
  EXPECT_EQ(samples.shape().width, 6);
  EXPECT_EQ(samples.shape().train, 2);
  EXPECT_EQ(samples.shape().test, 1);
  for (const Part part : {Part::train, Part::test}) {
    const std::vector<std::int64_t> order =
        part == Part::train ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0};
    std::vector<float> features(6 * order.size());
    std::vector<int> labels(order.size());
    samples.read(part, order, features.data(), labels.data());
    EXPECT_EQ(features[0], 6 / 255.0F);
    EXPECT_EQ(labels, part == Part::train ? (std::vector{4, 0}) : std::vector{3});
    if (part == Part::test) continue;
    EXPECT_EQ(features[7], 1 / 255.0F);
    EXPECT_EQ(features[11], 1);
  }
}

void expect_refusal(const std::string& text, const std::string& part) {
  const TemporaryDirectory folder;
  write_text(folder / "a", text);
  const std::string message =
      error_message(ErrorKind::input, [&] { static_cast<void>(IdxFile(folder / "a")); });
  EXPECT_NE(message.find("a: "), std::string::npos) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(IdxFile, WhatIsWrongWithAFileIsNamed) {
  const std::string whole = idx({2, 2, 3}, two_images);
  expect_refusal(whole.substr(0, whole.size() - 4), "ends 4 bytes too early");
  expect_refusal(whole.substr(0, 3), "ends 1 bytes too early");
  expect_refusal(whole + "x", "longer than it says");
  // Compressed, the length shows when it is unpacked.
  const TemporaryDirectory folder;
  for (const auto& [text, part] : {std::pair(whole + "x", "longer than it says"),
                                   std::pair(whole.substr(0, 20), "ends 8 bytes too early")}) {
    write_compressed(folder / "b.gz", text);
    EXPECT_NE(
        error_message(ErrorKind::input, [&] { static_cast<void>(IdxFile(folder / "b.gz")); }).find(part),
        std::string::npos);
  }
  // The last eight bytes are a checksum and the length.
  write_compressed(folder / "b.gz", whole);
  std::string damaged = read_text(folder / "b.gz");
  damaged[damaged.size() - 6] ^= 1;
  write_text(folder / "b.gz", damaged);
  EXPECT_EQ(error_message(ErrorKind::input, [&] { static_cast<void>(IdxFile(folder / "b.gz")); }),
            folder / "b.gz" + ": incorrect data check");
  expect_refusal(idx({2}, "ab", 0x0d), "no IDX file of bytes");
  expect_refusal(idx({0}, ""), "has no elements");
  expect_refusal(idx({0x7fffffff, 0x7fffffff}, "a"), "2^36");
  EXPECT_NE(error_message(ErrorKind::input, [] { static_cast<void>(IdxFile("no_such")); })
                .find("cannot read no_such: "),
            std::string::npos);
}

TEST(IdxFile, PartsThatDontFitAreRefused) {
  const TemporaryDirectory folder;
  const auto refusal = [&] {
    return error_message(ErrorKind::input, [&] { static_cast<void>(IdxSamples(folder.path())); });
  };
  write_data_set(folder);
  write_text(folder / "train-labels-idx1-ubyte", idx({1}, "\x01"));
  EXPECT_NE(refusal().find("as many labels"), std::string::npos);
  write_data_set(folder);
  write_text(folder / "t10k-images-idx3-ubyte", idx({1, 1, 3}, "abc"));
  EXPECT_NE(refusal().find("have 6 pixels, and those to test 3"), std::string::npos);
}

}  // namespace
}  // namespace selvage::sgd
