#include "tile_plan.hpp"

#include "collectives/algorithms/device_allreduce.hpp"
#include "runtime/context_state.hpp"
#include "runtime/wait.hpp"

#include <selvage/counted.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

constexpr std::string_view tiles_construction = "the construction of a TiledAllreduce";

}  // namespace

TilePlan::TilePlan(std::shared_ptr<ContextState> context, const Executor& executor,
                   const TiledAllreduce::Options& options, const Elements& elements)
    : context_(std::move(context)),
      options_(options),
      elements_(elements),
      on_host_(executor.runs_on_host()) {
  constexpr std::int64_t line = 64;
  context_->all_or_none(tiles_construction, [&] {
    if (options_.tile_elements < line || options_.tile_elements % line != 0)
      throw Error(ErrorKind::usage,
                  fmt::format("tiles of {} elements: give a multiple of {}", options_.tile_elements, line));
  });
  // Also checks that all ranks use the same options.
  whole_ = std::make_unique<CollectivePlan>(
      context_, executor, AllreduceOptions{.operation = options.operation, .max_blocks = options.max_blocks},
      elements);
  const auto lines =
      context_->extremes({static_cast<int>(options_.tile_elements / line)}, tiles_construction).front();
  if (lines.smallest != lines.largest)
    throw Error(
        ErrorKind::usage,
        fmt::format("ranks make a TiledAllreduce of different tiles: {} elements on rank {}, {} on rank {}",
                    lines.smallest * line, lines.smallest_rank, lines.largest * line, lines.largest_rank));
  if (context_->size() == 1 || elements_.count == 0) {
    refusal_ = "there is nothing to combine";
    return;
  }
  refusal_ = refuse(executor);
  if (!refusal_.empty()) return;
  context_->make_mapping(on_host_, [&] { make_tiles(executor); });
}

void TilePlan::make_tiles(const Executor& executor) {
  TileParts made = parts(executor);
  if (made.views.empty()) {
    refusal_ = "the Views are in memory that other ranks can't map";
    return;
  }
  tiles_ = on_host_ ? make_host_tiles(std::move(made)) : make_device_tiles(std::move(made));
  whole_.reset();
}

/// Messages of a failed operation may still arrive. On GPUs as a CollectivePlan's.
TilePlan::~TilePlan() {
  if (in_flight_) context_->mark_broken();
  if (tiles_ == nullptr) return;
  tiles_.reset();
  if (!on_host_) context_->try_barrier();
}

std::string TilePlan::refuse(const Executor& executor) const {
  const int ranks = context_->size();
  if (!executor.runs_on_host() && ranks > most_allreduce_ranks)
    return fmt::format("kernels combine those of {} ranks at most", most_allreduce_ranks);
  for (int rank = 1; rank < ranks; ++rank) {
    if (!context_->machine().same_host(0, rank))
      return fmt::format("rank {} is on another host than rank 0", rank);
  }
  return context_->mapping_refusal(executor.runs_on_host() ? MemoryKind::host : MemoryKind::device);
}

TileParts TilePlan::parts(const Executor& executor) const {
  const AllreduceParts allreduce{.context = *context_,
                                 .executor = executor,
                                 .elements = elements_,
                                 .operation = options_.operation,
                                 .flow = {},
                                 .first_tag = 0,
                                 .max_blocks = options_.max_blocks};
  const auto bytes = static_cast<std::size_t>(elements_.count) * element_bytes(elements_.type);
  return {allreduce, options_.tile_elements,
          PeerBlocks(*context_, elements_.data, all_ranks(allreduce), bytes, elements_.memory,
                     tiles_construction)};
}

TiledAllreduce::Port TilePlan::port() const {
  TiledAllreduce::Port port;
  port.count_ = elements_.count;
  port.tile_elements_ = options_.tile_elements;
  port.rank_ = context_->rank();
  port.ranks_ = context_->size();
  if (tiles_ == nullptr) return port;
  port.owners_ = tiles_->owners();
  port.epoch_ = tiles_->epoch();
  return port;
}

void TilePlan::start(Executor& executor) {
  check();
  if (in_flight_)
    throw Error(ErrorKind::usage, "an operation of a TiledAllreduce is still in flight: finish() it first");
  in_flight_ = true;
  if (tiles_ != nullptr) tiles_->start(executor);
}

void TilePlan::finish(Executor& executor) {
  if (!in_flight_) throw Error(ErrorKind::usage, "finish() of a TiledAllreduce comes after start()");
  if (tiles_ == nullptr) {
    whole_->finish(executor, whole_->start(executor));
  } else {
    tiles_->finish(executor);
    wait_until(
        context_->timeout(), context_->yields(), [&] { return tiles_->progress(); },
        [&] { return fmt::format("{} in a TiledAllreduce", tiles_->describe_late()); });
  }
  in_flight_ = false;
}

void TilePlan::check() const {
  if (tiles_ != nullptr) return tiles_->check();
  whole_->check();
}

std::string TilePlan::explain() const {
  const std::int64_t tiles = (elements_.count + options_.tile_elements - 1) / options_.tile_elements;
  if (tiles_ != nullptr)
    return fmt::format("TiledAllreduce of {} between {}: {}\n", counted(tiles, "tile"),
                       counted(context_->size(), "rank"), tiles_->describe());
  return fmt::format("TiledAllreduce of {}: all are combined in finish(): {}; {}", counted(tiles, "tile"),
                     refusal_, whole_->explain());
}

}  // namespace selvage::detail
