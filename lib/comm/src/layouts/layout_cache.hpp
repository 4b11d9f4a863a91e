#pragma once

#include "copy_runs.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/datatype.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace selvage::detail {

class ContextState;

/// One rank's flattened layouts, in memory that all ranks of the host map: entries one after the other, never
/// changed once published, none ever removed. Zeroed memory is an empty pool.
struct LayoutPool {
  /// Bytes of complete entries after this header. Written by the pool's rank, read by all ranks of the host;
  /// publishes the entries below it. Only grows.
  Flag published;
};
inline constexpr std::size_t layout_pool_bytes = std::size_t{8} << 20;  // touched as it fills

/// A flattened layout and the owner of its memory.
struct FlatLayout {
  std::span<const CopyRun> runs;
  /// The runs' name for other ranks of the host; nothing when they lie in memory that others can't map.
  std::optional<SharedRange> range;
  std::shared_ptr<void> owner;  ///< null in a pool, which outlives all plans
};

/// Flattens each layout once per host (Chu et al., "Enhanced Layout Cache"): looks a type up by the hash of
/// its words, compares all of them, and flattens and publishes a type that no rank has published. Only for planning. May be called
/// from several threads.
class LayoutCache {
 public:
  /// A pool and its name; both empty when ranks can't share memory.
  struct Pool {
    std::span<std::byte> memory;
    std::optional<SharedRange> range;
    std::shared_ptr<void> owner{};  ///< keeps it mapped
  };
  using Hash = std::uint64_t (*)(std::span<const std::int64_t>);

  /// \param own     zeroed, at least a LayoutPool; kept in private memory instead when empty
  /// \param others  of the other ranks of this host; mapped as long as the cache lives
  /// \param arena   where layouts go that the pool has no room for; must outlive them
  LayoutCache(const Pool& own, const std::vector<Pool>& others, Arena& arena, Hash hash = hash_of_code);

  [[nodiscard]] FlatLayout flatten(const Datatype& type);
  [[nodiscard]] Context::LayoutCacheCounters counters() const;

  [[nodiscard]] static std::uint64_t hash_of_code(std::span<const std::int64_t> code);

 private:
  struct Entry;
  struct Reader {
    Pool pool;
    std::uint64_t seen = 0;  ///< bytes of entries that are in the index
  };
  struct Found {
    const Entry* entry;
    std::size_t reader;
  };

  void index_published(std::size_t reader);
  [[nodiscard]] const Found* find(std::uint64_t hash, std::span<const std::int64_t> code) const;
  [[nodiscard]] FlatLayout layout_of(const Found& found) const;
  [[nodiscard]] bool publish(std::uint64_t hash, std::span<const std::int64_t> code,
                             std::span<const CopyRun> runs);
  [[nodiscard]] FlatLayout keep_apart(std::vector<CopyRun> runs) const;

  mutable std::mutex mutex_;
  std::unique_ptr<std::byte[]> private_pool_;
  std::vector<Reader> readers_;  ///< the first is this rank's own
  std::unordered_multimap<std::uint64_t, Found> index_;
  Arena& arena_;
  Hash hash_;
  Context::LayoutCacheCounters counters_;
};

/// The Context's, made at the first call: each rank lets the others of its host read what it has flattened. Collective.
/// \param operation  what waits for the others, for a timeout
[[nodiscard]] LayoutCache& shared_layouts(ContextState& context, std::string_view operation);

}  // namespace selvage::detail
