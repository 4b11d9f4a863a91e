#include "sgd/sums/tiled_sum.hpp"

#include "sgd/sums/fixed_point.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace selvage::sgd {
namespace {

/// Enough for a tile's stores to outweigh its flag, few enough that a layer of some thousand units has tiles for all ranks.
constexpr std::int64_t tile_elements = 16 * 1024;

using Teams = Kokkos::TeamPolicy<Space>;

/// A team per tile.
struct AddTile {
  Vector<float> grain;
  Vector<std::int64_t> fixed;  ///< empty where sums are fast
  std::int64_t first;          ///< of the layer's elements
  std::int64_t first_of_bias;
  int weight;  ///< tensors, for the figures
  int bias;
  StepFigures figures;
  TiledAllreduce::Port port;
  bool publishes;

  KOKKOS_FUNCTION void operator()(const Teams::member_type& team) const {
    const std::int64_t tile = team.league_rank();
    const ElementRange range = port.elements(tile);
    if (fixed.extent(0) > 0) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, range.count),
                           [&](const std::int64_t i) { add(first + range.begin + i); });
    }
    if (publishes) port.publish(team, tile);
  }
  KOKKOS_FUNCTION void add(std::int64_t i) const {
    if (fixed_point::fits(grain(i))) {
      fixed(i) += fixed_point::from_real(grain(i));
    } else {
      figures.mark(StepFigures::unusable_tensor, i < first_of_bias ? weight : bias);
    }
  }
};

template <class T>
Vector<T> layer_of(const Vector<T>& whole, const TiledSum::Parts& parts) {
  return Kokkos::subview(whole, std::pair(parts.tensors[parts.first].begin,
                                          parts.tensors.back().begin + parts.tensors.back().count));
}

TiledAllreduce make_tiled(const Space& space, const Context& context, int multiprocessors,
                          const TiledSum::Parts& parts) {
  TiledAllreduce::Options options{.tile_elements = tile_elements};
  if (multiprocessors > 0) options.max_blocks = multiprocessors;
  if (parts.fixed.extent(0) > 0) return {space, context, layer_of(parts.fixed, parts), options};
  return {space, context, layer_of(parts.grain, parts), options};
}

}  // namespace

TiledSum::TiledSum(const Space& space, const Context& context, int multiprocessors, const Parts& parts)
    : parts_(parts), ranks_(context.size()), tiled_(make_tiled(space, context, multiprocessors, parts)) {}

template <class Work>
void TiledSum::naming_tensors(const Work& work) const {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::timeout) throw;
    throw Error(error.kind(), fmt::format("{}; its tiles hold {} and {}", error.message(),
                                          parts_.tensors[parts_.first].name, parts_.tensors.back().name));
  }
}

void TiledSum::add(const Space& space, const StepFigures& figures, bool is_last) {
  const bool is_ordered = parts_.fixed.extent(0) > 0;
  if (!is_ordered && !is_last) return;
  if (is_last) tiled_.start(space);
  const AddTile work{.grain = parts_.grain,
                     .fixed = parts_.fixed,
                     .first = parts_.tensors[parts_.first].begin,
                     .first_of_bias = parts_.tensors.back().begin,
                     .weight = static_cast<int>(parts_.first),
                     .bias = static_cast<int>(parts_.tensors.size()) - 1,
                     .figures = figures,
                     .port = tiled_.device(),
                     .publishes = is_last};
  Kokkos::parallel_for("sgd::add_tiles",
                       Teams(space, static_cast<int>(work.port.tiles()), on_host ? 1 : 256, 1), work);
}

void TiledSum::finish(const Space& space) {
  naming_tensors([&] { tiled_.finish(space); });
}

void TiledSum::check() const {
  naming_tensors([&] { tiled_.check(); });
}

std::string TiledSum::explain() const {
  return fmt::format("the last layer's gradients: {}", tiled_.explain());
}

}  // namespace selvage::sgd
