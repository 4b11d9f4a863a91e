#include "bucket_plan.hpp"

#include "runtime/mappable.hpp"
#include "runtime/wait.hpp"

#include <selvage/counted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::string_view buckets_construction = "the construction of GradientBuckets";
constexpr std::string_view first_step = "the first step of GradientBuckets";

/// The values of the first rank. Collective.
template <class T>
std::vector<T> broadcast(ContextState& context, const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  text = context.broadcast(text, first_step);
  std::vector<T> received(values.size());
  std::memcpy(received.data(), text.data(), text.size());
  return received;
}

}  // namespace

BucketPlan::BucketPlan(std::shared_ptr<ContextState> context, const GradientBuckets::Options& options,
                       BucketParts&& parts)
    : context_(std::move(context)),
      options_(options),
      parts_(std::move(parts)),
      is_ready_(parts_.gradients.size(), false) {
  context_->all_or_none(buckets_construction, [&] {
    context_->require_own_device(*parts_.communication);
    if (options_.bucket_bytes < 1)
      throw Error(ErrorKind::usage,
                  fmt::format("buckets of {} bytes: give at least 1", options_.bucket_bytes));
    for (int i = 0; i < static_cast<int>(parts_.gradients.size()); ++i) {
      if (parts_.gradients[static_cast<std::size_t>(i)].count < 0)
        throw Error(ErrorKind::usage, fmt::format("{} has gaps between its elements: GradientBuckets need "
                                                  "gradients that are contiguous",
                                                  name_of(i)));
    }
    if (is_sharded()) require_parameters();
  });
  require_same_everywhere();
  // Makes a collective like those of the buckets, without elements, so that options that differ or are impossible are found here and not in
  // a step.
  static_cast<void>(make_collective({}, reduction()));
}

void BucketPlan::require_parameters() const {
  if (parts_.parameters.size() != parts_.gradients.size())
    throw Error(ErrorKind::usage, fmt::format("ShardedBuckets of {} gradients and {} parameters",
                                              parts_.gradients.size(), parts_.parameters.size()));
  for (int i = 0; i < static_cast<int>(parts_.parameters.size()); ++i) {
    const Elements& parameter = parts_.parameters[static_cast<std::size_t>(i)];
    if (parameter.count != parts_.gradients[static_cast<std::size_t>(i)].count)
      throw Error(ErrorKind::usage,
                  fmt::format("the parameter of {} has {} elements in a row, not {}", name_of(i),
                              parameter.count, parts_.gradients[static_cast<std::size_t>(i)].count));
    if (parameter.type != parts_.parameters.front().type)
      throw Error(ErrorKind::usage, "the parameters of ShardedBuckets are of different types");
  }
}

std::string BucketPlan::name_of(int gradient) const {
  const std::string& label = parts_.gradients[static_cast<std::size_t>(gradient)].label;
  return label.empty() ? fmt::format("gradient {}", gradient)
                       : fmt::format("gradient {} \"{}\"", gradient, label);
}

void BucketPlan::require_same_everywhere() const {
  constexpr std::int64_t unit = std::int64_t{1} << 30;
  const auto type_name = [](int type) {
    return type < 0 ? "none" : std::string(to_string(static_cast<ElementType>(type)));
  };
  const auto require = [&](const std::vector<int>& values, const auto& name, const auto& text) {
    const auto extremes = context_->extremes(values, buckets_construction);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& [smallest, smallest_rank, largest, largest_rank] = extremes[i];
      if (smallest == largest) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("ranks make GradientBuckets that differ in {}: {} on rank {}, {} on rank {}",
                              name(i), text(i, smallest), smallest_rank, text(i, largest), largest_rank));
    }
  };
  constexpr std::array options{"the number of gradients", "bucket_bytes, in units of 2^30", "bucket_bytes",
                               "bf16_on_the_wire", "the parameters' type"};
  const int parameter_type =
      parts_.parameters.empty() ? -1 : static_cast<int>(parts_.parameters.front().type);
  require(
      {static_cast<int>(parts_.gradients.size()), static_cast<int>(options_.bucket_bytes / unit),
       static_cast<int>(options_.bucket_bytes % unit), options_.bf16_on_the_wire ? 1 : 0, parameter_type},
      [&](std::size_t i) { return options.at(i); },
      [&](std::size_t i, int value) { return i == 4 ? type_name(value) : std::to_string(value); });
  std::vector<int> lengths;
  for (const Elements& gradient : parts_.gradients) {
    lengths.push_back(static_cast<int>(gradient.count / unit));
    lengths.push_back(static_cast<int>(gradient.count % unit));
    lengths.push_back(static_cast<int>(gradient.type));
  }
  require(
      lengths,
      [&](std::size_t i) {
        constexpr std::array facts{"number of elements, in units of 2^30,", "number of elements",
                                   "element type"};
        return fmt::format("the {} of {}", facts.at(i % 3), name_of(static_cast<int>(i / 3)));
      },
      [&](std::size_t i, int value) { return i % 3 == 2 ? type_name(value) : std::to_string(value); });
}

