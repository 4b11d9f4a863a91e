#pragma once

#include "job.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace selvage::test {

/// What one rank sends, in the order of its list.
struct SendList {
  int owned = 0;
  std::vector<int> ids;
  std::vector<int> ranks;
};

/// What a ghost is a ghost of: the particle, its owner, and its place in the owner's list.
struct GhostOf {
  int rank;
  int id;
  int place;
};

/// Lists that every rank can make for every other one.
class RandomLists {
 public:
  /// \param reach  ranks whose number differs by no more, around the ring, are sent to; at least this one
  RandomLists(int size, unsigned seed, int most_owned, int reach)
      : size_(size), seed_(seed), most_owned_(most_owned), reach_(reach) {}

  /// Now and then nothing is owned, or nothing is sent.
  [[nodiscard]] SendList of(int rank) const {
    std::minstd_rand dice(seed_ * 7919 + static_cast<unsigned>(rank) * 104729 + 1);
    dice.discard(10);
    SendList list;
    list.owned = dice() % 8 == 0 ? 0 : static_cast<int>(dice() % most_owned_) + 1;
    const int entries = dice() % 6 == 0 || list.owned == 0 ? 0 : static_cast<int>(dice() % (2 * most_owned_));
    const bool is_one_way = dice() % 4 == 0;
    for (int entry = 0; entry < entries; ++entry) {
      list.ids.push_back(static_cast<int>(dice() % list.owned));
      const int distance = static_cast<int>(dice() % (2 * reach_ + 1)) - reach_;
      list.ranks.push_back(wrapped(rank + (is_one_way && distance < 0 ? -distance : distance)));
    }
    return list;
  }
  [[nodiscard]] std::vector<GhostOf> ghosts_of(int rank) const {
    std::vector<GhostOf> ghosts;
    for (int from = 0; from < size_; ++from) {
      const SendList list = of(from);
      for (std::size_t place = 0; place < list.ids.size(); ++place) {
        if (list.ranks[place] == rank) ghosts.push_back({from, list.ids[place], static_cast<int>(place)});
      }
    }
    return ghosts;
  }
  [[nodiscard]] std::vector<int> neighbours_of(int rank) const {
    std::vector<int> neighbours;
    for (int distance = -reach_; distance <= reach_; ++distance)
      neighbours.push_back(wrapped(rank + distance));
    return neighbours;
  }

 private:
  [[nodiscard]] int wrapped(int rank) const { return (rank % size_ + size_) % size_; }

  int size_;
  unsigned seed_;
  int most_owned_;
  int reach_;
};

template <class T>
Kokkos::View<T*, Space::memory_space> on_device(const std::vector<T>& values) {
  const Kokkos::View<T*, Space::memory_space> view("list", values.size());
  const auto image = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) image(i) = values[i];
  Kokkos::deep_copy(view, image);
  return view;
}

/// A View of particles and its image on the host.
template <class View>
struct Particles {
  View view;
  typename View::HostMirror image;

  Particles(const std::string& name, int particles, int components = 1)
      : view(make(name, particles, components)), image(Kokkos::create_mirror_view(view)) {}

  [[nodiscard]] auto& at(int particle, int component) const {
    if constexpr (View::rank() == 1) {
      return image(particle);
    } else {
      return image(particle, component);
    }
  }
  [[nodiscard]] int components() const {
    if constexpr (View::rank() == 1) return 1;
    return static_cast<int>(image.extent(1));
  }
  void to_device() const { Kokkos::deep_copy(view, image); }
  void to_host() const { Kokkos::deep_copy(image, view); }

 private:
  static View make(const std::string& name, int particles, int components) {
    if constexpr (View::rank() == 1) {
      return View(name, particles);
    } else {
      return View(name, particles, components);
    }
  }
};

/// The path of a list: every transport, initiation, and way to know the neighbours.
struct ListForm {
  std::string name;
  std::optional<Transport> transport = {};
  std::optional<Initiation> initiation = {};
  bool names_neighbours = false;
};

inline constexpr int named_reach = 2;

