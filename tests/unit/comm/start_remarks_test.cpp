#include "runtime/start_remarks.hpp"

#include "sample_machine.hpp"

#include <gtest/gtest.h>

namespace selvage::detail {
namespace {

TEST(StartRemarks, SayThatThreadsOutnumberTheProcessors) {
  const topo::Machine machine = topo::machine_of(
      {topo::host_named("a"), topo::host_named("b")},
      {topo::rank_on(0, {0, 1, 2}), topo::rank_on(0, {1, 2, 3}), topo::rank_on(1, {0, 1, 2, 3})});
  EXPECT_EQ(remark_on_threads(machine, 0, 3, std::nullopt),
            "2 ranks of 3 threads each on 4 processors: OpenMP's threads spin while they wait, so set "
            "OMP_WAIT_POLICY=passive or a smaller OMP_NUM_THREADS");
  EXPECT_EQ(remark_on_threads(machine, 2, 5, "active").substr(0, 41),
            "1 rank of 5 threads each on 4 processors:");
  EXPECT_EQ(remark_on_threads(machine, 0, 2, std::nullopt), "");
  EXPECT_EQ(remark_on_threads(machine, 2, 4, std::nullopt), "");
}

TEST(StartRemarks, LeaveThreadsAloneThatYield) {
  const topo::Machine machine =
      topo::machine_of({topo::host_named("a")}, {topo::rank_on(0, {0}), topo::rank_on(0, {0})});
  EXPECT_NE(remark_on_threads(machine, 0, 2, std::nullopt), "");
  EXPECT_EQ(remark_on_threads(machine, 0, 2, "passive"), "");
  EXPECT_EQ(remark_on_threads(machine, 0, 2, "PASSIVE"), "");
  // One thread a rank spins in no OpenMP.
  EXPECT_EQ(remark_on_threads(machine, 0, 1, std::nullopt), "");
}

TEST(StartRemarks, KnowTheQuotaOfAControlGroup) {
  topo::RankPlace place = topo::rank_on(0, {0, 1, 2, 3, 4, 5, 6, 7});
  place.cpu_quota = topo::Figure<double>::known(1.5, topo::Source::kernel);
  const topo::Machine machine = topo::machine_of({topo::host_named("a")}, {place});
  EXPECT_NE(remark_on_threads(machine, 0, 2, std::nullopt).find("on 1.5 processors:"), std::string::npos);
}

TEST(StartRemarks, SayThatAGpuHasFewQueues) {
  EXPECT_EQ(remark_on_queues("1", false),
            "CUDA_DEVICE_MAX_CONNECTIONS=1: kernels that wait may keep from the GPU the copies and kernels "
            "that they wait for, so set CUDA_DEVICE_MAX_CONNECTIONS to 8 at least");
  EXPECT_NE(remark_on_queues("7", true), "");
  for (const char* const enough : {"8", "32", "0", "-1", "", "many", "1x"}) {
    EXPECT_EQ(remark_on_queues(enough, false), "") << enough;
    EXPECT_EQ(remark_on_queues(enough, true), "") << enough;
  }
  EXPECT_EQ(remark_on_queues(std::nullopt, false), "");
  EXPECT_EQ(remark_on_queues(std::nullopt, true).substr(0, 43),
            "MPS gives a process 2 queues to its GPU: ke");
}

}  // namespace
}  // namespace selvage::detail
