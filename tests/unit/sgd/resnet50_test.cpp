#include "sgd/model/resnet50.hpp"

#include <gtest/gtest.h>

namespace selvage::sgd {
namespace {

TEST(Resnet50, HasTheTensorsOfThePaper) {
  const auto tensors = resnet50_tensors();
  ASSERT_EQ(tensors.size(), 161u);
  EXPECT_EQ(tensors.front().count, 64 * 3 * 7 * 7);
  EXPECT_EQ(tensors.back().begin + tensors.back().count, 25557032);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    EXPECT_EQ(tensors[i].begin, tensors[i - 1].begin + tensors[i - 1].count) << tensors[i].name;
}

}  // namespace
}  // namespace selvage::sgd
