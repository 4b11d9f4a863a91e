#pragma once

#include "sgd/cli/settings.hpp"
#include "sgd/step_figures.hpp"
#include "sgd/sums/gradient_sum.hpp"

#include <selvage/comm/context.hpp>

#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// The communication of a model without its arithmetic: gradients are written as whole numbers, whose sums are exact,
/// and become ready from the last to the first.
class Synthetic {
 public:
  /// Collective. \param space  an instance of make_instance()
  Synthetic(const Space& space, const Context& context, const Settings& settings,
            std::vector<Tensor> tensors);

  /// Writes and adds up the gradients of a step: enqueued on GPUs. Collective.
  void step(std::int64_t step);
  /// The two parts of it: writes, on this rank; and adds up over ranks what the tensors hold, collective.
  void write(std::int64_t step);
  void exchange();
  /// Of the sums of `step`, on this rank; waits. \throws Error{timeout} that names a late rank
  [[nodiscard]] std::int64_t count_wrong(std::int64_t step) const;
  /// So that exchange() adds up nothing but zeros.
  void clear();

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::int64_t parameters() const { return tensors_.back().begin + tensors_.back().count; }
  [[nodiscard]] const GradientSum& gradients() const { return gradients_; }

 private:
  void write_tensor(std::int64_t step, std::size_t tensor);

  Space space_;
  Context context_;
  std::vector<Tensor> tensors_;
  GradientSum gradients_;
  StepFigures figures_;
};

}  // namespace selvage::sgd
