#pragma once

#include "sgd/model/model.hpp"
#include "sgd/model/space.hpp"
#include "sgd/step_figures.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/tiled_allreduce.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::sgd {

/// The sums of the last layer's gradients over grains and ranks: the kernel that adds the last grain publishes them tile by
/// tile, and a tile is added up over ranks as soon as all have published it.
///
/// Ordered, that kernel adds a grain's gradients in fixed point. Fast, a library's product has written the sums, and the
/// kernel only publishes.
class TiledSum {
 public:
  struct Parts {
    Vector<float> grain;         ///< of all tensors; fast, also the sums
    Vector<std::int64_t> fixed;  ///< sums of all tensors; empty where they are fast
    std::vector<Tensor> tensors;
    std::size_t first;  ///< the first of the last layer's tensors, which come last
  };
  /// Collective over the context's communicator. \param multiprocessors  of a GPU, that combine tiles
  TiledSum(const Space& space, const Context& context, int multiprocessors, const Parts& parts);

  /// Adds the grain's gradients by the layer. \param is_last  of this rank's grains: publishes
  void add(const Space& space, const StepFigures& figures, bool is_last);
  /// What `space` is given next sees sums over all ranks. Collective. \throws Error{timeout} that names tensors and rank
  void finish(const Space& space);

  void check() const;
  /// Only for a rank alone, which has nothing to combine: kernels that combine tiles wait for the one that publishes them,
  /// and CUDA doesn't promise that branches of a graph run beside each other.
  [[nodiscard]] bool can_be_captured() const { return ranks_ == 1; }
  /// How tiles are combined.
  [[nodiscard]] std::string explain() const;

 private:
  template <class Work>
  void naming_tensors(const Work& work) const;

  Parts parts_;
  int ranks_;
  TiledAllreduce tiled_;
};

}  // namespace selvage::sgd
