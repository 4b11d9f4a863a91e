#pragma once

#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_options.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace selvage::test {

using Space = Kokkos::DefaultExecutionSpace;
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

inline int on_all_ranks(int count) {
  int total = 0;
  MPI_Allreduce(&count, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

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

class ListForms : public testing::TestWithParam<ListForm> {
 protected:
  static constexpr int reach = 2;

  /// Skips what these ranks can't do.
  void SetUp() override {
    const bool one_host = context_.machine().host_count() == 1;
    if (GetParam().transport == Transport::peer && !one_host) GTEST_SKIP() << "no peers across hosts";
    if (GetParam().transport == Transport::mpi_direct && !on_host)
      GTEST_SKIP() << "MPI may not take GPU memory";
    if (GetParam().initiation == Initiation::stream && GetParam().transport != Transport::peer && !on_host)
      GTEST_SKIP() << "MPI is called after a fence";
  }
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int size() const { return context_.size(); }
  [[nodiscard]] RandomLists lists(unsigned seed, int most_owned = 50) const {
    return {size(), seed, most_owned, reach};
  }
  [[nodiscard]] ListOptions options() const {
    ListOptions options{
        .neighbours = {}, .transport = GetParam().transport, .initiation = GetParam().initiation};
    if (GetParam().names_neighbours) options.neighbours = lists(0).neighbours_of(rank());
    return options;
  }

  const Context context_{MPI_COMM_WORLD};
};

inline auto every_list_form() {
  return testing::Values(ListForm{"chosen"}, ListForm{"chosen_named", {}, {}, true},
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
                         ListForm{"mpi_staged_host", Transport::mpi_staged, Initiation::host});
}
inline std::string name_of_form(const testing::TestParamInfo<ListForm>& tested) {
  return tested.param.name;
}

}  // namespace selvage::test