void BucketPlan::ready(const Executor& compute, int gradient) {
  error_.require_none("GradientBuckets");
  check();
  if (gradient < 0 || gradient >= static_cast<int>(parts_.gradients.size()))
    throw Error(ErrorKind::usage,
                fmt::format("gradient {} is ready: there are {}", gradient, parts_.gradients.size()));
  if (is_ready_[static_cast<std::size_t>(gradient)])
    throw Error(ErrorKind::usage, fmt::format("{} is ready twice in step {}", name_of(gradient), step_));
  if (order_.empty()) {
    first_stream_ = compute.stream();
  } else if (compute.stream() != first_stream_) {
    parts_.timeline->follow(compute.stream());
  }
  is_ready_[static_cast<std::size_t>(gradient)] = true;
  order_.push_back(gradient);
  if (buckets_.empty()) return;
  --buckets_[static_cast<std::size_t>(bucket_of_[static_cast<std::size_t>(gradient)])].missing;
  start_complete();
  static_cast<void>(progress(next_));
}

std::span<const int> BucketPlan::finish_all_but_last(const Executor& compute) {
  check();
  require_all_ready();
  if (parts_.gradients.empty()) return {};
  if (buckets_.empty()) make_buckets();
  start_complete();
  if (const int before_last = static_cast<int>(buckets_.size()) - 1; before_last > 0) {
    wait_for(before_last);
    // With messages, buckets may be complete in another order.
    for (int number = 0; number < before_last; ++number)
      parts_.timeline->join_bucket(compute.stream(), number);
  }
  return buckets_.back().layout.gradients;
}

void BucketPlan::finish(Executor& compute) {
  check();
  require_all_ready();
  if (!buckets_.empty()) parts_.timeline->computed(compute.stream());
  if (buckets_.empty() && !parts_.gradients.empty()) {
    make_buckets();
    parts_.timeline->computed(compute.stream());
  }
  start_complete();
  wait_for(next_);
  parts_.timeline->join(compute.stream());
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

/// Gradients may lie differently in memory on each rank: the first rank's order counts.
void BucketPlan::agree_offsets(std::vector<BucketLayout>& layouts) const {
  std::vector<std::int64_t> offsets;
  for (const BucketLayout& layout : layouts)
    offsets.insert(offsets.end(), layout.offsets.begin(), layout.offsets.end());
  offsets = broadcast(*context_, offsets);
  auto next = offsets.begin();
  for (BucketLayout& layout : layouts) {
    for (std::int64_t& offset : layout.offsets) offset = *next++;
  }
}

/// Makes all buckets or none, so that after an error there is no incomplete bucket.
void BucketPlan::make_buckets() {
  std::vector<Bucket> buckets;
  bucket_of_.resize(parts_.gradients.size());
  std::vector<BucketLayout> layouts = lay_out_buckets(parts_.gradients, broadcast(*context_, order_),
                                                      options_.bucket_bytes, options_.bf16_on_the_wire);
  agree_offsets(layouts);
  for (BucketLayout& layout : layouts) {
    const auto number = static_cast<int>(buckets.size());
    for (const int gradient : layout.gradients) bucket_of_[static_cast<std::size_t>(gradient)] = number;
    Bucket& bucket = buckets.emplace_back();
    bucket.layout = std::move(layout);
    bucket.gradients = BucketContents(*context_, *parts_.communication, parts_.gradients, bucket.layout,
                                      bucket.layout.wire, first_step);
    bucket.reduction =
        make_collective(bucket.gradients.as_elements(fmt::format("bucket {}", number)), reduction());
    if (!is_sharded()) continue;
    bucket.parameters = BucketContents(*context_, *parts_.communication, parts_.parameters, bucket.layout,
                                       parts_.parameters.front().type, first_step);
    bucket.gathering =
        make_collective(bucket.parameters.as_elements(fmt::format("the parameters of bucket {}", number)),
                        CollectiveKind::all_gather);
  }
  buckets_ = std::move(buckets);
  parts_.timeline->expect_buckets(static_cast<int>(buckets_.size()));
}

int BucketPlan::max_blocks() const {
  constexpr int about_enough_to_fill_links = 12;
  return options_.max_blocks.value_or(about_enough_to_fill_links);
}

std::unique_ptr<CollectivePlan> BucketPlan::make_collective(const Elements& elements,
                                                            CollectiveKind kind) const {
  return std::make_unique<CollectivePlan>(context_, *parts_.communication,
                                          AllreduceOptions{.operation = options_.operation,
                                                           .algorithm = options_.algorithm,
                                                           .max_blocks = max_blocks(),
                                                           .allow_reordering = options_.allow_reordering},
                                          elements, Flow{kind});
}

void BucketPlan::begin_step() {
  next_ = 0;
  order_.clear();
  is_ready_.assign(parts_.gradients.size(), false);
  for (Bucket& bucket : buckets_) bucket.missing = static_cast<int>(bucket.layout.gradients.size());
}

/// Called on all ranks in the same order.
void BucketPlan::start_complete() {
  const auto is_complete = [&] {
    return next_ < static_cast<int>(buckets_.size()) &&
           buckets_[static_cast<std::size_t>(next_)].missing == 0;
  };
  if (!is_complete()) return;
  parts_.timeline->follow(first_stream_);
  for (; is_complete(); ++next_) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(next_)];
    parts_.timeline->begin(next_);
    bucket.gradients.pack(*parts_.communication, *parts_.caster, {0, bucket.layout.count});
    bucket.epoch = bucket.reduction->start(*parts_.communication);
    bucket.stage = BucketStage::reducing;
    // On a device this enqueues all of it, in the same order on all ranks.
    if (progress(bucket)) parts_.timeline->end(next_);
  }
}

