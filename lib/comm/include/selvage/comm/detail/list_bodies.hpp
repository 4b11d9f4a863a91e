#pragma once

#include <selvage/comm/detail/list_mover.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// What kernels do with one entry or ghost. `entry` counts entries (or ghosts) from the first of the list.
template <class Fields>
struct LoadEntry {
  Fields fields;
  const int* ids;
  const int* order;
  KOKKOS_FUNCTION void component(std::int64_t entry, int number, std::byte* packed) const {
    fields.with_component(number, [&](const auto& field, int component) {
      field.load(ids[entry], order[entry], component, packed);
    });
  }
  KOKKOS_FUNCTION void all(std::int64_t entry, std::byte* packed) const {
    fields.each_component(
        [&](const auto& field, int component) { field.load(ids[entry], order[entry], component, packed); });
  }
};
template <class Fields>
struct StoreGhost {
  Fields fields;
  std::int64_t ghost_begin;
  KOKKOS_FUNCTION void component(std::int64_t ghost, int number, std::byte* packed) const {
    fields.with_component(number, [&](const auto& field, int component) {
      field.store(ghost_begin + ghost, component, packed);
    });
  }
  KOKKOS_FUNCTION void all(std::int64_t ghost, std::byte* packed) const {
    fields.each_component(
        [&](const auto& field, int component) { field.store(ghost_begin + ghost, component, packed); });
  }
};
template <class Fields>
struct LoadGhost {
  Fields fields;
  std::int64_t ghost_begin;
  KOKKOS_FUNCTION void component(std::int64_t ghost, int number, std::byte* packed) const {
    fields.with_component(number, [&](const auto& field, int component) {
      field.in(packed, component) = field.at(ghost_begin + ghost, component);
    });
  }
  KOKKOS_FUNCTION void all(std::int64_t ghost, std::byte* packed) const {
    fields.each_component([&](const auto& field, int component) {
      field.in(packed, component) = field.at(ghost_begin + ghost, component);
    });
  }
};
/// Only for one thread at a time: particles may occur several times.
template <class Fields>
struct AddEntry {
  Fields fields;
  const int* ids;
  KOKKOS_FUNCTION void all(std::int64_t entry, std::byte* packed) const {
    fields.each_component(
        [&](const auto& field, int component) { field.add(ids[entry], component, packed); });
  }
};

/// One part on a host.
template <class Body>
struct MovePart {
  Body body;
  ListPart part;
  std::int64_t particle_bytes;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    body.all(part.first + i, part.block + i * particle_bytes);
  }
};

/// A part for kernels that serve several: `begin` counts the particles of the parts before.
struct DevicePart {
  std::byte* block;
  std::int64_t first;
  std::int64_t begin;
};

/// The last part that begins at or before a particle.
KOKKOS_INLINE_FUNCTION const DevicePart& part_of(const DevicePart* parts, int count, std::int64_t particle) {
  int first = 0;
  while (count > 1) {
    const int half = count / 2;
    if (parts[first + half].begin <= particle) first += half;
    count -= half;
  }
  return parts[first];
}

/// All parts in one kernel, a thread per component of a particle: neighbouring threads store neighbouring elements,
/// which matters most where the block is another GPU's.
template <class Body>
struct MoveParts {
  Body body;
  const DevicePart* parts;
  int part_count;
  int components;
  std::int64_t particle_bytes;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t particle = i / components;
    const DevicePart& part = part_of(parts, part_count, particle);
    const std::int64_t within = particle - part.begin;
    body.component(part.first + within, static_cast<int>(i % components),
                   part.block + within * particle_bytes);
  }
};

struct CountEntries {
  const int* ids;
  int* before;
  KOKKOS_FUNCTION void operator()(std::int64_t entry) const { Kokkos::atomic_inc(before + ids[entry]); }
};
struct ClearCounts {
  int* before;
  KOKKOS_FUNCTION void operator()(std::int64_t particle) const { before[particle] = 0; }
};
struct ScanCounts {
  int* before;
  KOKKOS_FUNCTION void operator()(std::int64_t particle, int& sum, bool is_final) const {
    sum += before[particle];
    if (is_final) before[particle] = sum;
  }
};
/// Takes places from the end, so that `before` ends as the number of entries of lower particles.
struct FillEntries {
  const int* ids;
  int* before;
  int* entries_of;
  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    entries_of[Kokkos::atomic_fetch_sub(before + ids[entry], 1) - 1] = static_cast<int>(entry);
  }
};
/// Few each, and almost in order: whoever came first in FillEntries leaves no trace.
struct SortEntries {
  const int* before;
  int* entries_of;
  KOKKOS_FUNCTION void operator()(std::int64_t particle) const {
    for (int i = before[particle] + 1; i < before[particle + 1]; ++i) {
      const int entry = entries_of[i];
      int to = i;
      for (; to > before[particle] && entries_of[to - 1] > entry; --to) entries_of[to] = entries_of[to - 1];
      entries_of[to] = entry;
    }
  }
};

/// One particle: adds what belongs to it in the order of its entries, ranks in order.
template <class Fields>
struct AddToParticle {
  Fields fields;
  const int* before;
  const int* entries_of;
  const DevicePart* parts;
  int part_count;
  std::int64_t particle_bytes;
  KOKKOS_FUNCTION void operator()(std::int64_t particle) const {
    for (int i = before[particle]; i < before[particle + 1]; ++i) {
      const DevicePart& part = part_of(parts, part_count, entries_of[i]);
      std::byte* packed = part.block + (entries_of[i] - part.begin) * particle_bytes;
      fields.each_component(
          [&](const auto& field, int component) { field.add(particle, component, packed); });
    }
  }
};

}  // namespace selvage::detail
