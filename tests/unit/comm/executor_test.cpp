#include <selvage/comm/detail/kokkos_executor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::detail {
namespace {

CopyBox box_of(std::uintptr_t source, std::uintptr_t target, std::int64_t element_bytes,
               std::int64_t stride) {
  CopyBox box;
  box.source = reinterpret_cast<const std::byte*>(source);
  box.target = reinterpret_cast<std::byte*>(target);
  box.extents = {1, 1, 1, 8};
  box.source_strides = {0, 0, 0, stride};
  box.target_strides = {0, 0, 0, stride};
  box.element_bytes = element_bytes;
  return box;
}

TEST(WordBytes, AreTheLargestThatEveryAddressAllows) {
  EXPECT_EQ(word_bytes(box_of(256, 512, 16, 16)), 16);
  EXPECT_EQ(word_bytes(box_of(256, 512, 48, 48)), 16);
  EXPECT_EQ(word_bytes(box_of(256, 512, 8, 8)), 8);
  EXPECT_EQ(word_bytes(box_of(256, 512, 12, 12)), 4);
  EXPECT_EQ(word_bytes(box_of(256, 512, 6, 6)), 2);
  EXPECT_EQ(word_bytes(box_of(256, 512, 3, 3)), 1);
}

TEST(WordBytes, AreLessWhereAnAddressOrStrideIsNotAligned) {
  EXPECT_EQ(word_bytes(box_of(256 + 8, 512, 16, 16)), 8);
  EXPECT_EQ(word_bytes(box_of(256, 512 + 4, 16, 16)), 4);
  EXPECT_EQ(word_bytes(box_of(256, 512, 16, 24)), 8);
  EXPECT_EQ(word_bytes(box_of(256 + 1, 512, 16, 16)), 1);
}

TEST(CopyElements, CopiesWholeElementsWordByWord) {
  struct Element {
    std::array<std::int32_t, 3> parts;
  };
  std::vector<Element> source(20);
  std::vector<Element> target(20);
  for (int i = 0; i < 20; ++i) source[i] = {{i, -i, 100 + i}};
  CopyBox box = box_of(reinterpret_cast<std::uintptr_t>(source.data()),
                       reinterpret_cast<std::uintptr_t>(target.data()), sizeof(Element), 2 * sizeof(Element));
  const CopyElements<4> copy{DeviceBox(box), 3};
  for (std::int64_t i = 0; i < box.elements(); ++i) copy(i);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(target[i].parts, i % 2 == 0 ? source[i].parts : Element{}.parts) << i;
  }
}

TEST(ElementOffset, CountsTheLastAxisFastest) {
  const std::array<std::int64_t, 4> extents{2, 3, 4, 5};
  const std::array<std::int64_t, 4> strides{1000, 100, 10, 1};
  EXPECT_EQ(element_offset(extents.data(), strides.data(), 0), 0);
  EXPECT_EQ(element_offset(extents.data(), strides.data(), 4), 4);
  EXPECT_EQ(element_offset(extents.data(), strides.data(), 5), 10);
  EXPECT_EQ(element_offset(extents.data(), strides.data(), 2 * 3 * 4 * 5 - 1), 1234);
}

}  // namespace
}  // namespace selvage::detail
