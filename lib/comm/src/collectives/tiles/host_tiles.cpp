#include "collectives/algorithms/fold.hpp"
#include "collectives/algorithms/lockstep.hpp"
#include "tile_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

class HostTiles final : public TileRunner {
 public:
  explicit HostTiles(TileParts&& parts)
      : parts_(std::move(parts)),
        lockstep_(parts_.allreduce.context, parts_.allreduce.executor, all_ranks(parts_.allreduce),
                  parts_.most_flags() * sizeof(Flag), "the construction of a TiledAllreduce"),
        is_combined_(static_cast<std::size_t>(parts_.tiles_of(rank()))) {
    for (int owner = 0; owner < ranks(); ++owner)
      owners_.push_back(reinterpret_cast<Flag*>(lockstep_.memory(owner)));
  }

  [[nodiscard]] Flag* const* owners() const override { return owners_.data(); }
  [[nodiscard]] const std::uint64_t* epoch() const override { return &epoch_; }

  void start(Executor& /*executor*/) override { is_combined_.assign(is_combined_.size(), false); }
  void finish(Executor& /*executor*/) override {}

  bool progress() override {
    bool all = true;
    for (std::size_t tile = 0; tile < is_combined_.size(); ++tile) {
      if (!is_combined_[tile] && first_late(tile) < 0) {
        combine(static_cast<std::int64_t>(tile));
        is_combined_[tile] = true;
      }
      all = all && is_combined_[tile];
    }
    // Publishes to all ranks: this rank's tiles, in their Views.
    if (all && !is_published_) lockstep_.publish(epoch_ + 1);
    is_published_ = all;
    if (!all || !lockstep_.all_have_done(epoch_ + 1)) return false;
    is_published_ = false;
    ++epoch_;
    return true;
  }

  [[nodiscard]] std::string describe_late() const override {
    const auto late = std::ranges::find(is_combined_, false);
    if (late == is_combined_.end()) return lockstep_.describe_late(epoch_ + 1);
    const auto tile = static_cast<std::size_t>(late - is_combined_.begin());
    const int rank = first_late(tile);
    return fmt::format("rank {} (epoch {} of tile {} wanted, {} seen)", rank, epoch_ + 1,
                       static_cast<std::int64_t>(tile) * ranks() + this->rank(),
                       acquire_epoch(flag(tile, std::max(rank, 0))));
  }
  [[nodiscard]] std::string describe() const override {
    return "tiles are combined in finish(), while kernels of other ranks may still run";
  }

 private:
  [[nodiscard]] int rank() const { return parts_.allreduce.context.rank(); }
  [[nodiscard]] int ranks() const { return parts_.allreduce.context.size(); }
  [[nodiscard]] const Flag& flag(std::size_t own_tile, int from) const {
    return owners_[static_cast<std::size_t>(rank())]
                  [own_tile * static_cast<std::size_t>(ranks()) + static_cast<std::size_t>(from)];
  }
  /// The first rank that hasn't published a tile; -1 if all have.
  [[nodiscard]] int first_late(std::size_t own_tile) const {
    for (int from = 0; from < ranks(); ++from) {
      if (!has_reached(acquire_epoch(flag(own_tile, from)), epoch_ + 1)) return from;
    }
    return -1;
  }
  void combine(std::int64_t own_tile) {
    const Elements& elements = parts_.allreduce.elements;
    const std::int64_t begin = (own_tile * ranks() + rank()) * parts_.tile_elements;
    const std::int64_t count = std::min(parts_.tile_elements, elements.count - begin);
    const std::int64_t offset = begin * static_cast<std::int64_t>(element_bytes(elements.type));
    inputs_.clear();
    outputs_.clear();
    for (int each = 0; each < ranks(); ++each) {
      inputs_.push_back(parts_.views.of(each) + offset);
      outputs_.push_back(parts_.views.of(each) + offset);
    }
    fold(elements.type, parts_.allreduce.operation, inputs_, outputs_, count);
  }

  TileParts parts_;
  Lockstep lockstep_;
  std::vector<Flag*> owners_;
  std::vector<bool> is_combined_;  ///< own tiles, in the operation in flight
  bool is_published_ = false;
  std::uint64_t epoch_ = 0;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

}  // namespace

std::unique_ptr<TileRunner> make_host_tiles(TileParts&& parts) {
  return std::make_unique<HostTiles>(std::move(parts));
}

}  // namespace selvage::detail
