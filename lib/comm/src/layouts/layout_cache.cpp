#include "layout_cache.hpp"

#include "flatten.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace selvage::detail {

/// In a pool, followed by the type's words and then by its runs.
struct LayoutCache::Entry {
  std::uint64_t hash;
  std::uint64_t code_words;
  std::uint64_t run_count;

  [[nodiscard]] std::span<const std::int64_t> code() const {
    return {reinterpret_cast<const std::int64_t*>(this + 1), code_words};
  }
  [[nodiscard]] std::span<const CopyRun> runs() const {
    return {reinterpret_cast<const CopyRun*>(code().data() + code_words), run_count};
  }
  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Entry) + code_words * sizeof(std::int64_t) + run_count * sizeof(CopyRun);
  }
};

std::uint64_t LayoutCache::hash_of_code(std::span<const std::int64_t> code) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int64_t word : code) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

LayoutCache::LayoutCache(const Pool& own, const std::vector<Pool>& others, Arena& arena, Hash hash)
    : arena_(arena), hash_(hash) {
  Pool mine = own;
  if (mine.memory.empty()) {
    private_pool_ = std::make_unique_for_overwrite<std::byte[]>(layout_pool_bytes);
    new (private_pool_.get()) LayoutPool;
    mine.memory = {private_pool_.get(), layout_pool_bytes};
  }
  readers_.push_back({mine});
  for (const Pool& other : others) readers_.push_back({other});
}

Context::LayoutCacheCounters LayoutCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

FlatLayout LayoutCache::flatten(const Datatype& type) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t hash = hash_(type.code());
  const Found* found = find(hash, type.code());
  if (found == nullptr) {
    for (std::size_t reader = 1; reader < readers_.size(); ++reader) index_published(reader);
    found = find(hash, type.code());
  }
  if (found != nullptr) {
    ++(found->reader == 0 ? counters_.hits : counters_.host_hits);
    return layout_of(*found);
  }
  std::vector<CopyRun> runs = detail::flatten(type.code());
  if (!publish(hash, type.code(), runs)) {
    ++counters_.uncached;
    return keep_apart(std::move(runs));
  }
  ++counters_.misses;
  index_published(0);
  return layout_of(*find(hash, type.code()));
}

void LayoutCache::index_published(std::size_t reader) {
  auto& [pool, seen] = readers_[reader];
  const std::byte* entries = pool.memory.data() + sizeof(LayoutPool);
  // Acquires the entries below the mark, which their rank wrote before.
  const std::uint64_t published =
      acquire_epoch(reinterpret_cast<const LayoutPool*>(pool.memory.data())->published);
  while (seen < published) {
    const auto* entry = reinterpret_cast<const Entry*>(entries + seen);
    index_.emplace(entry->hash, Found{entry, reader});
    seen += entry->bytes();
  }
}

const LayoutCache::Found* LayoutCache::find(std::uint64_t hash, std::span<const std::int64_t> code) const {
  const auto [first, last] = index_.equal_range(hash);
  for (auto candidate = first; candidate != last; ++candidate) {
    if (std::ranges::equal(candidate->second.entry->code(), code)) return &candidate->second;
  }
  return nullptr;
}

FlatLayout LayoutCache::layout_of(const Found& found) const {
  const Pool& pool = readers_[found.reader].pool;
  FlatLayout layout{found.entry->runs(), pool.range, nullptr};
  if (layout.range) {
    layout.range->offset += static_cast<std::uint64_t>(
        reinterpret_cast<const std::byte*>(layout.runs.data()) - pool.memory.data());
  }
  return layout;
}

bool LayoutCache::publish(std::uint64_t hash, std::span<const std::int64_t> code,
                          std::span<const CopyRun> runs) {
  const std::span<std::byte> memory = readers_.front().pool.memory;
  LayoutPool& pool = *reinterpret_cast<LayoutPool*>(memory.data());
  const std::uint64_t used = pool.published.epoch;
  const Entry header{hash, code.size(), runs.size()};
  if (header.bytes() > memory.size() - sizeof(LayoutPool) - used) return false;
  std::byte* at = memory.data() + sizeof(LayoutPool) + used;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, code.data(), code.size_bytes());
  if (!runs.empty()) std::memcpy(at + sizeof header + code.size_bytes(), runs.data(), runs.size_bytes());
  // Publishes the entry to all ranks of the host.
  release_epoch(pool.published, used + header.bytes());
  return true;
}

FlatLayout LayoutCache::keep_apart(std::vector<CopyRun> runs) const {
  if (!readers_.front().pool.range) {
    auto kept = std::make_shared<std::vector<CopyRun>>(std::move(runs));
    return {*kept, std::nullopt, kept};
  }
  const std::size_t bytes = runs.size() * sizeof(CopyRun);
  std::byte* data = arena_.allocate(bytes);
  std::memcpy(data, runs.data(), bytes);
  return {{reinterpret_cast<const CopyRun*>(data), runs.size()},
          arena_.find(data, bytes),
          std::shared_ptr<void>(data, [&arena = arena_](void* block) { arena.deallocate(block); })};
}

namespace {

constexpr std::string_view layouts_name = "layouts";

/// Without a pool, other ranks can't read this rank's layouts.
LayoutCache::Pool own_pool(ContextState& context) {
  if (!context.mapping_refusal(MemoryKind::host).empty()) return {};
  try {
    std::byte* memory = context.arena().allocate(layout_pool_bytes);
    return {{memory, layout_pool_bytes}, context.arena().find(memory, layout_pool_bytes)};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

LayoutCache& shared_layouts(ContextState& context, std::string_view operation) {
  return context.kept<LayoutCache>(layouts_name, [&] {
    const LayoutCache::Pool own = own_pool(context);
    const auto ranges = context.gather(own.range.value_or(SharedRange{}), operation);
    std::vector<LayoutCache::Pool> others;
    context.all_or_none(operation, [&] {
      for (int rank = 0; rank < context.size(); ++rank) {
        const SharedRange& range = ranges[rank];
        if (rank == context.rank() || range.segment_bytes == 0 ||
            !context.machine().same_host(context.rank(), rank)) {
          continue;
        }
        PeerMappings::Mapped mapped = context.mappings().map(range);
        others.push_back({{mapped.data, layout_pool_bytes}, range, std::move(mapped.owner)});
      }
    });
    return std::make_shared<LayoutCache>(own, others, context.arena());
  });
}

}  // namespace selvage::detail

namespace selvage {

Context::LayoutCacheCounters Context::layout_cache_counters() const {
  const auto* layouts = state_->find_kept<detail::LayoutCache>(detail::layouts_name);
  return layouts == nullptr ? Context::LayoutCacheCounters{} : layouts->counters();
}

}  // namespace selvage
