#pragma once

#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/list_bodies.hpp>
#include <selvage/comm/detail/list_fields.hpp>
#include <selvage/comm/detail/list_kernels.hpp>
#include <selvage/comm/detail/list_mover.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace selvage::detail {

/// Below this many entries the calling thread moves them: waking a team of threads costs more.
inline constexpr std::int64_t parallel_list_entries = 8192;

/// Runs movers' kernels on one instance.
template <class Space>
class ListKernels {
 public:
  ListKernels(const Space& space, ListIndex& index) : space_(space), executor_(space), index_(index) {}

  [[nodiscard]] bool is_one_thread() const { return is_host_space<Space> && space_.concurrency() == 1; }

  template <class Body>
  void move(const char* name, const Body& body, int components, std::int64_t particle_bytes,
            std::span<const ListPart> parts, MirroredBuffer& table) {
    if constexpr (is_host_space<Space>) {
      for (const ListPart& part : parts) move_on_host(name, MovePart<Body>{body, part, particle_bytes});
    } else {
      const std::int64_t particles = upload(parts, table);
      Kokkos::parallel_for(name, range(particles * components),
                           MoveParts<Body>{body, table.kernels<DevicePart>(), static_cast<int>(parts.size()),
                                           components, particle_bytes});
    }
  }

  /// Each link's particles are packed, and taken, by teams of its own.
  template <class Fields>
  void gather(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch,
              const Fields& fields) {
    const LoadEntry<Fields> load{fields, index_.ids, index_.order};
    if (puts(launch)) put(program, peers, launch, load, fields.components());
    if (!takes(launch)) return;
    if (launch == ListLaunch::await || peers.empty()) return await(program, launch);
    const ListTeams<Space> teams(space_);
    const int components = fields.components();
    const std::int64_t items = count_received(program, peers) * components;
    const TakeParticles<StoreGhost<Fields>> kernel{turn(program, launch),
                                                   {fields, index_.ghost_begin},
                                                   components,
                                                   teams.per_team(items, static_cast<int>(peers.size()))};
    teams.launch("comm::take_list", teams_of(kernel, peers), kernel);
  }
  /// What all links bring is added at once.
  template <class Fields>
  void scatter(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch,
               const Fields& fields) {
    const LoadGhost<Fields> load{fields, index_.ghost_begin};
    if (puts(launch)) put(program, peers, launch, load, fields.components());
    if (!takes(launch)) return;
    if (launch == ListLaunch::await || peers.empty()) return await(program, launch);
    order_by_particle();
    const ListTeams<Space> teams(space_);
    const AddToParticles<Fields> kernel{turn(program, launch), fields,
                                        index_.entries_before.template as<int>(),
                                        index_.entries_of.template as<int>(), index_.owned};
    teams.launch("comm::add_list", teams.teams_for(index_.owned), kernel);
  }

  template <class Fields>
  void add(const Fields& fields, std::int64_t particle_bytes, std::span<const ListPart> parts) {
    if (is_one_thread()) {
      add_in_turn(fields, particle_bytes, parts);
    } else {
      add_by_particle(fields, particle_bytes, parts);
    }
  }
  /// By the calling thread: the list's order is each particle's order.
  template <class Fields>
  void add_in_turn(const Fields& fields, std::int64_t particle_bytes, std::span<const ListPart> parts) const {
    for (const ListPart& part : parts) {
      const MovePart<AddEntry<Fields>> body{{fields, index_.ids}, part, particle_bytes};
      for (std::int64_t i = 0; i < part.count; ++i) body(i);
    }
  }
  /// By many threads, one per particle: the same sums, bit by bit.
  template <class Fields>
  void add_by_particle(const Fields& fields, std::int64_t particle_bytes, std::span<const ListPart> parts) {
    order_by_particle();
    upload(parts, index_.unpacked_parts);
    Kokkos::parallel_for("comm::add_ghosts", range(index_.owned),
                         AddToParticle<Fields>{fields, index_.entries_before.template as<int>(),
                                               index_.entries_of.template as<int>(),
                                               index_.unpacked_parts.template kernels<DevicePart>(),
                                               static_cast<int>(parts.size()), particle_bytes});
  }

