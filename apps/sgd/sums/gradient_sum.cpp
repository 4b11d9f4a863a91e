#include "sgd/sums/gradient_sum.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace selvage::sgd {
namespace {

/// Each reaches to the next one, so that those of a bucket follow each other, and travel from where they lie.
template <class T>
std::vector<Vector<T>> parts_of(const Vector<T>& whole, const std::vector<Tensor>& tensors) {
  std::vector<Vector<T>> parts;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t end =
        i + 1 < tensors.size() ? tensors[i + 1].begin : tensors[i].begin + tensors[i].count;
    parts.push_back(Kokkos::subview(whole, std::pair(tensors[i].begin, end)));
  }
  return parts;
}

/// What a sum takes is lost to the products beside it; a single bucket has nothing beside it. A large product is whole
/// waves of 128 of an H200's 132 multiprocessors, which leave four.
constexpr int multiprocessors_beside_products = 4;

struct AddGrain {
  Vector<float> grain;
  Vector<std::int64_t> fixed;
  StepFigures figures;
  int tensor;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    if (fixed_point::fits(grain(i))) {
      fixed(i) += fixed_point::from_real(grain(i));
    } else {
      figures.mark(StepFigures::unusable_tensor, tensor);
    }
  }
};

}  // namespace

GradientSum::GradientSum(const Space& space, const Context& context, const Settings& settings,
                         const Plan& plan)
    : ordered_(settings.ordered),
      overlap_(settings.overlap),
      tensors_(plan.tensors),
      bucketed_(settings.tiles ? plan.first_of_last_layer : plan.tensors.size()),
      sharding_(plan.sharding) {
  const auto count = static_cast<std::size_t>(end());
  const auto allocate = [&]<class T>(Vector<T>& values, const std::string& label, bool is_mapped) {
    const MappableVector<T> made = make_vector<T>(context, label, count, is_mapped);
    memory_.push_back(made.owner);
    values = made.elements;
  };
  allocate(grain_, "sgd: gradients", settings.tiles && !ordered_);
  if (ordered_) allocate(fixed_, "sgd: gradients in fixed point", settings.tiles);
  const auto bytes = static_cast<std::int64_t>(count * (ordered_ ? sizeof(std::int64_t) : sizeof(float)));
  const int multiprocessors =
      settings.multiprocessors.value_or(bytes > settings.bucket_bytes ? multiprocessors_beside_products : 0);
  make_buckets(space, context, settings, multiprocessors);
  if (settings.tiles)
    tiles_.emplace(space, context, multiprocessors,
                   TiledSum::Parts{grain_, fixed_, tensors_, plan.first_of_last_layer});
}

void GradientSum::make_buckets(const Space& space, const Context& context, const Settings& settings,
                               int multiprocessors) {
  GradientBuckets::Options options;
  options.operation = ReduceOperation::sum;
  options.allow_reordering = !settings.ordered;
  options.max_blocks = multiprocessors;
  options.bucket_bytes = settings.bucket_bytes;
  options.bf16_on_the_wire = settings.bf16_on_the_wire;
  buckets_ = std::make_unique<GradientBuckets>(ordered_ ? buckets_of(space, context, options, fixed_)
                                                        : buckets_of(space, context, options, grain_));
}

template <class T>
GradientBuckets GradientSum::buckets_of(const Space& space, const Context& context,
                                        const GradientBuckets::Options& options,
                                        const Vector<T>& values) const {
  const std::vector<Tensor> bucketed(tensors_.begin(),
                                     tensors_.begin() + static_cast<std::ptrdiff_t>(bucketed_));
  if (!sharding_) return {space, context, options, parts_of(values, bucketed)};
  const auto update = [bucketed, apply = sharding_->update](const Space& instance, int gradient,
                                                            const ElementRange& shard) {
    apply(instance, bucketed[static_cast<std::size_t>(gradient)].begin + shard.begin, shard.count);
  };
  return ShardedBuckets(space, context, options, parts_of(values, bucketed),
                        parts_of(sharding_->parameters, bucketed), update);
}

void GradientSum::begin(const Space& space) {
  if (ordered_) Kokkos::deep_copy(space, fixed_, 0);
}

void GradientSum::add(const Space& space, std::size_t tensor, const StepFigures& figures) {
  if (!ordered_) return;
  const std::int64_t begin = tensors_[tensor].begin;
  Kokkos::parallel_for("sgd::add_grain",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                           space, begin, begin + tensors_[tensor].count),
                       AddGrain{grain_, fixed_, figures, static_cast<int>(tensor)});
}

bool GradientSum::can_be_captured() const {
  using enum AllreduceAlgorithm;
  constexpr std::array by_kernels{one_shot,       one_shot_ll128,        two_shot,
                                  two_shot_ll128, two_shot_push,         two_shot_copy_engine,
                                  copy_engine,    recursive_doubling_ll, multi_ring};
  if (tiles_ && !tiles_->can_be_captured()) return false;
  return std::ranges::all_of(buckets_->report(), [&](const GradientBuckets::Report& bucket) {
    return std::ranges::find(by_kernels, bucket.algorithm) != by_kernels.end();
  });
}

std::string GradientSum::tensors_of(const GradientBuckets::Report& bucket) const {
  const auto name = [&](int gradient) { return tensors_[static_cast<std::size_t>(gradient)].name; };
  if (bucket.gradients.size() == 1) return name(bucket.gradients.front());
  return fmt::format("{} to {}", name(bucket.gradients.front()), name(bucket.gradients.back()));
}

template <class Work>
void GradientSum::naming_tensors(const Work& work) const {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::timeout) throw;
    for (std::size_t bucket = bucket_tensors_.size(); bucket-- > 0;) {
      if (error.message().find(fmt::format("bucket {}", bucket)) == std::string::npos) continue;
      throw Error(error.kind(),
                  fmt::format("{}; bucket {} holds {}", error.message(), bucket, bucket_tensors_[bucket]));
    }
    throw;
  }
}

void GradientSum::ready(const Space& space, std::size_t tensor) {
  if (!overlap_) return held_back_.push_back(tensor);
  naming_tensors([&] { buckets_->ready(space, static_cast<int>(tensor)); });
}

void GradientSum::send_held_back(const Space& space) {
  for (const std::size_t tensor : held_back_) buckets_->ready(space, static_cast<int>(tensor));
  held_back_.clear();
}

std::int64_t GradientSum::finish_all_but_last(const Space& space) {
  if (tiles_ || sharding_) return end();
  std::span<const int> last;
  naming_tensors([&] {
    send_held_back(space);
    last = buckets_->finish_all_but_last(space);
  });
  if (last.empty()) return 0;
  const auto behind = static_cast<std::size_t>(std::ranges::max(last)) + 1;
  // Another order of readiness would leave gaps.
  return behind == last.size() && behind < tensors_.size() ? tensors_[behind].begin : end();
}

void GradientSum::finish(const Space& space) {
  naming_tensors([&] {
    send_held_back(space);
    buckets_->finish(space);
  });
  if (tiles_) tiles_->finish(space);
  if (!bucket_tensors_.empty()) return;
  for (const GradientBuckets::Report& bucket : buckets_->report())
    bucket_tensors_.push_back(tensors_of(bucket));
}

void GradientSum::check() const {
  naming_tensors([&] { buckets_->check(); });
  if (tiles_) tiles_->check();
}

}  // namespace selvage::sgd
