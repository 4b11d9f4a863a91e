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

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, one_shot_ll_kernel(), ll);
}
std::unique_ptr<AllreduceRunner> make_one_shot_ll128(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, one_shot_ll128_kernel(), ll128);
}
std::unique_ptr<AllreduceRunner> make_two_shot_ll128(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, two_shot_ll128_kernel(), ll128_by_parts);
}
std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts& parts) {
  const AllreduceKernel kernel = parts.flow.combines() ? two_shot_kernel() : gather_kernel();
  return std::make_unique<BetweenElements>(parts, kernel, by_loads);
}
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
std::unique_ptr<AllreduceRunner> make_recursive_doubling_ll(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, recursive_doubling_ll_kernel(),
                                          ll_partial(parts.elements.type));
}
std::unique_ptr<AllreduceRunner> make_multi_ring(const AllreduceParts& parts) {
  return std::make_unique<BetweenElements>(parts, multi_ring_kernel(), by_rings);
}

}  // namespace selvage::detail