/// Whether a form can reach all ranks of this job, by how its transport reaches them.
inline bool can_run(const ListForm& form) {
  if (this_job().ranks() == 1) return true;  // its own particles, by a copy
  if (form.transport == Transport::peer) return this_job().is_on_one_host();
  return on_host || form.transport != Transport::mpi_direct || form.initiation != Initiation::stream;
}
/// Only what depends on the MPI may be refused then: few take GPU memory.
inline bool must_run(const ListForm& form) {
  return can_run(form) && (on_host || form.transport != Transport::mpi_direct);
}

inline ListHalo::Options options_of(const ListForm& form, const Context& context) {
  ListHalo::Options options{.neighbours = {}, .transport = form.transport, .initiation = form.initiation};
  if (form.names_neighbours)
    options.neighbours = RandomLists(context.size(), 0, 1, named_reach).neighbours_of(context.rank());
  return options;
}

/// Collective: the error that the library refuses a form with.
inline std::optional<Error> refusal_of(const ListForm& form, const Context& context) {
  const int after = (context.rank() + 1) % context.size();
  return thrown_by([&] {
    const ListHalo halo(Space(), context, 10, on_device(std::vector<int>{1}),
                        on_device(std::vector<int>{after}), options_of(form, context));
  });
}

class ListForms : public testing::TestWithParam<ListForm> {
 protected:
  static constexpr int reach = named_reach;

  void SetUp() override {
    if (must_run(GetParam())) return;
    if (const auto refusal = refusal_of(GetParam(), context_)) {
      ASSERT_EQ(to_string(refusal->kind()), to_string(ErrorKind::unsupported)) << refusal->message();
      GTEST_SKIP() << refusal->message();
    }
  }
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int size() const { return context_.size(); }
  [[nodiscard]] RandomLists lists(unsigned seed, int most_owned = 50) const {
    return {size(), seed, most_owned, reach};
  }
  [[nodiscard]] ListHalo::Options options() const { return options_of(GetParam(), context_); }

  const Context context_{MPI_COMM_WORLD};
};

inline const std::vector<ListForm> every_list_form{
    ListForm{"chosen"},
    ListForm{"chosen_named", {}, {}, true},
    ListForm{"peer_stream", Transport::peer, Initiation::stream},
    ListForm{"peer_host_named", Transport::peer, Initiation::host, true},
    ListForm{"peer_named", Transport::peer, {}, true},
    ListForm{"peer_kernel", Transport::peer, Initiation::kernel},
    ListForm{"peer_kernel_named", Transport::peer, Initiation::kernel, true},
    ListForm{"queue", {}, Initiation::queue},
    ListForm{"mpi_staged_queue_named", Transport::mpi_staged, Initiation::queue, true},
    ListForm{"mpi_direct_queue", Transport::mpi_direct, Initiation::queue},
    ListForm{"mpi_direct_stream_named", Transport::mpi_direct, Initiation::stream, true},
    ListForm{"mpi_direct_host", Transport::mpi_direct, Initiation::host},
    ListForm{"mpi_staged_named", Transport::mpi_staged, {}, true},
    ListForm{"mpi_staged_host", Transport::mpi_staged, Initiation::host}};
/// Those that run in this job, where a test says something of it at all.
inline auto running_list_forms(bool applies = true) {
  return testing::ValuesIn(applies ? cases_where(every_list_form, can_run) : std::vector<ListForm>());
}

/// Collective: as many forms as stated run, and the library refuses all others.
inline void expect_other_forms_refused() {
  const Context context(MPI_COMM_WORLD);
  const LeastCases least{
      .on_one_host = 14, .on_several_hosts = 9, .on_gpus_of_one_host = 11, .on_gpus_of_several_hosts = 6};
  EXPECT_GE(cases_where(every_list_form, must_run).size(), least.here(!on_host));
  for (const ListForm& form : every_list_form) {
    if (can_run(form)) continue;
    const auto error = refusal_of(form, context);
    EXPECT_EQ(error ? to_string(error->kind()) : "nothing was thrown", to_string(ErrorKind::unsupported))
        << form.name;
  }
}

inline std::string name_of_form(const testing::TestParamInfo<ListForm>& tested) {
  return tested.param.name;
}

}  // namespace selvage::test
