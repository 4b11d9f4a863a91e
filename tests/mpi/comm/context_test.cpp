#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

namespace selvage::test {
namespace {

std::string usage_error_of(MPI_Comm comm) {
  const auto error = thrown_by([&] { const Context context(comm); });
  if (!error) return "none";
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  return error->message();
}

/// What messages of an error add that other ranks don't have.
std::string on_rank(int rank) {
  return this_job().ranks() == 1 ? "" : " (on rank " + std::to_string(rank) + ")";
}

TEST(Context, NeedsACommunicator) {
  EXPECT_EQ(usage_error_of(MPI_COMM_NULL),
            "a selvage::Context needs a communicator; this one is MPI_COMM_NULL");
}

TEST(Context, NeedsOneGroupOfRanks) {
  if (this_job().ranks() == 1) GTEST_SKIP() << "an inter-communicator takes two ranks";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  EXPECT_EQ(
      usage_error_of(both),
      "a selvage::Context needs one group of ranks: an inter-communicator has two, see MPI_Intercomm_merge");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST(Context, RaisesTheErrorOfOneRankOnAll) {
  const Context context(MPI_COMM_WORLD);
  const int last = context.size() - 1;
  bool ran = false;
  context.agree("reading the mesh", [&] { ran = true; });
  EXPECT_TRUE(ran);
  const std::string message = message_on_all_ranks(ErrorKind::input, [&] {
    context.agree("reading the mesh", [&] {
      if (context.rank() == last) throw Error(ErrorKind::input, "no mesh");
    });
  });
  EXPECT_EQ(message, "no mesh" + on_rank(last));
}

TEST(Context, NamesTheRankAndTheWorkOfAnyException) {
  const Context context(MPI_COMM_WORLD);
  const int last = context.size() - 1;
  const auto message_of = [&](const std::function<void()>& fail) {
    return message_on_all_ranks(ErrorKind::unsupported, [&] {
      context.agree("reading the mesh", [&] {
        if (context.rank() == last) fail();
      });
    });
  };
  const std::string on_last = on_rank(last);
  EXPECT_EQ(message_of([] { throw std::bad_alloc(); }), "reading the mesh: not enough memory" + on_last);
  EXPECT_EQ(message_of([] { throw std::runtime_error("no such file"); }),
            "reading the mesh: no such file" + on_last);
  EXPECT_EQ(message_of([] { throw 5; }), "reading the mesh: an exception of unknown type" + on_last);
  // A message that names its rank is left as it is, and so is one that ranks have agreed on before.
  EXPECT_EQ(
      message_of([last] { throw Error(ErrorKind::unsupported, "no mesh on rank " + std::to_string(last)); }),
      "no mesh on rank " + std::to_string(last));
  const std::string nested = message_on_all_ranks(ErrorKind::input, [&] {
    context.agree("the mesh", [&] {
      context.agree("reading the mesh", [&] {
        if (context.rank() == last) throw Error(ErrorKind::input, "no mesh");
      });
    });
  });
  EXPECT_EQ(nested, "no mesh" + on_last);
}

}  // namespace
}  // namespace selvage::test
