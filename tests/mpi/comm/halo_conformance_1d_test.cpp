#include "halo_conformance.hpp"

namespace selvage::test {
namespace {

const std::vector<HaloCase<1>>& cases_1d() {
  static const std::vector<HaloCase<1>> all{{"faces", {29}, {false}, 1, false},
                                            {"periodic", {29}, {true}, 1, true},
                                            {"wide_and_uneven", {67}, {true}, {{3, 2}}, true},
                                            {"one_sided", {29}, {false}, {{2, 0}}, true},
                                            {"long_runs", {400}, {true}, {{40, 33}}, true}};
  return all;
}

template <class Kind>
class HaloConformance1D : public testing::Test {};
TYPED_TEST_SUITE(HaloConformance1D, FieldKinds<1>);

TYPED_TEST(HaloConformance1D, FillsGhostsExactlyOverEveryTransportAndInitiation) {
  const Context context(MPI_COMM_WORLD);
  for (const auto& halo_case : cases_1d()) {
    SCOPED_TRACE(halo_case.name);
    EXPECT_GE(expect_exact_everywhere<TypeParam>(context, halo_case), least_combinations());
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace selvage::test