void BucketPlan::wait_for(int count) {
  error_.noting(*context_, [&] {
    wait_until(
        context_->timeout(), context_->yields(), [&] { return progress(count); },
        [&] { return describe_late(); });
  });
}

bool BucketPlan::progress(int count) {
  bool are_done = true;
  for (int number = 0; number < next_; ++number) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    if (bucket.stage == BucketStage::done) continue;
    if (progress(bucket)) {
      parts_.timeline->end(number);
    } else if (number < count) {
      are_done = false;
    }
  }
  return are_done;
}

bool BucketPlan::progress(Bucket& bucket) {
  if (bucket.stage == BucketStage::reducing && bucket.reduction->poll(*parts_.communication, bucket.epoch))
    conclude_reduction(bucket);
  if (bucket.stage == BucketStage::gathering && bucket.gathering->poll(*parts_.communication, bucket.epoch)) {
    bucket.parameters.unpack(*parts_.communication, *parts_.caster, {0, bucket.layout.count});
    bucket.stage = BucketStage::done;
  }
  return bucket.stage == BucketStage::done;
}

void BucketPlan::conclude_reduction(Bucket& bucket) {
  if (bucket.gathering == nullptr) {
    bucket.gradients.unpack(*parts_.communication, *parts_.caster, {0, bucket.layout.count});
    bucket.stage = BucketStage::done;
    return;
  }
  const ElementRange own = bucket.reduction->part(context_->rank());
  bucket.gradients.unpack(*parts_.communication, *parts_.caster, own);
  update(bucket, own);
  bucket.parameters.pack(*parts_.communication, *parts_.caster, own);
  bucket.epoch = bucket.gathering->start(*parts_.communication);
  bucket.stage = BucketStage::gathering;
}

void BucketPlan::update(const Bucket& bucket, const ElementRange& own) const {
  for (std::size_t i = 0; i < bucket.layout.gradients.size(); ++i) {
    const int gradient = bucket.layout.gradients[i];
    const std::int64_t offset = bucket.layout.offsets[i];
    const std::int64_t begin = std::max(own.begin, offset);
    const std::int64_t end =
        std::min(own.begin + own.count, offset + parts_.gradients[static_cast<std::size_t>(gradient)].count);
    if (begin < end) parts_.update->apply(gradient, {begin - offset, end - begin});
  }
}

std::string BucketPlan::describe_late() const {
  const auto late =
      std::ranges::find_if(buckets_, [](const Bucket& bucket) { return bucket.stage != BucketStage::done; });
  return (late->stage == BucketStage::reducing ? late->reduction : late->gathering)->describe_late();
}

void BucketPlan::check() const {
  for (const Bucket& bucket : buckets_) {
    bucket.reduction->check();
    if (bucket.gathering != nullptr) bucket.gathering->check();
  }
}

std::vector<GradientBuckets::Report> BucketPlan::report() const {
  std::vector<GradientBuckets::Report> reports;
  for (int number = 0; number < static_cast<int>(buckets_.size()); ++number) {
    const Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    const BucketTimeline::Times times = parts_.timeline->times(number);
    reports.push_back({.gradients = bucket.layout.gradients,
                       .bytes = bucket.layout.count * width(bucket.layout.wire),
                       .is_in_place = bucket.gradients.is_in_place(),
                       .algorithm = bucket.reduction->algorithm(),
                       .seconds = times.total,
                       .hidden = times.total - times.exposed,
                       .exposed = times.exposed});
  }
  return reports;
}

std::string BucketPlan::explain() const {
  std::string text;
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    const Bucket& bucket = buckets_[number];
    const std::size_t count = bucket.layout.gradients.size();
    text += fmt::format("bucket {}, {}{}: {}", number, counted(count, "gradient"),
                        bucket.gradients.is_in_place() ? "" : ", packed", bucket.reduction->explain());
    if (bucket.gathering != nullptr)
      text += fmt::format("the parameters of bucket {}: {}", number, bucket.gathering->explain());
  }
  return text;
}

}  // namespace selvage::detail
