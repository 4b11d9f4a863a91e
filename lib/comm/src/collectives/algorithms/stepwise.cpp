#include "stepwise.hpp"

#include <algorithm>
#include <utility>

namespace selvage::detail {

Stepwise::Stepwise(const AllreduceParts& parts, std::vector<int> group, const Shape& shape)
    : parts_(parts),
      shape_(shape),
      lockstep_(parts.context, parts.executor, std::move(group), shape.memory_bytes,
                "the construction of a collective") {}

void Stepwise::start(Executor& executor) {
  const std::int64_t segments = (shape_.elements + shape_.segment_elements - 1) / shape_.segment_elements;
  begin_ = steps_;
  end_ = begin_ + static_cast<std::uint64_t>(segments) * shape_.stages;
  static_cast<void>(progress(executor));
}

std::uint64_t Stepwise::required() const {
  if (steps_ == end_) return shape_.waits_at_end ? end_ : 0;
  if (steps_ % shape_.stages != 0) return steps_;
  return steps_ > shape_.lead ? steps_ - shape_.lead : 0;
}

bool Stepwise::progress(Executor& /*executor*/) {
  while (lockstep_.all_have_done(required())) {
    if (steps_ == end_) return true;
    const std::uint64_t made = steps_ - begin_;
    const std::int64_t begin = static_cast<std::int64_t>(made / shape_.stages) * shape_.segment_elements;
    const Segment segment{.begin = begin,
                          .count = std::min(shape_.segment_elements, shape_.elements - begin),
                          .number = steps_ / shape_.stages};
    if (!make(steps_ % shape_.stages, segment)) return false;
    lockstep_.publish(++steps_);
  }
  return false;
}

std::string Stepwise::describe_late() const {
  const std::string late = lockstep_.describe_late(required());
  return late.empty() ? describe_awaited() : late;
}

}  // namespace selvage::detail
