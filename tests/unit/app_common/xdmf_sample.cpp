// Prints an XDMF document with names that need care, for a reader of XML.
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
}
