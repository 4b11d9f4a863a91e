#include "halo_conformance.hpp"

namespace selvage::test {
namespace {

const std::vector<HaloCase<2>>& cases_2d() {
  static const std::vector<HaloCase<2>> all{
      {"faces", {13, 17}, {false, false}, 1, false},
      {"corners", {13, 17}, {false, false}, 1, true},
      {"periodic", {16, 11}, {true, true}, 1, true},
      {"half_periodic_uneven_widths", {21, 26}, {true, false}, {{2, 1}, {1, 2}}, true},
      {"one_sided", {21, 26}, {false, true}, {{0, 2}, {1, 0}}, true},
      {"periodic_faces_wide", {25, 27}, {true, true}, 3, false},
      {"long_rows", {20, 150}, {true, true}, {{2, 1}, {1, 2}}, true}};
  return all;
}

template <class Kind>
class HaloConformance2D : public testing::Test {};
TYPED_TEST_SUITE(HaloConformance2D, FieldKinds<2>);

TYPED_TEST(HaloConformance2D, FillsGhostsExactlyOverEveryTransportAndInitiation) {
  const Context context(MPI_COMM_WORLD);
  for (const auto& halo_case : cases_2d()) {
    SCOPED_TRACE(halo_case.name);
    EXPECT_GE(expect_exact_everywhere<TypeParam>(context, halo_case), least_combinations());
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace selvage::test
