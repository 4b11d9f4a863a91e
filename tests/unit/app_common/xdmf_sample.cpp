// Prints two XDMF documents, a line between them, with names that need care, for a reader of XML.
#include "common/xdmf.hpp"

#include <cstdio>
#include <vector>

int main() {
  using namespace selvage::app;
  const UniformMesh mesh{.points = {4, 5}, .origin = {0, 0}, .spacing = {1, 1}};
  const std::vector<XdmfSnapshot> snapshots = {
      {.time = 0, .step = 0, .file_name = "a&b_0.h5", .arrays = {{"u<\"&\">", ElementType::float64}}},
      {.time = 0.5, .step = 10, .file_name = "a&b_10.h5", .arrays = {{"u<\"&\">", ElementType::float64}}}};
  std::fputs(xdmf_text("a&b", mesh, snapshots).c_str(), stdout);
  const PointCloud cloud{
      .points = 7,
      .positions = {"x", "all/x&y/value", ElementType::float64, 3},
      .values = {{"v", "all/v", ElementType::float32, 3}, {"id", "all/id", ElementType::int64, 1}}};
  std::puts("-----");
  std::fputs(xdmf_text("a&b", cloud, snapshots).c_str(), stdout);
}
