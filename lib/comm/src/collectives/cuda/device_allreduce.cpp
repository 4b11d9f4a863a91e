#include "collectives/algorithms/device_allreduce.hpp"

#include "collectives/algorithms/fold.hpp"
#include "device_collective.hpp"

namespace selvage::detail {
namespace {

/// Between ranks that store into each other's scratch only.
class ThroughScratch final : public DeviceAllreduce {
 public:
  struct Shape {
    std::int64_t line_bytes;
    std::int64_t line_words;  ///< of elements
    int lanes;                ///< threads of a line
    bool
        is_by_parts;  ///< a rank's lines are of a part of the elements, twice: before and after they are combined
  };
  ThroughScratch(const AllreduceParts& parts, AllreduceKernel kernel, const Shape& shape)
      : DeviceAllreduce(parts, kernel) {
    constexpr std::int64_t lanes_per_warp = 32;
    constexpr std::int64_t parities = 2;
    program_.elements[program_.rank] = parts.elements.data;
    program_.is_aligned = is_aligned(parts.elements.data);
    const std::int64_t words = divided(bytes(), element_word_bytes);
    const std::int64_t lines_per_warp = lanes_per_warp / shape.lanes;
    program_.lines = divided(divided(words, shape.is_by_parts ? program_.ranks : 1), shape.line_words);
    program_.lines = divided(program_.lines, lines_per_warp) * lines_per_warp;
    const std::int64_t rows = parities * (shape.is_by_parts ? 2 : 1) * program_.ranks;
    scratch_ = PeerBlocks(parts.context, parts.executor, all_ranks(parts),
                          static_cast<std::size_t>(rows * program_.lines * shape.line_bytes),
                          collective_construction);
    for (int rank = 0; rank < program_.ranks; ++rank) program_.scratch[rank] = scratch_.of(rank);
    if (shape.is_by_parts) {
      set_even_grid(program_.lines * shape.lanes);
    } else {
      set_grid(program_.lines * shape.lanes);
    }
    load();
  }

 private:
  PeerBlocks scratch_;
};

constexpr BetweenElements::Shape by_rings{
    .most_blocks = push_blocks, .packs_per_thread = 2, .scratch_bytes = ring_slot_bytes};

constexpr ThroughScratch::Shape ll{
    .line_bytes = ll_packet_bytes, .line_words = ll_packet_words, .lanes = 1, .is_by_parts = false};
/// Partial results travel in as many packets as they are longer than elements.
ThroughScratch::Shape ll_partial(ElementType type) {
  ThroughScratch::Shape shape = ll;
  shape.line_bytes *= static_cast<std::int64_t>(accumulator_bytes(type) / element_bytes(type));
  return shape;
}
constexpr ThroughScratch::Shape ll128{
    .line_bytes = ll128_line_bytes, .line_words = ll128_line_words, .lanes = 8, .is_by_parts = false};
constexpr ThroughScratch::Shape ll128_by_parts{
    .line_bytes = ll128_line_bytes, .line_words = ll128_line_words, .lanes = 8, .is_by_parts = true};

std::unique_ptr<AllreduceRunner> make_two_shot_push(const AllreduceParts& parts) {
  const std::int64_t bytes =
      parts.elements.count * static_cast<std::int64_t>(element_bytes(parts.elements.type));
  const int ranks = parts.context.size();
  const int packs = push_packs(ranks, divided(bytes, pack_bytes * ranks * push_blocks));
  return std::make_unique<BetweenElements>(
      parts, two_shot_push_kernel(packs),
      BetweenElements::Shape{.most_blocks = push_blocks,
                             .packs_per_thread = 1,
                             .scratch_bytes = push_slots * push_chunk_bytes(packs)});
}

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_allreduce(AllreduceAlgorithm algorithm,
                                                       const AllreduceParts& parts) {
  using Runner = std::unique_ptr<AllreduceRunner>;
  const auto through_scratch = [&](AllreduceKernel kernel, const ThroughScratch::Shape& shape) -> Runner {
    return std::make_unique<ThroughScratch>(parts, kernel, shape);
  };
  const auto between_elements = [&](AllreduceKernel kernel, const BetweenElements::Shape& shape) -> Runner {
    return std::make_unique<BetweenElements>(parts, kernel, shape);
  };
  switch (algorithm) {
    using enum AllreduceAlgorithm;
    case one_shot:
      return through_scratch(one_shot_ll_kernel(), ll);
    case one_shot_ll128:
      return through_scratch(one_shot_ll128_kernel(), ll128);
    case two_shot:
      return between_elements(parts.flow.combines() ? two_shot_kernel() : gather_kernel(), by_loads);
    case two_shot_ll128:
      return through_scratch(two_shot_ll128_kernel(), ll128_by_parts);
    case two_shot_push:
      return make_two_shot_push(parts);
    case two_shot_copy_engine:
      return make_engine_allreduce(parts, false);
    case copy_engine:
      return make_engine_allreduce(parts, true);
    case recursive_doubling_ll:
      return through_scratch(recursive_doubling_ll_kernel(), ll_partial(parts.elements.type));
    case multi_ring:
      return between_elements(multi_ring_kernel(), by_rings);
    default:
      throw Error(ErrorKind::unsupported, fmt::format("{} is not for GPUs", to_string(algorithm)));
  }
}

}  // namespace selvage::detail
