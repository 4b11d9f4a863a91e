#include "thrown.hpp"

#include <selvage/comm/context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

namespace {

int duplicated = 0;
int freed = 0;

}  // namespace

/// Count the communicators of this process; the library calls them before MPI's own.
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* duplicate, MPI_Request* request) {
  ++duplicated;
  return PMPI_Comm_idup(comm, duplicate, request);
}
extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  ++freed;
  return PMPI_Comm_free(comm);
}

namespace selvage::test {
namespace {

void make_a_context() {
  const Context context(MPI_COMM_WORLD);
}

/// First in this file: only the first Context of a process says it.
TEST(EnvironmentCheck, SaysOnceAndOnRankZeroThatNothingReadsAVariable) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ScopedVariable mistyped("SELVAGE_TRANPORT", "peer");
  testing::internal::CaptureStderr();
  make_a_context();
  make_a_context();
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string remark =
      "selvage: SELVAGE_TRANPORT is set, and nothing reads it: did you mean SELVAGE_TRANSPORT?\n";
  EXPECT_EQ(said, rank == 0 ? remark : "");
}

/// What the constructor throws on all ranks. It must leave no communicator behind.
std::string message_where_none_is_made() {
  duplicated = freed = 0;
  const std::string message = message_on_all_ranks(ErrorKind::input, make_a_context);
  EXPECT_GT(duplicated, 0);
  EXPECT_EQ(freed, duplicated);
  return message;
}

/// Found later than the others, when the machine is detected.
TEST(EnvironmentCheck, RefusesPretendedHostsWithoutLeavingCommunicators) {
  const ScopedVariable bad("SELVAGE_LOGICAL_HOSTS", "two");
  EXPECT_EQ(
      message_where_none_is_made(),
      "SELVAGE_LOGICAL_HOSTS=two is neither HxR, such as 2x4 for 2 hosts of 4 ranks each, nor a list of "
      "ranks, such as 3+1");
}

struct Bad {
  const char* variable;
  const char* value;
  const char* message;
};

class BadVariable : public testing::TestWithParam<Bad> {};

TEST_P(BadVariable, IsRefusedByTheContext) {
  const ScopedVariable bad(GetParam().variable, GetParam().value);
  EXPECT_EQ(message_where_none_is_made(), GetParam().message);
}

TEST_P(BadVariable, OfOneRankIsRefusedOnAll) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) GTEST_SKIP() << "one rank is all";
  const ScopedVariable bad(GetParam().variable, rank == size - 1 ? GetParam().value : "");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input, make_a_context),
            GetParam().message + (" (on rank " + std::to_string(size - 1) + ")"));
}

INSTANTIATE_TEST_SUITE_P(
    EnvironmentCheck, BadVariable,
    testing::Values(
        Bad{"SELVAGE_TIMEOUT_MS", "0", "SELVAGE_TIMEOUT_MS=0 is not a whole number from 1 to 86400000"},
        Bad{"SELVAGE_SETUP_TIMEOUT_MS", "soon",
            "SELVAGE_SETUP_TIMEOUT_MS=soon is not a whole number from 1 to 86400000"},
        Bad{"SELVAGE_TRANSPORT", "pigeon",
            "SELVAGE_TRANSPORT=pigeon: \"pigeon\" is no transport: there are peer, copy_engine, mpi_direct, "
            "mpi_staged, ring"},
        Bad{"SELVAGE_INITIATION", "now",
            "SELVAGE_INITIATION=now: \"now\" is no initiation: there are host, stream, queue, kernel"},
        Bad{"SELVAGE_QUEUE_PLACEMENT", "gpu",
            "SELVAGE_QUEUE_PLACEMENT=gpu: \"gpu\" is no queue placement: there are host, device"},
        Bad{"SELVAGE_ALLREDUCE", "pipelined:x",
            "SELVAGE_ALLREDUCE=pipelined:x: \"x\" is no group size: pipelined:2 has groups of two ranks"},
        Bad{"SELVAGE_ALLREDUCE_REORDERING", "1", "SELVAGE_ALLREDUCE_REORDERING=1: there are yes, no"},
        Bad{"SELVAGE_GRID_REORDER", "maybe", "SELVAGE_GRID_REORDER=maybe: there are yes, no"},
        Bad{"SELVAGE_GPU_AWARE_MPI", "perhaps", "SELVAGE_GPU_AWARE_MPI=perhaps: there are yes, no"},
        Bad{"SELVAGE_PROXY", "nobody", "SELVAGE_PROXY=nobody: there are thread, caller"},
        Bad{"SELVAGE_COPY_PATHS", "both",
            "SELVAGE_COPY_PATHS=both: there are direct, static:SHARE (from 0 to 1), dynamic, auto"},
        Bad{"SELVAGE_COPY_SPLIT_BYTES", "4M",
            "SELVAGE_COPY_SPLIT_BYTES=4M is not a whole number from 1 to 9223372036854775807"}),
    [](const auto& tested) { return std::string(tested.param.variable); });

}  // namespace
}  // namespace selvage::test
