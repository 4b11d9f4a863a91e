#include "delays.hpp"
#include "list_fixture.hpp"
#include "rounds.hpp"

#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

double value_of(int rank, int id, int step) {
  return step * 1000.0 + rank * 100.0 + id;
}

class ListStress : public ListForms {
 protected:
  /// As molecular dynamics does: positions out and forces back in every step, new lists every 20 steps, in which others
  /// own and need other particles.
  int run(int steps) {
    Delays delays(rank(), 2048);
    RandomLists now = lists(0, 20);
    SendList list = now.of(rank());
    ListHalo halo(Space(), context_, list.owned, on_device(list.ids), on_device(list.ranks), options());
    using View = Kokkos::View<double*, Space::memory_space>;
    Particles<View> x("x", 0);
    Particles<View> force("force", 0);
    std::vector<GhostOf> ghosts;
    int wrong = 0;
    for (int step = 0; step < steps; ++step) {
      if (step % 20 == 0) {
        // The same lists come again, so that links rest for a while and are used again.
        now = lists(step / 20 % 11, step / 20 % 5 == 4 ? 200 : 20);
        list = now.of(rank());
        halo.rebuild(Space(), list.owned, on_device(list.ids), on_device(list.ranks));
        ghosts = now.ghosts_of(rank());
        x = Particles<View>("x", list.owned + static_cast<int>(ghosts.size()));
        force = Particles<View>("force", list.owned + static_cast<int>(ghosts.size()));
      }
      for (int i = 0; i < list.owned; ++i) x.image(i) = value_of(rank(), i, step);
      x.to_device();
      delays.maybe();
      auto gathering = halo.start_gather(Space(), x.view);
      delays.maybe();
      halo.finish(Space(), std::move(gathering));
      delays.maybe();
      x.to_host();
      for (std::size_t i = 0; i < ghosts.size(); ++i) {
        double& ghost = x.image(list.owned + i);
        wrong += ghost == value_of(ghosts[i].rank, ghosts[i].id, step) ? 0 : 1;
        ghost = -1;
      }
      // Each ghost gives one more than the step back.
      for (int i = 0; i < static_cast<int>(force.image.extent(0)); ++i)
        force.image(i) = i < list.owned ? 0 : step + 1;
      force.to_device();
      halo.scatter_add(Space(), force.view);
      delays.maybe();
      Space().fence();
      force.to_host();
      std::vector<int> copies(list.owned);
      for (const int id : list.ids) ++copies[id];
      for (int i = 0; i < list.owned; ++i) wrong += force.image(i) == copies[i] * (step + 1.0) ? 0 : 1;
    }
    return wrong;
  }
};

TEST_P(ListStress, KeepsGhostsAndSumsExactThroughRebuilds) {
  EXPECT_EQ(on_all_ranks(run(stress_rounds())), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryPath, ListStress, running_list_forms(), name_of_form);

TEST(ListStressForms, AreRefusedWhereTheyDontRun) {
  expect_other_forms_refused();
}

int open_files() {
  int count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}
int mappings_of_memory_files() {
  int count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:") != std::string::npos ? 1 : 0;
  return count;
}

/// Shared blocks are files that peers map: as many after lists that fit as before.
TEST(ListMemory, StaysWhereListsFit) {
  if (!on_host) GTEST_SKIP() << "memory files are for hosts";
  const Context context(MPI_COMM_WORLD);
  const int after = (context.rank() + 1) % context.size();
  const auto rebuild = [&](ListHalo& halo, int entries) {
    halo.rebuild(Space(), 10, on_device(std::vector<int>(entries, 3)),
                 on_device(std::vector<int>(entries, after)));
    const Kokkos::View<double*, Space::memory_space> x("x", 10 + halo.ghosts());
    halo.gather(Space(), x);
    halo.scatter_add(Space(), x);
  };
  ListHalo halo(Space(), context, 10, on_device(std::vector<int>{}), on_device(std::vector<int>{}));
  rebuild(halo, 5000);
  const int files = open_files();
  const int mappings = mappings_of_memory_files();
  for (const int entries : {1, 4000, 0, 5000, 7}) rebuild(halo, entries);
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mappings_of_memory_files(), mappings);
  // And what is grown replaces what was too small.
  rebuild(halo, 20'000);
  EXPECT_EQ(open_files(), files);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
