#include "list_fixture.hpp"
#include "particles/conservation.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/migration.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace selvage::test {
namespace {

using Numbers = Particles<Kokkos::View<std::int64_t*, Space::memory_space>>;
using Positions = Particles<Kokkos::View<double**, Kokkos::LayoutLeft, Space::memory_space>>;
using Spins = Particles<Kokkos::View<float**, Kokkos::LayoutRight, Space::memory_space>>;

double position_of(std::int64_t number, int component) {
  return static_cast<double>(number) * 8 + component + 0.5;
}
float spin_of(std::int64_t number, int component) {
  return static_cast<float>(number % 1000) + static_cast<float>(component) / 4;
}

/// Where particle `number` goes in a round; every rank knows it for all.
class Owners {
 public:
  Owners(int size, int reach) : size_(size), reach_(reach) {}
  [[nodiscard]] int after(int rank, std::int64_t number, int round) const {
    std::minstd_rand dice(static_cast<unsigned>(number * 977 + round * 31 + 1));
    dice.discard(3);
    // Some rounds move nothing, some everything to one rank as far as it reaches, some a few.
    if (round % 5 == 1) return rank;
    if (round % 5 == 3) return wrapped(rank + 1);
    if (dice() % 3 != 0) return rank;
    return wrapped(rank + static_cast<int>(dice() % (2 * reach_ + 1)) - reach_);
  }

 private:
  [[nodiscard]] int wrapped(int rank) const { return (rank % size_ + size_) % size_; }
  int size_;
  int reach_;
};

/// All particles of all ranks, moved by one process.
class Everything {
 public:
  Everything(int size, int per_rank) : held_(size) {
    std::int64_t number = 0;
    for (int rank = 0; rank < size; ++rank) {
      // One rank begins without any.
      for (int i = 0; i < (rank == 1 ? 0 : per_rank + rank); ++i) held_[rank].push_back(number++);
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& of(int rank) const { return held_[rank]; }
  void move(const Owners& owners, int round) {
    const auto before = held_;
    for (auto& held : held_) held.clear();
    const int size = static_cast<int>(held_.size());
    for (int to = 0; to < size; ++to) {
      append(before, to, to, owners, round);
      for (int from = 0; from < size; ++from) {
        if (from != to) append(before, from, to, owners, round);
      }
    }
  }

 private:
  void append(const std::vector<std::vector<std::int64_t>>& before, int from, int to, const Owners& owners,
              int round) {
    for (const std::int64_t number : before[from]) {
      if (owners.after(from, number, round) == to) held_[to].push_back(number);
    }
  }
  std::vector<std::vector<std::int64_t>> held_;
};

class Migrations : public ListForms {};
class MigrationsOfSeveralRanks : public ListForms {};

TEST_P(Migrations, MoveAllFieldsInOneOrder) {
  for (const int per_rank : {7, 400}) {
    const Owners owners(size(), reach);
    Everything everything(size(), per_rank);
    Migration migration(Space(), context_, options());
    Numbers number("number", per_rank * size() + 10 * size());
    Positions x("x", per_rank * size() + 10 * size(), 3);
    Spins spin("spin", per_rank * size() + 10 * size(), 2);
    std::int64_t count = static_cast<std::int64_t>(everything.of(rank()).size());
    for (int i = 0; i < count; ++i) {
      const std::int64_t n = everything.of(rank())[i];
      number.at(i, 0) = n;
      for (int c = 0; c < 3; ++c) x.at(i, c) = position_of(n, c);
      for (int c = 0; c < 2; ++c) spin.at(i, c) = spin_of(n, c);
    }
    number.to_device();
    x.to_device();
    spin.to_device();
    for (int round = 0; round < 25; ++round) {
      std::vector<int> new_owners;
      for (const std::int64_t n : everything.of(rank())) new_owners.push_back(owners.after(rank(), n, round));
      everything.move(owners, round);
      count = migration.plan(Space(), on_device(new_owners));
      EXPECT_EQ(migration.before(), static_cast<std::int64_t>(new_owners.size()));
      EXPECT_EQ(migration.after(), count);
      ASSERT_EQ(on_all_ranks(count == static_cast<std::int64_t>(everything.of(rank()).size()) ? 0 : 1), 0);
      migration.move(Space(), x.view, number.view);
      migration.move(Space(), spin.view);
      Space().fence();
      x.to_host();
      number.to_host();
      spin.to_host();
      int wrong = 0;
      for (int i = 0; i < count; ++i) {
        const std::int64_t n = everything.of(rank())[i];
        wrong += number.at(i, 0) == n ? 0 : 1;
        for (int c = 0; c < 3; ++c) wrong += x.at(i, c) == position_of(n, c) ? 0 : 1;
        for (int c = 0; c < 2; ++c) wrong += spin.at(i, c) == spin_of(n, c) ? 0 : 1;
      }
      ASSERT_EQ(on_all_ranks(wrong), 0) << "round " << round << "\n" << migration.explain();
    }
  }
}

TEST_P(MigrationsOfSeveralRanks, SayWhichViewIsTooSmallAndHowMuchItNeeds) {
  Migration migration(Space(), context_, options());
  // All of the last rank's go to the first, which is its neighbour.
  const bool last = rank() == size() - 1;
  const std::int64_t count = migration.plan(Space(), on_device(std::vector<int>(4, last ? 0 : rank())));
  EXPECT_EQ(count, rank() == 0 ? 8 : last ? 0 : 4);
  const Positions x("x", 7, 3);
  const auto error = thrown_by([&] { migration.move(Space(), x.view); });
  // Over MPI only those learn of it that receive from the rank.
  EXPECT_TRUE(error.has_value() || rank() != 0);
  if (error.has_value()) {
    EXPECT_TRUE(rank() == 0 || last);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message(),
              "View 0 (\"x\") has room for 7 particles on rank 0; 4 before and 8 after it need 8");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(EveryPath, Migrations, running_list_forms(), name_of_form);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MigrationsOfSeveralRanks);
INSTANTIATE_TEST_SUITE_P(EveryPath, MigrationsOfSeveralRanks, running_list_forms(this_job().ranks() > 1),
                         name_of_form);

TEST(MigrationForms, AreRefusedWhereTheyDontRun) {
  expect_other_forms_refused();
}

TEST(MigrationErrors, NameTheParticleWhoseOwnerDoesntExist) {
  const Context context(MPI_COMM_WORLD);
  Migration migration(Space(), context);
  const bool last = context.rank() == context.size() - 1;
  const int nobody = context.size() + 3;
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] {
    static_cast<void>(
        migration.plan(Space(), on_device(std::vector<int>{context.rank(), last ? nobody : context.rank()})));
  });
  EXPECT_EQ(message, "the new owner of particle 1 of rank " + std::to_string(context.size() - 1) +
                         " is rank " + std::to_string(nobody) + ", of " + std::to_string(context.size()));
}

TEST(MigrationErrors, FindParticlesThatWereLost) {
  const Context context(MPI_COMM_WORLD);
  EXPECT_NO_THROW(
      detail::require_conserved(*context.state(), context.rank(), context.size() - 1 - context.rank()));
  const bool loses_one = context.rank() == context.size() - 1;
  const std::string message = message_on_all_ranks(
      ErrorKind::verification, [&] { detail::require_conserved(*context.state(), 10, loses_one ? 9 : 10); });
  EXPECT_EQ(message, "a Migration turns " + std::to_string(10 * context.size()) + " particles into " +
                         std::to_string(10 * context.size() - 1));
}

}  // namespace
}  // namespace selvage::test
