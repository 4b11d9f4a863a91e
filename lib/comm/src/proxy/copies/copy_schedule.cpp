#include "copy_schedule.hpp"

#include <algorithm>
#include <limits>

namespace selvage::detail {

CopySchedule CopySchedule::make_dynamic(int copies) {
  CopySchedule schedule;
  schedule.begin_stage(copies);
  return schedule;
}

CopySchedule CopySchedule::make_static(int copies, int staged) {
  CopySchedule schedule;
  schedule.is_dynamic_ = false;
  schedule.reset(copies);
  schedule.grant(CopyMechanism::staged, staged);
  schedule.grant(CopyMechanism::direct, copies);
  return schedule;
}

void CopySchedule::reset(int copies) {
  copies_.assign(copies, {});
  ungranted_ = copies;
  pending_ = copies;
}

void CopySchedule::begin_stage(int copies) {
  reset(copies);
  for (const auto mechanism : {CopyMechanism::direct, CopyMechanism::staged}) {
    if (!is_slow(mechanism)) grant(mechanism, 1);
  }
}

void CopySchedule::grant(CopyMechanism mechanism, int count) {
  const int granted = std::min(count, ungranted_);
  grants_.insert(grants_.end(), granted, mechanism);
  ungranted_ -= granted;
}

void CopySchedule::set_ready(int copy) {
  copies_[copy].state = State::ready;
  ready_.push_back(copy);
}

std::optional<CopySchedule::Assignment> CopySchedule::next() {
  if (ready_.empty() || grants_.empty()) return last_again();
  const Assignment assignment{ready_.front(), grants_.front()};
  ready_.pop_front();
  grants_.pop_front();
  copies_[assignment.copy].state = State::started;
  copies_[assignment.copy].mechanism = assignment.mechanism;
  ++underway_;
  return assignment;
}

/// The last copy could take long, and nothing is known about the speed of its mechanism.
std::optional<CopySchedule::Assignment> CopySchedule::last_again() {
  if (!is_dynamic_ || pending_ != 1) return std::nullopt;
  const auto last =
      std::ranges::find_if(copies_, [](const Copy& copy) { return copy.state != State::complete; });
  if (last->state != State::started || last->is_sent_again || !is_slow(last->mechanism)) return std::nullopt;
  last->is_sent_again = true;
  ++underway_;
  return Assignment{static_cast<int>(last - copies_.begin()), other(last->mechanism)};
}

void CopySchedule::complete(const Assignment& done) {
  --underway_;
  Copy& copy = copies_[done.copy];
  if (copy.state == State::complete) return;
  copy.state = State::complete;
  --pending_;
  const int difference = ++completed(done.mechanism) - completed(other(done.mechanism));
  if (!is_dynamic_) return;
  constexpr int most = std::numeric_limits<int>::digits - 1;
  grant(done.mechanism, difference <= 0 ? 1 : 1 << std::min(difference, most));
}

bool CopySchedule::is_obsolete(const Assignment& started) const {
  const Copy& copy = copies_[started.copy];
  return copy.is_sent_again && copy.mechanism == started.mechanism;
}

bool CopySchedule::is_slow(CopyMechanism mechanism) const {
  return completed(mechanism) == 0 && completed(other(mechanism)) > 0;
}

}  // namespace selvage::detail
