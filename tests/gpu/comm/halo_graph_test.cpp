#include "device_torus.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <mpi.h>

namespace selvage::test {
namespace {

class GraphTest : public testing::TestWithParam<TorusCase> {
 protected:
  GraphTest() : context_(MPI_COMM_WORLD), torus_(context_, GetParam()) {}

  void enqueue_round(HaloExchange& halo, const Kokkos::Cuda& space, int round) const {
    const auto& field = torus_.view(round);
    torus_.enqueue_fill(space, field);
    halo.exchange(space, field);
    torus_.enqueue_check(space, field);
  }

  Context context_;
  DeviceTorus torus_;
};

INSTANTIATE_TEST_SUITE_P(EveryTransport, GraphTest,
                         testing::Values(TorusCase{Transport::peer, GhostReuse::credit, false},
                                         TorusCase{Transport::peer, GhostReuse::alternating, false},
                                         TorusCase{Transport::peer, GhostReuse::alternating, true},
                                         TorusCase{Transport::copy_engine, GhostReuse::credit, false},
                                         TorusCase{Transport::copy_engine, GhostReuse::alternating, true}),
                         [](const testing::TestParamInfo<TorusCase>& info) { return info.param.name(); });

/// Three exchanges per replay, so that the epoch's parity changes from replay to replay.
TEST_P(GraphTest, ReplaysACapturedExchangeTenThousandTimes) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const Kokkos::Cuda space(stream);
  HaloExchange halo = torus_.plan(space, GetParam(), Initiation::stream);
  // Outside a graph first: kernels load when they are first launched.
  for (int round = 0; round < 2; ++round) enqueue_round(halo, space, round);
  space.fence();

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int round = 0; round < 3; ++round) enqueue_round(halo, space, round);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const int replays = shares_a_gpu(context_) ? 200 : 10'000;
  for (int replay = 0; replay < replays; ++replay)
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  space.fence();
  EXPECT_NO_THROW(halo.check());
  EXPECT_EQ(torus_.wrong(), 0);
  EXPECT_EQ(torus_.rounds(), 3.0 * replays + 2);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace selvage::test
