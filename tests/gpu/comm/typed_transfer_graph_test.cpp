#include "job.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage {
namespace {

using View = Kokkos::View<int*, Kokkos::CudaSpace>;
using Value = Kokkos::View<int, Kokkos::CudaSpace>;

/// Element k of the message lies at source(from(k)) on one side and at target(to(k)) on the other.
struct Message {
  View source;
  View target;
  View from;
  View to;
  Value round;
  Value wrong;
  int sender;
};

void fill(const Kokkos::Cuda& space, const Message& message, int rank) {
  const View values = message.source;
  const View places = message.from;
  const Value now = message.round;
  Kokkos::parallel_for(
      "test::fill", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, static_cast<int>(places.size())),
      KOKKOS_LAMBDA(int k) { values(places(k)) = now() * 7 + rank * 100'003 + k; });
}

/// Counts wrong elements, poisons them, then begins the next round.
void check(const Kokkos::Cuda& space, const Message& message) {
  const View values = message.target;
  const View places = message.to;
  const Value now = message.round;
  const Value wrong = message.wrong;
  const int sender = message.sender;
  Kokkos::parallel_for(
      "test::check", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, static_cast<int>(places.size())),
      KOKKOS_LAMBDA(int k) {
        if (values(places(k)) != now() * 7 + sender * 100'003 + k) Kokkos::atomic_inc(&wrong());
        values(places(k)) = -1;
      });
  Kokkos::parallel_for(
      "test::next", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, 1), KOKKOS_LAMBDA(int) { now() += 1; });
}

View on_device(const std::vector<int>& values) {
  const View view("indices", values.size());
  Kokkos::deep_copy(view, Kokkos::View<const int*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}

constexpr std::int64_t short_blocks = 500;
constexpr std::int64_t long_block = 20'000;

/// 500 blocks of 3, 7 apart, then one long block; places holds where each element lies.
Datatype sending_type(std::vector<int>& places) {
  const Datatype element = Datatype::of<int>();
  for (std::int64_t block = 0; block < short_blocks; ++block) {
    for (int i = 0; i < 3; ++i) places.push_back(static_cast<int>(7 * block + i));
  }
  const std::int64_t begin = 7 * short_blocks + 1;
  for (std::int64_t i = 0; i < long_block; ++i) places.push_back(static_cast<int>(begin + i));
  const std::vector<std::int64_t> lengths{1, long_block};
  const std::vector<std::int64_t> displacements{0, 4 * begin};
  const std::vector<Datatype> types{Datatype::vector(short_blocks, 3, 7, element), element};
  return Datatype::structure(lengths, displacements, types);
}

/// The same elements in blocks of 1 to 2000, the last ones first.
Datatype receiving_type(std::vector<int>& places) {
  std::vector<std::int64_t> lengths;
  std::int64_t left = 3 * short_blocks + long_block;
  for (std::int64_t length = 1; left > 0; length = length * 5 % 2003) {
    lengths.push_back(std::min(length, left));
    left -= lengths.back();
  }
  std::vector<std::int64_t> displacements(lengths.size());
  std::int64_t next = 0;
  for (std::size_t block = lengths.size(); block-- > 0; next += lengths[block] + 1)
    displacements[block] = next;
  for (std::size_t block = 0; block < lengths.size(); ++block) {
    for (std::int64_t i = 0; i < lengths[block]; ++i)
      places.push_back(static_cast<int>(displacements[block] + i));
  }
  return Datatype::indexed(lengths, displacements, Datatype::of<int>());
}

TEST(TypedTransferGraph, ReplaysACapturedTransferAThousandTimes) {
  const Context context(MPI_COMM_WORLD);
  const int after = (context.rank() + 1) % context.size();
  const int before = (context.rank() + context.size() - 1) % context.size();
  std::vector<int> from;
  std::vector<int> to;
  const Datatype sent = sending_type(from);
  const Datatype received = receiving_type(to);
  ASSERT_EQ(from.size(), to.size());
  const Message message{View("source", sent.true_upper_bound() / 4),
                        View("target", received.true_upper_bound() / 4),
                        on_device(from),
                        on_device(to),
                        Value("round"),
                        Value("wrong"),
                        before};
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const Kokkos::Cuda space(stream);
  TypedTransfer transfer(space, context, {transfer_end(after, message.source, sent)},
                         {transfer_end(before, message.target, received)});
  // GPUs of a host map each other's memory; messages between hosts can't be captured.
  if (!test::this_job().is_on_one_host()) GTEST_SKIP() << "for one host";
  if (context.size() > 1) {
    ASSERT_NE(transfer.explain().find("peer"), std::string::npos) << transfer.explain();
  }
  const auto enqueue = [&] {
    fill(space, message, context.rank());
    transfer.run(space);
    check(space, message);
  };
  // Outside a graph first: kernels load when they are first launched.
  Kokkos::fence("test::prepared");
  enqueue();
  space.fence();

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  enqueue();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  // Ranks that share a GPU take turns on it by time slices.
  const int replays = context.machine().same_gpu(0, context.size() - 1) && context.size() > 1 ? 100 : 1'000;
  for (int replay = 0; replay < replays; ++replay)
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  space.fence();
  EXPECT_NO_THROW(transfer.check());
  int wrong = -1;
  int rounds = 0;
  Kokkos::deep_copy(wrong, message.wrong);
  Kokkos::deep_copy(rounds, message.round);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(rounds, replays + 1);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace selvage
