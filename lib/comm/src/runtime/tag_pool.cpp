#include "tag_pool.hpp"

#include <iterator>
#include <utility>

namespace selvage::detail {

std::optional<int> TagPool::take(int count) {
  const std::lock_guard lock(mutex_);
  int first = next_;
  if (count <= end_ - next_) {
    next_ += count;
  } else {
    auto range = free_.begin();
    while (range != free_.end() && range->second < count) ++range;
    if (range == free_.end()) return std::nullopt;
    const auto [begin, size] = *range;
    first = begin;
    free_.erase(range);
    if (size > count) free_.emplace(begin + count, size - count);
  }
  taken_.emplace(first, Taken{count, false});
  return first;
}

void TagPool::give_back(int first) {
  const std::lock_guard lock(mutex_);
  taken_.at(first).is_given_back = true;
}

std::vector<std::pair<int, int>> TagPool::taken() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<int, int>> ranges;
  for (const auto& [first, range] : taken_) ranges.emplace_back(first, range.count);
  return ranges;
}

std::vector<int> TagPool::given_back() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> flags;
  for (const auto& [first, range] : taken_) flags.push_back(range.is_given_back ? 1 : 0);
  return flags;
}

void TagPool::free(const std::vector<bool>& by_all) {
  const std::lock_guard lock(mutex_);
  auto range = taken_.begin();
  for (const bool is_free : by_all) {
    if (is_free) add_free(range->first, range->second.count);
    range = is_free ? taken_.erase(range) : std::next(range);
  }
}

void TagPool::add_free(int first, int count) {
  const auto after = free_.lower_bound(first);
  auto place = free_.emplace_hint(after, first, count);
  if (after != free_.end() && first + count == after->first) {
    place->second += after->second;
    free_.erase(after);
  }
  if (place == free_.begin()) return;
  const auto before = std::prev(place);
  if (before->first + before->second != first) return;
  before->second += place->second;
  free_.erase(place);
}

}  // namespace selvage::detail