 private:
  [[nodiscard]] static bool puts(ListLaunch launch) {
    return launch == ListLaunch::put || launch == ListLaunch::exchange;
  }
  [[nodiscard]] static bool takes(ListLaunch launch) { return launch != ListLaunch::put; }
  [[nodiscard]] static ListTurn turn(const ListProgram& program, ListLaunch launch) {
    return {program, launch == ListLaunch::exchange};
  }
  template <class Kernel>
  [[nodiscard]] static int teams_of(const Kernel& kernel, std::span<const ListPeer> peers) {
    int teams = 0;
    for (const ListPeer& peer : peers) teams += kernel.teams(peer);
    return teams;
  }
  template <class Body>
  void put(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch, const Body& body,
           int components) const {
    if (peers.empty()) return;
    const ListTeams<Space> teams(space_);
    const std::int64_t items = count_sent(program, peers) * components;
    const PutParticles<Body> kernel{program, body, components,
                                    teams.per_team(items, static_cast<int>(peers.size()))};
    teams.launch("comm::put_list", teams_of(kernel, peers), kernel);
    if (launch == ListLaunch::put) teams.launch("comm::tell_list", 1, TellPeers{program});
  }
  [[nodiscard]] static std::int64_t count_sent(const ListProgram& program, std::span<const ListPeer> peers) {
    std::int64_t count = 0;
    for (const ListPeer& peer : peers) count += program.sent(peer).count;
    return count;
  }
  [[nodiscard]] static std::int64_t count_received(const ListProgram& program,
                                                   std::span<const ListPeer> peers) {
    std::int64_t count = 0;
    for (const ListPeer& peer : peers) count += program.received(peer).count;
    return count;
  }
  /// One team waits, and has the epoch advance.
  void await(const ListProgram& program, ListLaunch launch) const {
    ListTeams<Space>(space_).launch("comm::await_list", 1, AwaitPeers{turn(program, launch)});
  }

  template <class Body>
  void move_on_host(const char* name, const Body& body) {
    if (space_.concurrency() == 1 || body.part.count < parallel_list_entries) {
      for (std::int64_t i = 0; i < body.part.count; ++i) body(i);
    } else {
      Kokkos::parallel_for(name, range(body.part.count), body);
    }
  }

  /// \return the number of particles of all parts
  std::int64_t upload(std::span<const ListPart> parts, MirroredBuffer& table) {
    auto* rows = table.reserve<DevicePart>(parts.size(), executor_);
    std::int64_t particles = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      rows[i] = {parts[i].block, parts[i].first, particles};
      particles += parts[i].count;
    }
    table.to_kernels(executor_);
    return particles;
  }

  /// Which entries are copies of each particle; once per rebuild.
  void order_by_particle() {
    if (index_.is_ordered_by_particle) return;
    int* before = index_.entries_before.reserve<int>(static_cast<std::size_t>(index_.owned) + 1, executor_);
    int* entries_of = index_.entries_of.reserve<int>(static_cast<std::size_t>(index_.entries), executor_);
    Kokkos::parallel_for("comm::clear_counts", range(index_.owned + 1), ClearCounts{before});
    Kokkos::parallel_for("comm::count_entries", range(index_.entries), CountEntries{index_.ids, before});
    Kokkos::parallel_scan("comm::scan_counts", range(index_.owned + 1), ScanCounts{before});
    Kokkos::parallel_for("comm::fill_entries", range(index_.entries),
                         FillEntries{index_.ids, before, entries_of});
    Kokkos::parallel_for("comm::sort_entries", range(index_.owned), SortEntries{before, entries_of});
    index_.is_ordered_by_particle = true;
  }

  [[nodiscard]] auto range(std::int64_t count) const {
    return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, count);
  }

  Space space_;
  KokkosExecutor<Space> executor_;
  ListIndex& index_;
};

/// What gather, scatter_add and move share: the fields, and how large they are.
template <class Space, class... Arguments>
class FieldMover : public ListMover {
 public:
  static_assert(sizeof...(Arguments) >= 1, "name the Views that hold the particles' fields");

  FieldMover(const Space& space, ListIndex& index, const Arguments&... fields)
      : kernels_(space, index), index_(index), fields_(make_fields(0, fields...)) {
    std::int64_t end = 0;
    std::int64_t alignment = 1;
    fields_.each_field([&](const auto& field) {
      using Placed = std::decay_t<decltype(field)>;
      static_assert(Kokkos::SpaceAccessibility<Space, typename Placed::MemorySpace>::accessible,
                    "the execution space can't reach a View's memory space");
      using Element = typename Placed::Element;
      end = field.offset + field.components * static_cast<std::int64_t>(sizeof(Element));
      alignment = std::max<std::int64_t>(alignment, alignof(Element));
      // Order and sizes, by the FNV-1a hash.
      for (const std::uint64_t size :
           {std::uint64_t{sizeof(Element)}, static_cast<std::uint64_t>(field.components)})
        signature_ = (signature_ ^ size) * 1099511628211ULL;
    });
    particle_bytes_ = (end + alignment - 1) / alignment * alignment;
    if constexpr (is_host_space<Space> && sizeof...(Arguments) == 1) rows_ = rows_of(fields_.first);
  }

