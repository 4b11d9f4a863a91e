#include "bucket_plan.hpp"

#include "mappable.hpp"
#include "wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::string_view construction = "the construction of GradientBuckets";
constexpr std::string_view first_step = "the first step of GradientBuckets";

std::int64_t width(ElementType type) {
  return static_cast<std::int64_t>(element_bytes(type));
}

}  // namespace

BucketPlan::BucketPlan(std::shared_ptr<ContextState> context, const GradientBucketsOptions& options,
                       std::vector<Elements> gradients, std::unique_ptr<BucketTimeline> timeline,
                       std::unique_ptr<Executor> communication, std::unique_ptr<Caster> caster)
    : context_(std::move(context)),
      options_(options),
      gradients_(std::move(gradients)),
      timeline_(std::move(timeline)),
      communication_(std::move(communication)),
      caster_(std::move(caster)),
      is_ready_(gradients_.size(), false) {
  context_->all_or_none(construction, [&] {
    context_->require_own_device(*communication_);
    if (options_.bucket_bytes < 1)
      throw Error(ErrorKind::usage,
                  fmt::format("buckets of {} bytes: give at least 1", options_.bucket_bytes));
    for (int i = 0; i < static_cast<int>(gradients_.size()); ++i) {
      if (gradients_[static_cast<std::size_t>(i)].count < 0)
        throw Error(ErrorKind::usage, fmt::format("{} has gaps between its elements: GradientBuckets need "
                                                  "gradients that are contiguous",
                                                  name_of(i)));
    }
  });
  require_same_everywhere();
}

std::string BucketPlan::name_of(int gradient) const {
  const std::string& label = gradients_[static_cast<std::size_t>(gradient)].label;
  return label.empty() ? fmt::format("gradient {}", gradient)
                       : fmt::format("gradient {} \"{}\"", gradient, label);
}

void BucketPlan::require_same_everywhere() const {
  constexpr std::int64_t unit = std::int64_t{1} << 30;
  const auto require = [&](const std::vector<int>& values, const auto& name) {
    const auto extremes = context_->extremes(values, construction);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (extremes[i].smallest == extremes[i].largest) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("ranks make GradientBuckets that differ in {}: rank {} and rank {}", name(i),
                              extremes[i].smallest_rank, extremes[i].largest_rank));
    }
  };
  require({static_cast<int>(gradients_.size()), static_cast<int>(options_.bucket_bytes / unit),
           static_cast<int>(options_.bucket_bytes % unit), options_.bf16_on_the_wire ? 1 : 0},
          [](std::size_t i) {
            constexpr std::array names{"the number of gradients", "bucket_bytes", "bucket_bytes",
                                       "bf16_on_the_wire"};
            return names.at(i);
          });
  std::vector<int> lengths;
  for (const Elements& gradient : gradients_) {
    lengths.push_back(static_cast<int>(gradient.count / unit));
    lengths.push_back(static_cast<int>(gradient.count % unit));
    lengths.push_back(static_cast<int>(gradient.type));
  }
  require(lengths, [&](std::size_t i) {
    return fmt::format("the {} of {}", i % 3 == 2 ? "element type" : "number of elements",
                       name_of(static_cast<int>(i / 3)));
  });
}

void BucketPlan::ready(const Executor& compute, int gradient) {
  check();
  if (gradient < 0 || gradient >= static_cast<int>(gradients_.size()))
    throw Error(ErrorKind::usage,
                fmt::format("gradient {} is ready: there are {}", gradient, gradients_.size()));
  if (is_ready_[static_cast<std::size_t>(gradient)])
    throw Error(ErrorKind::usage, fmt::format("{} is ready twice in step {}", name_of(gradient), step_));
  if (order_.empty()) {
    first_stream_ = compute.stream();
  } else if (compute.stream() != first_stream_) {
    timeline_->follow(compute.stream());
  }
  is_ready_[static_cast<std::size_t>(gradient)] = true;
  order_.push_back(gradient);
  if (buckets_.empty()) return;
  --buckets_[static_cast<std::size_t>(bucket_of_[static_cast<std::size_t>(gradient)])].missing;
  start_complete();
  static_cast<void>(progress());
}

void BucketPlan::finish(Executor& compute) {
  check();
  require_all_ready();
  if (!buckets_.empty()) timeline_->computed(compute.stream());
  if (buckets_.empty() && !gradients_.empty()) {
    make_buckets();
    timeline_->computed(compute.stream());
  }
  start_complete();
  wait_until(
      context_->timeout(), context_->yields(), [&] { return progress(); }, [&] { return describe_late(); });
  timeline_->join(compute.stream());
  begin_step();
  ++step_;
}

void BucketPlan::require_all_ready() const {
  const auto late = std::ranges::find(is_ready_, false);
  if (late == is_ready_.end()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "step {} of GradientBuckets is finished, but {} of {} gradients aren't ready: the first is {}",
          step_, std::ranges::count(is_ready_, false), is_ready_.size(),
          name_of(static_cast<int>(late - is_ready_.begin()))));
}

