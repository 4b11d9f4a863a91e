// What a TypedTransfer's plan chooses, and whom it names when ranks are late.
#include "job.hpp"
#include "thrown.hpp"
#include "transferred_bytes.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

/// What explain() says of a transfer around a ring of ranks.
std::string explain_transfer(const Context& context, const Datatype& type, bool is_shared) {
  const Bytes from(context, type.true_upper_bound(), is_shared);
  const Bytes to(context, type.true_upper_bound(), is_shared);
  const int after = (context.rank() + 1) % context.size();
  const int before = (context.rank() + context.size() - 1) % context.size();
  const TypedTransfer transfer(Space(), context, {transfer_end(after, from.view(), type)},
                               {transfer_end(before, to.view(), type)});
  return transfer.explain();
}

TEST(TypedTransfer, PacksScatteredElementsOnHostsAndCopiesBlocks) {
  const Context context(MPI_COMM_WORLD);
  if (!on_host || context.size() == 1 || !this_job().is_on_one_host())
    GTEST_SKIP() << "needs two ranks of a host, and host memory";
  const auto doubles_in_blocks = [&](std::int64_t length, bool is_shared) {
    return explain_transfer(context, Datatype::vector(100, length, 2 * length, Datatype::of<double>()),
                            is_shared);
  };
  const auto expect = [](const std::string& explained, const std::string& part) {
    EXPECT_NE(explained.find(part), std::string::npos) << explained;
  };
  expect(doubles_in_blocks(1, true), ": ring, stream, 800 B");
  expect(doubles_in_blocks(64, true), ": peer, stream, 51200 B");
  expect(doubles_in_blocks(64, false), "by units of host memory; not peer: View");
}

std::string refusal_around_a_ring(const Context& context, ErrorKind kind,
                                  const TypedTransfer::Options& options) {
  const Bytes bytes(context, 8);
  const Datatype element = Datatype::of<double>();
  const int after = (context.rank() + 1) % context.size();
  const int before = (context.rank() + context.size() - 1) % context.size();
  return message_on_all_ranks(kind, [&] {
    const TypedTransfer transfer(Space(), context, {transfer_end(after, bytes.view(), element)},
                                 {transfer_end(before, bytes.view(), element)}, options);
  });
}

TEST(TypedTransfer, SaysWhyAnInitiationIsRefused) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1 || !this_job().is_on_one_host()) GTEST_SKIP() << "needs two ranks of a host";
  const auto refusal = [&](Transport transport, Initiation initiation) {
    return refusal_around_a_ring(context, ErrorKind::unsupported,
                                 {.transport = transport, .initiation = initiation});
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(refusal(Transport::ring, Initiation::queue),
         "not possible over ring: the caller moves the units of a ring");
  expect(refusal(Transport::peer, Initiation::kernel),
         "not possible over peer: kernels start no typed transfer");
  expect(refusal(Transport::mpi_staged, Initiation::kernel),
         "not possible over mpi_staged: kernels start no typed transfer");
}

TEST(TypedTransfer, NamesPartnersWhoseOptionsDiffer) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "needs two ranks";
  TypedTransfer::Options options;
  if (context.rank() == 0) options.initiation = Initiation::queue;
  const std::string message = refusal_around_a_ring(context, ErrorKind::usage, options);
  EXPECT_NE(message.find("option initiation of a TypedTransfer is "), std::string::npos) << message;
  EXPECT_NE(message.find("queue on rank 0"), std::string::npos) << message;
  options = {};
  if (context.rank() == 0) options.transport = Transport::mpi_staged;
  EXPECT_NE(refusal_around_a_ring(context, ErrorKind::usage, options).find("mpi_staged on rank 0"),
            std::string::npos);
}

TEST(TypedTransfer, NamesTheRankThatIsLateInARing) {
  const ShortTimeout limit;
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1 || !this_job().is_on_one_host()) GTEST_SKIP() << "needs two ranks of a host";
  const Bytes bytes(context, 2000);
  const Datatype type = Datatype::contiguous(2000, Datatype::element(1));
  const bool sends = context.rank() == 0;
  const int last = context.size() - 1;
  std::vector<TypedTransfer::End> ends;
  if (sends) ends.push_back(transfer_end(last, bytes.view(), type));
  if (context.rank() == last) ends.push_back(transfer_end(0, bytes.view(), type));
  const std::vector<TypedTransfer::End> none;
  TypedTransfer transfer(Space(), context, sends ? ends : none, sends ? none : ends,
                         {.transport = Transport::ring, .ring_unit_bytes = 100});
  if (sends) {
    // The ring holds eight units; the receiver never comes.
    const auto error = thrown_by([&] { transfer.run(Space()); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->message(), "a typed transfer waited " + short_timeout_ms + " ms for rank " +
                                    std::to_string(last) +
                                    " (ring, room of epoch 1 wanted, 8 of 20 units seen)");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(TypedTransfer, NamesTheRankThatIsLate) {
  const ShortTimeout limit;
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "needs two ranks";
  const Bytes bytes(context, 64);
  const int last = context.size() - 1;
  std::vector<TypedTransfer::End> sends;
  std::vector<TypedTransfer::End> receives;
  const Datatype doubles = Datatype::contiguous(8, Datatype::of<double>());
  if (context.rank() == last) sends.push_back(transfer_end(0, bytes.view(), doubles));
  if (context.rank() == 0) receives.push_back(transfer_end(last, bytes.view(), doubles));
  TypedTransfer transfer(Space(), context, sends, receives);
  if (context.rank() == 0) {
    const auto error = thrown_by([&] {
      transfer.run(Space());
      Space().fence();
      transfer.check();
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::timeout) << error->what();
    EXPECT_NE(error->message().find("rank " + std::to_string(last)), std::string::npos) << error->what();
    EXPECT_NE(error->message().find("epoch 1 wanted, 0 seen"), std::string::npos) << error->what();
    const auto again = thrown_by([&] { transfer.start(Space()); });
    EXPECT_EQ(again ? again->message() : "none",
              "a TypedTransfer can't go on after an error: " + error->message());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