  [[nodiscard]] std::int64_t particle_bytes() const override { return particle_bytes_; }
  [[nodiscard]] std::uint64_t signature() const override { return signature_; }
  [[nodiscard]] std::string too_small(std::int64_t particles) const override {
    std::string text;
    int number = 0;
    fields_.each_field([&](const auto& field) {
      const auto extent = static_cast<std::int64_t>(field.view.extent(0));
      if (extent < particles && text.empty())
        text = "View " + std::to_string(number) + " (\"" + field.view.label() + "\") has room for " +
               std::to_string(extent) + " particles";
      ++number;
    });
    return text;
  }

 protected:
  using Fields = decltype(make_fields(0, std::declval<const Arguments&>()...));

  void pack_entries(std::span<const ListPart> parts) {
    kernels_.move("comm::pack_list", LoadEntry<Fields>{fields_, index_.ids, index_.order},
                  fields_.components(), particle_bytes_, parts, index_.packed_parts);
  }
  void unpack_ghosts(std::span<const ListPart> parts) {
    if (rows_ != nullptr) {
      for (const ListPart& part : parts) std::memcpy(row_of(part), part.block, bytes_of(part));
      return;
    }
    kernels_.move("comm::unpack_ghosts", StoreGhost<Fields>{fields_, index_.ghost_begin},
                  fields_.components(), particle_bytes_, parts, index_.unpacked_parts);
  }
  void pack_ghosts(std::span<const ListPart> parts) {
    if (rows_ != nullptr) {
      for (const ListPart& part : parts) std::memcpy(part.block, row_of(part), bytes_of(part));
      return;
    }
    kernels_.move("comm::pack_ghosts", LoadGhost<Fields>{fields_, index_.ghost_begin}, fields_.components(),
                  particle_bytes_, parts, index_.packed_parts);
  }
  void add_ghosts(std::span<const ListPart> parts) { kernels_.add(fields_, particle_bytes_, parts); }
  void exchange_entries(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch) {
    kernels_.gather(program, peers, launch, fields_);
  }
  void exchange_ghosts(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch) {
    kernels_.scatter(program, peers, launch, fields_);
  }

 private:
  /// Where a View's particles lie as they do in a block, one after the other; null where they don't.
  template <class Placed>
  static std::byte* rows_of(const Placed& field) {
    if (field.view.extent(0) > 1 && field.view.stride(0) != static_cast<std::size_t>(field.components))
      return nullptr;
    if (field.components > 1 && field.view.stride(Placed::last_axis) != 1) return nullptr;
    return reinterpret_cast<std::byte*>(field.view.data());
  }
  [[nodiscard]] std::byte* row_of(const ListPart& part) const {
    return rows_ + (index_.ghost_begin + part.first) * particle_bytes_;
  }
  [[nodiscard]] std::size_t bytes_of(const ListPart& part) const {
    return static_cast<std::size_t>(part.count * particle_bytes_);
  }

  ListKernels<Space> kernels_;
  ListIndex& index_;
  Fields fields_;
  std::byte* rows_ = nullptr;
  std::int64_t particle_bytes_ = 0;
  std::uint64_t signature_ = 14695981039346656037ULL;
};

/// From owners to ghosts; also from where particles were to where they are.
template <class Space, class... Arguments>
class GatherMover final : public FieldMover<Space, Arguments...> {
 public:
  using FieldMover<Space, Arguments...>::FieldMover;
  void pack(std::span<const ListPart> parts) override { this->pack_entries(parts); }
  void unpack(std::span<const ListPart> parts) override { this->unpack_ghosts(parts); }
  void run(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch) override {
    this->exchange_entries(program, peers, launch);
  }
};

/// From ghosts to owners.
template <class Space, class... Arguments>
class ScatterMover final : public FieldMover<Space, Arguments...> {
 public:
  static_assert((!FieldOf<Arguments>::is_shifted && ...),
                "scatter_add() takes Views: what comes back from an image isn't shifted");
  using FieldMover<Space, Arguments...>::FieldMover;
  void pack(std::span<const ListPart> parts) override { this->pack_ghosts(parts); }
  void unpack(std::span<const ListPart> parts) override { this->add_ghosts(parts); }
  void run(const ListProgram& program, std::span<const ListPeer> peers, ListLaunch launch) override {
    this->exchange_ghosts(program, peers, launch);
  }
};

}  // namespace selvage::detail
