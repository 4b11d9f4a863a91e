#include "transfer_forms.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

class TypedTransfers : public TransferForms {
 protected:
  /// What MPI makes of the sender's bytes in the receiver's.
  static std::vector<unsigned char> expected(const Matching& types, const Bytes& from, const Bytes& to) {
    move_by_mpi(types, from.image(), to.image());
    return {to.image(), to.image() + to.size()};
  }
};

class TypedTransfersOfSeveralRanks : public TypedTransfers {};

int count_different(const std::vector<unsigned char>& seen, const std::vector<unsigned char>& expected) {
  int different = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) different += seen[i] == expected[i] ? 0 : 1;
  return different;
}

TEST_P(TypedTransfers, MoveRandomLayoutsAroundARingAsMpiDoes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Matching types = make_matching(seed);
    const Bytes from(context_, types.from.ours.true_upper_bound(), GetParam().is_shared);
    const Bytes to(context_, types.to.ours.true_upper_bound(), GetParam().is_shared);
    TypedTransfer transfer(Space(), context_, {transfer_end(after(), from.view(), types.from.ours)},
                           {transfer_end(before(), to.view(), types.to.ours)}, options());
    for (int round = 0; round < 3; ++round) {
      from.fill(round, rank());
      to.poison();
      transfer.run(Space());
      Space().fence();
      transfer.check();
      const std::vector<unsigned char> seen = to.read();
      from.fill(round, before());
      to.poison();
      ASSERT_EQ(on_all_ranks(count_different(seen, expected(types, from, to))), 0)
          << "seed " << seed << ", round " << round << ": " << types.from.text << "\nto " << types.to.text
          << "\n"
          << transfer.explain();
    }
  }
}

/// Bytes that don't divide evenly into words, from any address to any other.
TEST_P(TypedTransfers, MoveUnalignedBlocksOfEverySize) {
  for (const std::int64_t length : {1, 2, 3, 7, 15, 16, 17, 31, 48, 100, 511, 512, 513, 2047, 2049, 5000}) {
    for (const std::int64_t offset : {0, 1, 2, 4, 8}) {
      const std::array<std::int64_t, 3> lengths{length, 1, length};
      const std::array<std::int64_t, 3> here{offset, length + 20, length + 41};
      const std::array<std::int64_t, 3> there{length + 35, 3 * length + 50, 3};
      const Datatype from_type = Datatype::hindexed(lengths, here, Datatype::element(1));
      const Datatype to_type = Datatype::hindexed(lengths, there, Datatype::element(1));
      const Bytes from(context_, from_type.true_upper_bound(), GetParam().is_shared);
      const Bytes to(context_, to_type.true_upper_bound(), GetParam().is_shared);
      TypedTransfer transfer(Space(), context_, {transfer_end(after(), from.view(), from_type)},
                             {transfer_end(before(), to.view(), to_type)}, options());
      from.fill(1, rank());
      to.poison();
      transfer.run(Space());
      Space().fence();
      const std::vector<unsigned char> seen = to.read();
      from.fill(1, before());
      std::vector<unsigned char> wanted(seen.size(), 0xee);
      for (int block = 0; block < 3; ++block)
        std::copy_n(from.image() + here[block], lengths[block], wanted.begin() + there[block]);
      ASSERT_EQ(on_all_ranks(count_different(seen, wanted)), 0) << length << " bytes from " << offset;
    }
  }
}

