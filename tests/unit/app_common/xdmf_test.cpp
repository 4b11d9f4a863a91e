#include "common/xdmf.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace selvage::app;

const UniformMesh flat{.points = {4, 5}, .origin = {0.5, 0.25}, .spacing = {0.125, 0.0625}};
const UniformMesh solid{.points = {2, 3, 4}, .origin = {0, 0, 0}, .spacing = {1, 1, 1}};

std::string text_of(const UniformMesh& mesh, const std::vector<XdmfSnapshot>& snapshots) {
  return xdmf_text("fields", mesh, snapshots);
}

XdmfSnapshot snapshot(std::int64_t step, ElementType type) {
  return {
      .time = 0.5 * static_cast<double>(step), .step = step, .file_name = "f.h5", .arrays = {{"u", type}}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Xdmf, DescribesAFlatGridSlowestAxisFirst) {
  const auto text = text_of(flat, {snapshot(2, ElementType::float64)});
  EXPECT_TRUE(contains(text, R"(TopologyType="2DCoRectMesh" Dimensions="4 5")")) << text;
  EXPECT_TRUE(contains(text, R"(GeometryType="ORIGIN_DXDY")")) << text;
  EXPECT_TRUE(contains(text, ">0.5 0.25<")) << text;
  EXPECT_TRUE(contains(text, ">0.125 0.0625<")) << text;
  EXPECT_TRUE(contains(text, R"(<Time Value="1"/>)")) << text;
}

TEST(Xdmf, DescribesASolidGrid) {
  const auto text = text_of(solid, {snapshot(0, ElementType::float64)});
  EXPECT_TRUE(contains(text, R"(TopologyType="3DCoRectMesh" Dimensions="2 3 4")")) << text;
  EXPECT_TRUE(contains(text, R"(GeometryType="ORIGIN_DXDYDZ")")) << text;
}

TEST(Xdmf, NamesTypeAndWidthOfTheNumbers) {
  EXPECT_TRUE(contains(text_of(flat, {snapshot(0, ElementType::float32)}),
                       R"(NumberType="Float" Precision="4" Dimensions="4 5">f.h5:/u<)"));
  EXPECT_TRUE(
      contains(text_of(flat, {snapshot(0, ElementType::int64)}), R"(NumberType="Int" Precision="8")"));
}

}  // namespace
