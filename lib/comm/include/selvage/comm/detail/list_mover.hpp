#pragma once

#include <selvage/comm/detail/growing_buffer.hpp>
#include <selvage/comm/detail/list_program.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace selvage::detail {

/// What goes to or comes from one rank, as packed particles in a block, one after the other.
///
/// A gather packs entries of the list and unpacks ghosts; a scatter does it the other way round. Both are numbered
/// from the first of the list, ranks in order.
struct ListPart {
  std::byte* block = nullptr;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// What is to be moved, as kernels see it: entries grouped by rank, in the caller's order for each.
struct ListIndex {
  const int* ids = nullptr;    ///< by entry: the particle
  const int* order = nullptr;  ///< by entry: its place in the caller's list
  std::int64_t entries = 0;
  std::int64_t owned = 0;
  std::int64_t ghosts = 0;
  std::int64_t ghost_begin = 0;  ///< where the first ghost lies in a View

  MirroredBuffer packed_parts;    ///< for kernels: the parts of one pack()
  MirroredBuffer unpacked_parts;  ///< and of one unpack()
  GrowingBuffer entries_before;   ///< by particle, see order_by_particle()
  GrowingBuffer entries_of;       ///< by entry
  bool is_ordered_by_particle = false;
};

/// Packs and unpacks the fields of one call: the seam between paths, which know bytes, and Views.
class ListMover {
 public:
  ListMover() = default;
  ListMover(const ListMover&) = delete;
  ListMover& operator=(const ListMover&) = delete;
  virtual ~ListMover() = default;

  /// Of all fields of a particle in a block; a multiple of all elements' alignments.
  [[nodiscard]] virtual std::int64_t particle_bytes() const = 0;
  /// The same on ranks that pass fields of the same sizes in the same order.
  [[nodiscard]] virtual std::uint64_t signature() const = 0;
  /// Which View holds fewer particles than `particles`, and how many; empty when all hold them.
  [[nodiscard]] virtual std::string too_small(std::int64_t particles) const = 0;
  /// Enqueued on the instance.
  virtual void pack(std::span<const ListPart> parts) = 0;
  /// Parts in the order of their ranks; a scatter is given all of them at once.
  virtual void unpack(std::span<const ListPart> parts) = 0;
  /// All of it, or a half, in a kernel that signals and waits by itself. Enqueued on the instance.
  /// \param peers  what program.peers are, for the host
  virtual void run(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch) = 0;
};

/// The caller's lists, as a plan groups them by rank. Arrays lie in memory of the instance unless said.
class ListSource {
 public:
  struct Entry {
    std::int64_t id;
    std::int64_t rank;
  };
  /// What grouping needs: ranks in order become bins, entries are counted in `parts` runs.
  struct Bins {
    const int* bin_of_rank;
    int bins;
    int parts;
  };

  /// What entries may be: particles in [0, owned), ranks in [0, ranks). The lowest place of an entry that isn't, or whose
  /// rank has no bin where there are bins, is put into `first_invalid`; that entry is left out.
  struct Limits {
    std::int64_t owned;
    int ranks;
    int* first_invalid;  ///< no_entry before the first pass that takes it
  };
  static constexpr int no_entry = std::numeric_limits<int>::max();

  ListSource() = default;
  ListSource(const ListSource&) = delete;
  ListSource& operator=(const ListSource&) = delete;
  virtual ~ListSource() = default;

  [[nodiscard]] virtual std::int64_t entries() const = 0;
  /// How many ranks are named for that many entries; they must be as many.
  [[nodiscard]] virtual std::int64_t named_ranks() const = 0;
  /// How many runs entries are best counted in.
  [[nodiscard]] virtual int runs() const = 0;
  [[nodiscard]] virtual Entry entry(std::int64_t place) const = 0;
  /// named[rank] = 1 for each rank of an entry, 0 for the others of limits.ranks. Sets `first_invalid` first.
  virtual void mark(int* named, const Limits& limits) const = 0;
  /// \param offsets  of bins * parts: filled with the first place of each run in each bin
  /// \param begins   of bins + 1: where each bin begins
  virtual void count(const Bins& bins, const Limits& limits, int* offsets, int* begins) const = 0;
  /// Fills in the particle and the caller's place of each entry. Uses up `offsets`.
  virtual void place(const Bins& bins, const Limits& limits, int* offsets, int* ids, int* order) const = 0;
};

}  // namespace selvage::detail
