#include "halo_conformance.hpp"

namespace selvage::test {
namespace {

const std::vector<HaloCase<3>>& cases_3d() {
  static const std::vector<HaloCase<3>> all{
      {"faces", {7, 9, 5}, {false, false, false}, 1, false},
      {"corners", {7, 9, 5}, {false, false, false}, 1, true},
      {"periodic", {8, 6, 7}, {true, true, true}, 1, true},
      {"mixed", {9, 10, 11}, {true, false, true}, {{1, 1}, {1, 1}, {2, 1}}, true},
      {"one_sided", {9, 10, 11}, {true, true, false}, {{0, 1}, {2, 0}, {1, 1}}, true},
      {"long_rows", {6, 7, 90}, {true, true, true}, {{1, 1}, {1, 2}, {2, 1}}, true},
      {"long_columns", {90, 7, 6}, {true, false, true}, 1, true}};
  return all;
}

template <class Kind>
class HaloConformance3D : public testing::Test {};
TYPED_TEST_SUITE(HaloConformance3D, FieldKinds<3>);

TYPED_TEST(HaloConformance3D, FillsGhostsExactlyOverEveryTransportAndInitiation) {
  const Context context(MPI_COMM_WORLD);
  for (const auto& halo_case : cases_3d()) {
    SCOPED_TRACE(halo_case.name);
    EXPECT_GE(expect_exact_everywhere<TypeParam>(context, halo_case), least_combinations());
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace selvage::test
