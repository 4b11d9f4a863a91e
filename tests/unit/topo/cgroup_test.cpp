#include "machine/detect/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace selvage::topo {
namespace {

namespace fs = std::filesystem;

/// A control-group tree in a directory of the test's own.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("selvage_cgroup_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    write("membership", "");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] Figure<double> quota() const { return cpu_quota(root_ / "membership", root_ / "mount"); }

 private:
  fs::path root_;
};

TEST_F(Cgroup, ReadsTheQuotaOfVersionTwo) {
  write("membership", "0::/job/step\n");
  write("mount/job/step/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), Figure<double>::known(1.5, Source::kernel));
}

TEST_F(Cgroup, TakesTheLeastQuotaOnTheWayToTheRoot) {
  write("membership", "0::/job/step\n");
  write("mount/job/step/cpu.max", "max 100000\n");
  write("mount/job/cpu.max", "200000 100000\n");
  write("mount/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), Figure<double>::known(2.0, Source::kernel));
}

TEST_F(Cgroup, ReadsTheQuotaOfVersionOne) {
  write("membership", "3:cpuset:/\n2:cpu,cpuacct:/job\n");
  write("mount/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("mount/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), Figure<double>::known(4.0, Source::kernel));
}

TEST_F(Cgroup, FindsTheQuotaOfAContainerWhosePathIsTheOutersOne) {
  write("membership", "0::/outside/of/the/container\n");
  write("mount/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), Figure<double>::known(1.0, Source::kernel));
}

TEST_F(Cgroup, CallsNoQuotaUnlimited) {
  write("membership", "2:cpu:/\n0::/job\n");
  write("mount/job/cpu.max", "max 100000\n");
  write("mount/cpu/cpu.cfs_quota_us", "-1\n");
  write("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota().reason(), "unlimited");
}

TEST_F(Cgroup, SaysThatTheMembershipCannotBeRead) {
  const auto unknown = cpu_quota("/no/such/membership", "/no/such/mount");
  EXPECT_EQ(unknown.reason(), "cannot read /no/such/membership");
}

}  // namespace
}  // namespace selvage::topo
