#include "handles.hpp"

#include <selvage/comm/list_halo.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

struct selvage_list {
  selvage::c::Place place;
  selvage::ListHalo list;
  std::function<void()> finish;  ///< of what was started
};

namespace selvage::c {
namespace {

template <class T, class Space>
using Unmanaged = Kokkos::View<T*, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T, class Space>
using Strided = Kokkos::View<T**, Kokkos::LayoutStride, typename Space::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

void check_entries(std::int64_t entries, const std::int64_t* ids, const int* ranks) {
  if (entries < 0) throw Error(ErrorKind::usage, "a list of " + std::to_string(entries) + " entries");
  if (entries == 0) return;
  required(ids, "the list of particles");
  required(ranks, "the list of ranks");
}

ListHalo::Options options_of(const selvage_list_options* options) {
  ListHalo::Options made;
  if (options == nullptr) return made;
  if (options->neighbour_count >= 0) {
    made.neighbours.emplace();
    for (int i = 0; i < options->neighbour_count; ++i)
      made.neighbours->push_back((&required(options->neighbours, "the list of neighbours"))[i]);
  }
  made.transport = optional_of(options->transport, [](const char* text) { return parse_transport(text); });
  made.initiation = optional_of(options->initiation, [](const char* text) { return parse_initiation(text); });
  return made;
}

template <class T, class Space>
Strided<T, Space> view_of(const selvage_particles& particles) {
  if (particles.particles < 0 || particles.components < 1 || particles.particle_stride < 0 ||
      particles.component_stride < 0)
    throw Error(ErrorKind::usage, "values of " + std::to_string(particles.particles) + " particles with " +
                                      std::to_string(particles.components) + " components, with strides of " +
                                      std::to_string(particles.particle_stride) + " and " +
                                      std::to_string(particles.component_stride));
  if (particles.particles > 0) required(static_cast<std::byte*>(particles.data), "the particles' data");
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  return Strided<T, Space>(
      static_cast<T*>(particles.data),
      Kokkos::LayoutStride(size(particles.particles), size(particles.particle_stride),
                           size(particles.components), size(particles.component_stride)));
}

/// Calls function(space, view) with elements of this size.
template <class Function>
void with_elements(const selvage_list& list, const selvage_particles& particles, std::size_t element_bytes,
                   const Function& function) {
  list.place.on_space([&]<class Space>(const Space& space) {
    switch (element_bytes) {
      case 1:
        return function(space, view_of<std::uint8_t, Space>(particles));
      case 2:
        return function(space, view_of<std::uint16_t, Space>(particles));
      case 4:
        return function(space, view_of<std::uint32_t, Space>(particles));
      case 8:
        return function(space, view_of<std::uint64_t, Space>(particles));
      default:
        throw Error(ErrorKind::usage, "elements of " + std::to_string(element_bytes) +
                                          " bytes; there are 1, 2, 4 and 8: count more as components");
    }
  });
}

/// Calls function(space, view) with elements of this type.
template <class Function>
void with_numbers(const selvage_list& list, const selvage_particles& particles, selvage_type type,
                  const Function& function) {
  with_number(type, [&]<class T>(T) {
    list.place.on_space(
        [&]<class Space>(const Space& space) { function(space, view_of<T, Space>(particles)); });
  });
}

void require_idle(const selvage_list& list) {
  if (list.finish) throw Error(ErrorKind::usage, "an operation of this list was started: finish it first");
}

/// Keeps what start(space, view) started for selvage_list_finish().
template <class Start>
auto keep_started(selvage_list& list, const Start& start) {
  return [&list, &start](const auto& space, const auto& view) {
    auto pending = std::make_shared<decltype(start(space, view))>(start(space, view));
    list.finish = [&list, space, pending] { list.list.finish(space, std::move(*pending)); };
  };
}

}  // namespace
}  // namespace selvage::c

using namespace selvage::c;
using selvage::Error;
using selvage::ErrorKind;
using selvage::ListHalo;

selvage_status selvage_list_create(const selvage_context* context, int64_t owned, int64_t entries,
                                   const int64_t* ids, const int* ranks, const selvage_list_options* options,
                                   selvage_list** list) {
  return guarded([&] {
    const Place& place = required(context, "the context").place;
    ListHalo::Options wanted;
    // What is wrong on one rank alone, all ranks are told.
    place.context.agree("making a list", [&] {
      required(list, "where to put the list");
      check_entries(entries, ids, ranks);
      wanted = options_of(options);
    });
    place.on_space([&]<class Space>(const Space& space) {
      const auto count = static_cast<std::size_t>(entries);
      *list = new selvage_list{
          place,
          ListHalo(space, place.context, owned, Unmanaged<const std::int64_t, Space>(ids, count),
                   Unmanaged<const int, Space>(ranks, count), wanted),
          {}};
    });
  });
}
void selvage_list_destroy(selvage_list* list) {
  delete list;
}

selvage_status selvage_list_rebuild(selvage_list* list, int64_t owned, int64_t entries, const int64_t* ids,
                                    const int* ranks) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    require_idle(own);
    check_entries(entries, ids, ranks);
    own.place.on_space([&]<class Space>(const Space& space) {
      const auto count = static_cast<std::size_t>(entries);
      own.list.rebuild(space, owned, Unmanaged<const std::int64_t, Space>(ids, count),
                       Unmanaged<const int, Space>(ranks, count));
    });
  });
}
int64_t selvage_list_ghosts(const selvage_list* list) {
  return list == nullptr ? 0 : list->list.ghosts();
}

selvage_status selvage_list_gather(selvage_list* list, const selvage_particles* particles,
                                   size_t element_bytes) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    require_idle(own);
    with_elements(own, required(particles, "the particles"), element_bytes,
                  [&](const auto& space, const auto& view) { own.list.gather(space, view); });
  });
}
selvage_status selvage_list_scatter_add(selvage_list* list, const selvage_particles* particles,
                                        selvage_type type) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    require_idle(own);
    with_numbers(own, required(particles, "the particles"), type,
                 [&](const auto& space, const auto& view) { own.list.scatter_add(space, view); });
  });
}
selvage_status selvage_list_start_gather(selvage_list* list, const selvage_particles* particles,
                                         size_t element_bytes) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    require_idle(own);
    const auto start = [&](const auto& space, const auto& view) {
      return own.list.start_gather(space, view);
    };
    with_elements(own, required(particles, "the particles"), element_bytes, keep_started(own, start));
  });
}
selvage_status selvage_list_start_scatter_add(selvage_list* list, const selvage_particles* particles,
                                              selvage_type type) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    require_idle(own);
    const auto start = [&](const auto& space, const auto& view) {
      return own.list.start_scatter_add(space, view);
    };
    with_numbers(own, required(particles, "the particles"), type, keep_started(own, start));
  });
}
selvage_status selvage_list_finish(selvage_list* list) {
  return guarded([&] {
    selvage_list& own = required(list, "the list");
    if (!own.finish) throw Error(ErrorKind::usage, "no operation of this list was started");
    std::exchange(own.finish, nullptr)();
  });
}