/// All ranks to all, themselves included, in three parts each way: odd numbers of elements, and none.
TEST_P(TypedTransfers, ServeAllPartnersAtOnce) {
  const int size = context_.size();
  constexpr std::int64_t rows = 40;
  using Pair = std::array<std::int64_t, 2>;
  const Datatype doubles = Datatype::of<double>();
  const Bytes from(context_, rows * size * 8, GetParam().is_shared);
  const Bytes to(context_, rows * size * 8, GetParam().is_shared);
  std::vector<TypedTransfer::End> sends;
  std::vector<TypedTransfer::End> receives;
  for (int other = 0; other < size; ++other) {
    for (const Pair part : {Pair{0, 13}, Pair{13, 0}, Pair{13, rows - 13}}) {
      const auto [first, count] = part;
      sends.push_back(
          transfer_end(other, from.view(),
                       Datatype::subarray(Pair{rows, size}, Pair{count, 1}, Pair{first, other}, doubles)));
      receives.push_back(
          transfer_end(other, to.view(),
                       Datatype::subarray(Pair{size, rows}, Pair{1, count}, Pair{other, first}, doubles)));
    }
  }
  TypedTransfer transfer(Space(), context_, sends, receives, options());
  for (int round = 0; round < 5; ++round) {
    from.fill(round, rank());
    to.poison();
    transfer.start(Space());
    transfer.finish(Space());
    Space().fence();
    const std::vector<unsigned char> seen = to.read();
    int wrong = 0;
    for (int other = 0; other < size; ++other) {
      from.fill(round, other);
      for (std::int64_t i = 0; i < rows * 8; ++i) {
        const unsigned char sent = from.image()[(i / 8 * size + rank()) * 8 + i % 8];
        wrong += seen[other * rows * 8 + i] == sent ? 0 : 1;
      }
    }
    ASSERT_EQ(on_all_ranks(wrong), 0) << "round " << round << "\n" << transfer.explain();
  }
}

/// Nothing but the transfer itself orders the ranks: a receiver that is late must still find its elements of
/// this round, and a sender that is late must not be waited past.
TEST_P(TypedTransfers, KeepElementsThatAreStillRead) {
  if (!on_host) GTEST_SKIP() << "reads on the host between rounds";
  constexpr int rounds = 3000;
  constexpr std::int64_t count = 16;
  const Datatype type = Datatype::vector(count, 1, 3, Datatype::of<int>());
  const Bytes from(context_, type.true_upper_bound(), GetParam().is_shared);
  const Bytes to(context_, type.true_upper_bound(), GetParam().is_shared);
  auto* sent = reinterpret_cast<int*>(from.view().data());
  const auto* received = reinterpret_cast<const int*>(to.view().data());
  TypedTransfer transfer(Space(), context_, {transfer_end(after(), from.view(), type)},
                         {transfer_end(before(), to.view(), type)}, options());
  std::minstd_rand dice(rank() + 1);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::int64_t i = 0; i < count; ++i) sent[3 * i] = round * 1000 + before() + static_cast<int>(i);
    transfer.start(Space());
    if (dice() % 32 == 0) sched_yield();
    transfer.finish(Space());
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == count / 2 && dice() % 32 == 0) sched_yield();
      const int seen = *const_cast<const volatile int*>(received + 3 * i);
      const int sender_before = (before() + context_.size() - 1) % context_.size();
      wrong += seen == round * 1000 + sender_before + static_cast<int>(i) ? 0 : 1;
    }
  }
  EXPECT_EQ(on_all_ranks(wrong), 0);
}

std::uint64_t lookups(const Context::LayoutCacheCounters& counters) {
  return counters.hits + counters.host_hits + counters.misses;
}

/// What was flattened once isn't again, on any rank of the host.
TEST_P(TypedTransfers, FlattenALayoutOncePerHost) {
  const Datatype type = Datatype::vector(77, 2, 5, Datatype::of<float>());
  const Bytes from(context_, type.true_upper_bound(), GetParam().is_shared);
  const Bytes to(context_, type.true_upper_bound(), GetParam().is_shared);
  constexpr int plans = 4;
  // On GPUs the context may have planned before: to see whether a form is refused.
  const Context::LayoutCacheCounters before_all = context_.layout_cache_counters();
  for (int plan = 0; plan < plans; ++plan) {
    const TypedTransfer transfer(Space(), context_, {transfer_end(after(), from.view(), type)},
                                 {transfer_end(before(), to.view(), type)}, options());
    // Ranks that plan at the same moment may each flatten it; from the second plan on, none does.
    MPI_Barrier(MPI_COMM_WORLD);
    const Context::LayoutCacheCounters counters = context_.layout_cache_counters();
    EXPECT_LE(counters.misses - before_all.misses, 1U);
    EXPECT_EQ(lookups(counters) - lookups(before_all), 2U * (plan + 1));
  }
}

