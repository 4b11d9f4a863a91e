#include "list_fixture.hpp"

#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
template <class T, class Layout>
using Vectors = Particles<Kokkos::View<T**, Layout, Space::memory_space>>;
template <class T>
using Scalars = Particles<Kokkos::View<T*, Space::memory_space>>;

/// Three bytes: no other element is aligned behind it by itself.
struct Colour {
  unsigned char red, green, blue;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// Differs by rank, particle, component and round; exact in a float.
std::int64_t number_of(int rank, int id, int component, int round) {
  return ((rank * 131 + id) * 7 + component * 3 + round * 1009) % 100'003;
}
template <class T>
T value_of(int rank, int id, int component, int round) {
  return static_cast<T>(number_of(rank, id, component, round));
}
template <>
Colour value_of<Colour>(int rank, int id, int component, int round) {
  const std::int64_t number = number_of(rank, id, component, round);
  return {static_cast<unsigned char>(number % 251), static_cast<unsigned char>(number % 241),
          static_cast<unsigned char>(number % 239)};
}
template <class T>
T poison() {
  return static_cast<T>(-77);
}
template <>
Colour poison<Colour>() {
  return {255, 255, 255};
}

template <class Field>
using ElementOf = std::decay_t<decltype(std::declval<Field>().at(0, 0))>;

template <class Field>
void fill(const Field& field, int rank, int owned, int round) {
  using T = ElementOf<Field>;
  for (int i = 0; i < static_cast<int>(field.image.extent(0)); ++i) {
    for (int c = 0; c < field.components(); ++c)
      field.at(i, c) = i < owned ? value_of<T>(rank, i, c, round) : poison<T>();
  }
  field.to_device();
}
/// Ghosts hold what their owners hold, owned particles and what lies behind the ghosts are as they were.
template <class Field>
int count_wrong(const Field& field, const RandomLists& lists, int rank, int round) {
  using T = ElementOf<Field>;
  field.to_host();
  const int owned = lists.of(rank).owned;
  const std::vector<GhostOf> ghosts = lists.ghosts_of(rank);
  int wrong = 0;
  for (int i = 0; i < static_cast<int>(field.image.extent(0)); ++i) {
    const int ghost = i - owned;
    for (int c = 0; c < field.components(); ++c) {
      T expected = poison<T>();
      if (ghost < 0)
        expected = value_of<T>(rank, i, c, round);
      else if (ghost < static_cast<int>(ghosts.size()))
        expected = value_of<T>(ghosts[ghost].rank, ghosts[ghost].id, c, round);
      wrong += field.at(i, c) == expected ? 0 : 1;
    }
  }
  return wrong;
}

class ListHalos : public ListForms {
 protected:
  [[nodiscard]] ListHalo make(const RandomLists& lists) const {
    const SendList list = lists.of(rank());
    return {Space(), context_, list.owned, on_device(list.ids), on_device(list.ranks), options()};
  }
  void rebuild(ListHalo& halo, const RandomLists& lists) const {
    const SendList list = lists.of(rank());
    halo.rebuild(Space(), list.owned, on_device(list.ids), on_device(list.ranks));
  }
  [[nodiscard]] int room(const ListHalo& halo) const {
    return static_cast<int>(halo.owned() + halo.ghosts()) + 3;
  }
};

/// Whose neighbours are named make the same calls.
TEST_P(ListHalos, GoOnTogetherAfterARebuildWhereverRanksHadBeen) {
  if (GetParam().names_neighbours) return;
  const int own = 10;
  const std::vector<int> none;
  const std::vector<int> two{1, 2};
  const auto ids = on_device(two);
  const auto after = on_device(std::vector<int>(2, (rank() + 1) % size()));
  ListHalo halo(Space(), context_, own, on_device(none), on_device(none), options());
  for (int round = 0; round < 6; ++round) {
    // Rank 0 has ghosts of itself, and makes calls that the others don't.
    const auto alone = on_device(rank() == 0 ? two : none);
    halo.rebuild(Space(), own, alone, on_device(std::vector<int>(alone.extent(0), rank())));
    const Scalars<double> of_itself("of itself", room(halo));
    for (int call = 0; rank() == 0 && call < round % 4; ++call) halo.gather(Space(), of_itself.view);
    halo.rebuild(Space(), own, ids, after);
    const Scalars<double> x("x", own + 2);
    for (int call = 0; call < 3; ++call) {
      fill(x, rank(), own, call);
      halo.gather(Space(), x.view);
      x.to_host();
      const int before = (rank() + size() - 1) % size();
      EXPECT_EQ(x.image(own), value_of<double>(before, 1, 0, call)) << round;
      EXPECT_EQ(x.image(own + 1), value_of<double>(before, 2, 0, call)) << round;
    }
    halo.check();
  }
}

TEST_P(ListHalos, GatherFieldsWithoutComponents) {
  const RandomLists now = lists(5);
  ListHalo halo = make(now);
  const Vectors<double, Right> nothing("nothing", room(halo), 0);
  const Scalars<double> x("x", room(halo));
  fill(x, rank(), now.of(rank()).owned, 1);
  halo.gather(Space(), nothing.view);
  halo.gather(Space(), x.view, nothing.view);
  EXPECT_EQ(on_all_ranks(count_wrong(x, now, rank(), 1)), 0);
}

TEST_P(ListHalos, GatherEveryKindOfFieldThroughRebuilds) {
  ListHalo halo = make(lists(0));
  // Lists grow and shrink, and so do messages: more or fewer fields.
  for (unsigned seed = 0; seed < 30; ++seed) {
    const RandomLists now = lists(seed, seed % 7 == 6 ? 700 : 40);
    rebuild(halo, now);
    ASSERT_EQ(on_all_ranks(halo.ghosts() == static_cast<std::int64_t>(now.ghosts_of(rank()).size()) ? 0 : 1),
              0);
    const Vectors<double, Right> x("x", room(halo), 3);
    const Vectors<double, Left> v("v", room(halo), 3);
    const Scalars<int> type("type", room(halo));
    const Scalars<Colour> colour("colour", room(halo));
    const Vectors<float, Left> charge("charge", room(halo), 1);
    const Scalars<Kokkos::complex<double>> wave("wave", room(halo));
    for (int round = 0; round < 3; ++round) {
      const auto each = [&](const auto& function) {
        return function(x) + function(v) + function(type) + function(colour) + function(charge) +
               function(wave);
      };
      each([&](const auto& field) {
        fill(field, rank(), static_cast<int>(halo.owned()), round);
        return 0;
      });
      if (round % 2 == 0) {
        halo.gather(Space(), x.view, v.view, type.view, colour.view, charge.view, wave.view);
      } else {
        halo.gather(Space(), colour.view, x.view);
        halo.gather(Space(), wave.view, charge.view, type.view);
        halo.gather(Space(), v.view);
      }
      Space().fence();
      const int wrong = each([&](const auto& field) { return count_wrong(field, now, rank(), round); });
      ASSERT_EQ(on_all_ranks(wrong), 0) << "seed " << seed << ", round " << round << "\n" << halo.explain();
    }
  }
}

TEST_P(ListHalos, ShiftImagesByTheVectorOfTheirEntry) {
  for (unsigned seed = 1; seed < 5; ++seed) {
    const RandomLists now = lists(seed);
    ListHalo halo = make(now);
    const SendList list = now.of(rank());
    const int entries = static_cast<int>(list.ids.size());
    const Vectors<double, Left> x("x", room(halo), 3);
    const Vectors<double, Right> per_entry("shift", entries, 3);
    const Vectors<double, Right> box("box", 5, 3);
    const Scalars<int> which("image", entries);
    const auto shift_of = [](int from, int place, int c) { return from * 10'000.0 + place * 4 + c + 0.5; };
    const auto row_of = [](int from, int place) { return (from + place) % 5; };
    for (int place = 0; place < entries; ++place) {
      which.at(place, 0) = row_of(rank(), place);
      for (int c = 0; c < 3; ++c) per_entry.at(place, c) = shift_of(rank(), place, c);
    }
    for (int row = 0; row < 5; ++row) {
      for (int c = 0; c < 3; ++c) box.at(row, c) = row * 100.0 + c + 0.25;
    }
    per_entry.to_device();
    box.to_device();
    which.to_device();
    const auto expect = [&](const char* what, const auto& shift) {
      x.to_host();
      int wrong = 0;
      const std::vector<GhostOf> ghosts = now.ghosts_of(rank());
      for (int ghost = 0; ghost < static_cast<int>(ghosts.size()); ++ghost) {
        const GhostOf& of = ghosts[ghost];
        for (int c = 0; c < 3; ++c) {
          const double expected = value_of<double>(of.rank, of.id, c, 1) + shift(of, c);
          wrong += x.at(list.owned + ghost, c) == expected ? 0 : 1;
        }
      }
      ASSERT_EQ(on_all_ranks(wrong), 0) << what << ", seed " << seed << "\n" << halo.explain();
    };
    fill(x, rank(), list.owned, 1);
    halo.gather(Space(), shifted(x.view, per_entry.view));
    Space().fence();
    expect("a vector per entry", [&](const GhostOf& of, int c) { return shift_of(of.rank, of.place, c); });
    halo.gather(Space(), shifted(x.view, box.view, which.view));
    Space().fence();
    expect("a row per entry",
           [&](const GhostOf& of, int c) { return row_of(of.rank, of.place) * 100.0 + c + 0.25; });
  }
}

/// Sums of numbers of very different sizes: another order gives other bits.
TEST_P(ListHalos, ScatterAddsInTheOrderOfRanksAndLists) {
  const auto part = [](int rank, int ghost, int c) {
    return std::ldexp(1.0 + (rank * 37 + ghost * 11 + c) % 101 / 101.0, (ghost * 13 + rank * 7) % 40 - 20);
  };
  for (unsigned seed = 1; seed < 12; ++seed) {
    const RandomLists now = lists(seed, seed % 3 == 0 ? 300 : 12);
    ListHalo halo = make(now);
    const SendList list = now.of(rank());
    const Vectors<double, Left> force("force", room(halo), 3);
    const Scalars<double> energy("energy", room(halo));
    for (int i = 0; i < room(halo); ++i) {
      const int ghost = i - list.owned;
      energy.at(i, 0) = ghost < 0 ? i + 0.1 : part(rank(), ghost, 5);
      for (int c = 0; c < 3; ++c) force.at(i, c) = ghost < 0 ? i + c / 3.0 : part(rank(), ghost, c);
    }
    force.to_device();
    energy.to_device();
    // Which ghost of which rank an entry of this rank's list has become.
    std::vector<std::vector<double>> sums(list.owned, std::vector<double>(4));
    for (int i = 0; i < list.owned; ++i) sums[i] = {i + 0 / 3.0, i + 1 / 3.0, i + 2 / 3.0, i + 0.1};
    for (int holder = 0; holder < size(); ++holder) {
      const std::vector<GhostOf> ghosts = now.ghosts_of(holder);
      for (int ghost = 0; ghost < static_cast<int>(ghosts.size()); ++ghost) {
        if (ghosts[ghost].rank != rank()) continue;
        for (int c = 0; c < 3; ++c) sums[ghosts[ghost].id][c] += part(holder, ghost, c);
        sums[ghosts[ghost].id][3] += part(holder, ghost, 5);
      }
    }
    halo.scatter_add(Space(), force.view, energy.view);
    Space().fence();
    force.to_host();
    energy.to_host();
    int wrong = 0;
    for (int i = 0; i < room(halo); ++i) {
      const int ghost = i - list.owned;
      for (int c = 0; c < 3; ++c)
        wrong += force.at(i, c) == (ghost < 0 ? sums[i][c] : part(rank(), ghost, c)) ? 0 : 1;
      wrong += energy.at(i, 0) == (ghost < 0 ? sums[i][3] : part(rank(), ghost, 5)) ? 0 : 1;
    }
    ASSERT_EQ(on_all_ranks(wrong), 0) << "seed " << seed << "\n" << halo.explain();
  }
}

/// Also when landing blocks must grow first, which the first gather after a rebuild may find.
TEST_P(ListHalos, LeaveOwnedParticlesReadableBetweenStartAndFinish) {
  ListHalo halo = make(lists(3));
  for (int round = 0; round < 20; ++round) {
    const RandomLists now = lists(round, 10 + 20 * round);
    rebuild(halo, now);
    const Vectors<double, Right> x("x", room(halo), 3);
    fill(x, rank(), static_cast<int>(halo.owned()), round);
    auto pending = halo.start_gather(Space(), x.view);
    x.to_host();
    int wrong = 0;
    for (int i = 0; i < static_cast<int>(halo.owned()); ++i)
      wrong += x.at(i, 1) == value_of<double>(rank(), i, 1, round) ? 0 : 1;
    halo.finish(Space(), std::move(pending));
    Space().fence();
    ASSERT_EQ(on_all_ranks(wrong + count_wrong(x, now, rank(), round)), 0) << "round " << round;
  }
}

TEST(ListHaloForms, AreRefusedWhereTheyDontRun) {
  expect_other_forms_refused();
}

INSTANTIATE_TEST_SUITE_P(EveryPath, ListHalos, running_list_forms(), name_of_form);

}  // namespace
}  // namespace selvage::test