std::vector<int> BucketPlan::order_of_first_rank() const {
  std::string text(order_.size() * sizeof(int), '\0');
  std::memcpy(text.data(), order_.data(), text.size());
  text = context_->broadcast(text, first_step);
  std::vector<int> order(order_.size());
  std::memcpy(order.data(), text.data(), text.size());
  return order;
}

void BucketPlan::make_buckets() {
  bucket_of_.resize(gradients_.size());
  for (BucketLayout& layout :
       lay_out_buckets(gradients_, order_of_first_rank(), options_.bucket_bytes, options_.bf16_on_the_wire)) {
    const auto number = static_cast<int>(buckets_.size());
    for (const int gradient : layout.gradients) bucket_of_[static_cast<std::size_t>(gradient)] = number;
    Bucket& bucket = buckets_.emplace_back();
    bucket.layout = std::move(layout);
    std::byte* data = bucket.layout.in_place;
    if (data == nullptr && bucket.layout.count > 0) {
      context_->all_or_none(first_step, [&] {
        bucket.packed =
            allocate_mappable(*context_, *communication_,
                              static_cast<std::size_t>(bucket.layout.count * width(bucket.layout.wire)));
      });
      data = bucket.packed.data;
    }
    bucket.allreduce = std::make_unique<AllreducePlan>(
        context_, *communication_,
        AllreduceOptions{.operation = options_.operation,
                         .algorithm = options_.algorithm,
                         .multiprocessors = options_.multiprocessors,
                         .fast = options_.fast},
        Elements{.label = fmt::format("bucket {}", number),
                 .data = data,
                 .count = bucket.layout.count,
                 .type = bucket.layout.wire,
                 .memory = gradients_[static_cast<std::size_t>(bucket.layout.gradients.front())].memory});
  }
  timeline_->expect_buckets(static_cast<int>(buckets_.size()));
}

void BucketPlan::begin_step() {
  next_ = 0;
  order_.clear();
  is_ready_.assign(gradients_.size(), false);
  for (Bucket& bucket : buckets_) bucket.missing = static_cast<int>(bucket.layout.gradients.size());
}

/// On all ranks in the same order.
void BucketPlan::start_complete() {
  const auto is_complete = [&] {
    return next_ < static_cast<int>(buckets_.size()) &&
           buckets_[static_cast<std::size_t>(next_)].missing == 0;
  };
  if (!is_complete()) return;
  timeline_->follow(first_stream_);
  for (; is_complete(); ++next_) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(next_)];
    timeline_->begin(next_);
    move(bucket, Direction::in);
    bucket.epoch = bucket.allreduce->start(*communication_);
    bucket.is_done = false;
  }
}

bool BucketPlan::progress() {
  bool all = true;
  for (int number = 0; number < next_; ++number) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    if (bucket.is_done) continue;
    bucket.is_done = bucket.allreduce->poll(*communication_, bucket.epoch);
    all = all && bucket.is_done;
    if (!bucket.is_done) continue;
    move(bucket, Direction::out);
    timeline_->end(number);
  }
  return all;
}

std::string BucketPlan::describe_late() const {
  const auto late = std::ranges::find(buckets_, false, &Bucket::is_done);
  return late->allreduce->describe_late();
}

/// Between the gradients and where they are reduced.
void BucketPlan::move(const Bucket& bucket, Direction direction) {
  if (bucket.packed.data == nullptr) return;
  const BucketLayout& layout = bucket.layout;
  std::vector<CopyBox> boxes;
  for (std::size_t i = 0; i < layout.gradients.size(); ++i) {
    const Elements& gradient = gradients_[static_cast<std::size_t>(layout.gradients[i])];
    std::byte* const packed = bucket.packed.data + layout.offsets[i] * width(layout.wire);
    std::byte* const target = direction == Direction::in ? packed : gradient.data;
    const std::byte* const source = direction == Direction::in ? gradient.data : packed;
    if (layout.wire == layout.type) {
      CopyBox box{.source = source, .target = target, .element_bytes = width(layout.type)};
      box.extents[3] = gradient.count;
      box.source_strides[3] = box.target_strides[3] = box.element_bytes;
      boxes.push_back(box);
    } else if (direction == Direction::in) {
      caster_->narrow_elements(target, source, gradient.count);
    } else {
      caster_->widen_elements(target, source, gradient.count);
    }
  }
  communication_->copy(boxes);
}

void BucketPlan::check() const {
  for (const Bucket& bucket : buckets_) bucket.allreduce->check();
}

std::vector<BucketReport> BucketPlan::report() const {
  std::vector<BucketReport> reports;
  for (int number = 0; number < static_cast<int>(buckets_.size()); ++number) {
    const Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    const BucketTimeline::Times times = timeline_->times(number);
    reports.push_back({.gradients = bucket.layout.gradients,
                       .bytes = bucket.layout.count * width(bucket.layout.wire),
                       .is_in_place = bucket.layout.in_place != nullptr,
                       .algorithm = bucket.allreduce->algorithm(),
                       .seconds = times.total,
                       .hidden = times.total - times.exposed,
                       .exposed = times.exposed});
  }
  return reports;
}

}  // namespace selvage::detail