TEST_P(TypedTransfersOfSeveralRanks, RefuseEndsThatDontMatch) {
  const Bytes bytes(context_, 80, GetParam().is_shared);
  const Datatype doubles = Datatype::of<double>();
  const auto plan = [&](const Datatype& sent, const Datatype& received, int parts) {
    return message_on_all_ranks(ErrorKind::usage, [&] {
      const std::vector<TypedTransfer::End> sends(parts, transfer_end(after(), bytes.view(), sent));
      const TypedTransfer transfer(Space(), context_, sends, {transfer_end(before(), bytes.view(), received)},
                                   options());
    });
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(plan(doubles, Datatype::contiguous(2, doubles), 1), "rank 0 "));
  EXPECT_TRUE(
      contains(plan(doubles, Datatype::contiguous(2, Datatype::of<float>()), 1), "of 8 bytes together"));
  EXPECT_TRUE(contains(plan(doubles, doubles, 2), "sends 2 parts"));
  EXPECT_TRUE(contains(plan(Datatype::contiguous(11, doubles), Datatype::contiguous(11, doubles), 1),
                       "reaches from byte 0 to 88"));
}

/// Longer than any ring, cut by no element's size, to two ranks at once.
TEST_P(TypedTransfers, MoveLongMessagesRoundByRound) {
  constexpr std::int64_t count = 80'021;
  const std::array<std::int64_t, 2> lengths{5, 2};
  const std::array<std::int64_t, 2> places{0, 9};
  const Datatype some = Datatype::hindexed(lengths, places, Datatype::element(1));
  const Datatype type = Datatype::contiguous(count, some);
  const Bytes from(context_, type.true_upper_bound(), GetParam().is_shared);
  const Bytes to_left(context_, type.true_upper_bound(), GetParam().is_shared);
  const Bytes to_right(context_, type.size(), GetParam().is_shared);
  const Datatype packed = Datatype::contiguous(type.size(), Datatype::element(1));
  const std::vector<TypedTransfer::End> sends{transfer_end(after(), from.view(), type),
                                              transfer_end(before(), from.view(), type)};
  const std::vector<TypedTransfer::End> receives{transfer_end(before(), to_left.view(), type),
                                                 transfer_end(after(), to_right.view(), packed)};
  TypedTransfer transfer(Space(), context_, sends, receives, options());
  std::minstd_rand dice(rank() + 1);
  for (int round = 0; round < 4; ++round) {
    from.fill(round, rank());
    to_left.poison();
    to_right.poison();
    if (dice() % 2 == 0) sched_yield();
    transfer.run(Space());
    Space().fence();
    const std::vector<unsigned char> left = to_left.read();
    const std::vector<unsigned char> right = to_right.read();
    int wrong = 0;
    from.fill(round, before());
    for (std::int64_t i = 0, place = 0; i < count; ++i, place += 11) {
      for (const std::int64_t at : {0, 1, 2, 3, 4, 9, 10}) {
        wrong += left[place + at] == from.image()[place + at] ? 0 : 1;
      }
      for (const std::int64_t at : {5, 8}) wrong += left[place + at] == 0xee ? 0 : 1;
    }
    from.fill(round, after());
    for (std::int64_t i = 0, place = 0, at = 0; i < count; ++i, place += 11) {
      for (const std::int64_t byte : {0, 1, 2, 3, 4, 9, 10}) {
        wrong += right[at++] == from.image()[place + byte] ? 0 : 1;
      }
    }
    ASSERT_EQ(on_all_ranks(wrong), 0) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPath, TypedTransfers,
                         testing::ValuesIn(cases_where(every_transfer_form, can_run)), name_of);

std::vector<TransferForm> forms_of_several_ranks() {
  return this_job().ranks() > 1 ? cases_where(every_transfer_form, can_run) : std::vector<TransferForm>();
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TypedTransfersOfSeveralRanks);
INSTANTIATE_TEST_SUITE_P(EveryPath, TypedTransfersOfSeveralRanks, testing::ValuesIn(forms_of_several_ranks()),
                         name_of);

TEST(TypedTransferForms, AreRefusedWhereTheyDontRun) {
  expect_other_transfers_refused();
}

}  // namespace
}  // namespace selvage::test
