#include "multipath_copier.hpp"

#include "gpu/device.hpp"

#include <selvage/comm/detail/signal.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

namespace selvage::detail {
namespace {

constexpr int lanes_of_a_copier = 4;
constexpr std::size_t bytes_of_a_lane = std::size_t{4} << 20;
/// The least number of pieces of a dynamic copy, if lanes are large enough: the difference of two counts needs several pieces to grow.
constexpr std::size_t pieces_of_a_copy = 32;
constexpr std::size_t piece_alignment = 4096;

std::size_t divided_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit;
}

/// Cuts [begin, end) of a copy.
void append_pieces(std::vector<SplitCopy::Span>& pieces, const SplitCopy::Span& span, std::size_t begin,
                   std::size_t end, std::size_t piece_bytes) {
  for (std::size_t at = begin; at < end; at += piece_bytes)
    pieces.push_back({span.target + at, span.source + at, std::min(piece_bytes, end - at)});
}

Buffer allocate_lane(MemoryKind memory) {
  if (memory == MemoryKind::device) return allocate_page_locked(bytes_of_a_lane);
  const auto data = std::make_shared<std::byte[]>(bytes_of_a_lane);
  return {data.get(), data};
}

}  // namespace

SplitTrials::SizeClass& SplitTrials::class_of(std::size_t bytes) {
  return classes_[std::min<std::size_t>(std::bit_width(bytes), classes_.size() - 1)];
}

bool SplitTrials::choose_split(std::size_t bytes) {
  SizeClass& found = class_of(bytes);
  const int turn = found.copies++ % period;
  constexpr int trials = 4;
  if (turn == 0) found.records = {};
  if (turn < trials) return turn % 2 == 1;
  const auto [direct, split] = found.seconds_per_byte;
  return found.records[1] > 0 && split < direct;
}

void SplitTrials::record(std::size_t bytes, bool is_split, double seconds) {
  SizeClass& found = class_of(bytes);
  const std::size_t way = is_split ? 1 : 0;
  const double per_byte = seconds / static_cast<double>(bytes);
  double& best = found.seconds_per_byte[way];
  best = found.records[way]++ == 0 ? per_byte : std::min(best, per_byte);
}

SplitCopy::SplitCopy(Copier& direct, std::vector<StagedLane>& lanes, const Span& span, const CopySplit& split)
    : direct_(direct),
      lanes_(lanes),
      schedule_(make_schedule(pieces_, span, split, lanes.front().bytes)),
      ways_(lanes.size()) {
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) schedule_.set_ready(static_cast<int>(piece));
}

CopySchedule SplitCopy::make_schedule(std::vector<Span>& pieces, const Span& span, const CopySplit& split,
                                      std::size_t lane_bytes) {
  if (split.mode == CopySplit::Mode::dynamic) {
    const std::size_t share = divided_up(divided_up(span.bytes, pieces_of_a_copy), piece_alignment);
    append_pieces(pieces, span, 0, span.bytes, std::min(share * piece_alignment, lane_bytes));
    return CopySchedule::make_dynamic(static_cast<int>(pieces.size()));
  }
  const double wanted = split.mode == CopySplit::Mode::fixed ? split.staged_share : 0;
  const auto staged =
      std::min(span.bytes, static_cast<std::size_t>(wanted * static_cast<double>(span.bytes)));
  append_pieces(pieces, span, 0, staged, lane_bytes);
  const auto staged_pieces = static_cast<int>(pieces.size());
  append_pieces(pieces, span, staged, span.bytes, span.bytes);
  return CopySchedule::make_static(static_cast<int>(pieces.size()), staged_pieces);
}

bool SplitCopy::progress() {
  poll_direct();
  for (std::size_t lane = 0; lane < ways_.size(); ++lane) poll_lane(lane);
  while (const auto next = schedule_.next()) start(*next);
  for (std::size_t lane = 0; lane < ways_.size(); ++lane) enter(lane);
  return schedule_.is_drained();
}

void SplitCopy::start(const Assignment& assignment) {
  if (assignment.mechanism == CopyMechanism::staged) return waiting_.push_back(assignment);
  const Span& piece = pieces_[assignment.copy];
  direct_.copy(piece.target, piece.source, piece.bytes);
  underway_.push_back({assignment, direct_.mark()});
}

void SplitCopy::poll_direct() {
  while (!underway_.empty() && direct_.has_done(underway_.front().ticket)) {
    schedule_.complete(underway_.front().assignment);
    underway_.pop_front();
  }
}

/// Copies a piece from host memory to its target, unless the direct path has copied it meanwhile.
void SplitCopy::poll_lane(std::size_t lane) {
  Way& way = ways_[lane];
  Copier& copier = *lanes_[lane].copier;
  if (!way.assignment || !copier.has_done(way.ticket)) return;
  if (!way.is_leaving && !schedule_.is_obsolete(*way.assignment)) {
    const Span& piece = pieces_[way.assignment->copy];
    copier.copy(piece.target, lanes_[lane].staging.data, piece.bytes);
    way.ticket = copier.mark();
    way.is_leaving = true;
    return;
  }
  if (way.is_leaving) staged_bytes_ += pieces_[way.assignment->copy].bytes;
  schedule_.complete(*way.assignment);
  way = {};
}

void SplitCopy::enter(std::size_t lane) {
  Way& way = ways_[lane];
  if (way.assignment || waiting_.empty()) return;
  way.assignment = waiting_.front();
  waiting_.pop_front();
  const Span& piece = pieces_[way.assignment->copy];
  Copier& copier = *lanes_[lane].copier;
  copier.copy(lanes_[lane].staging.data, piece.source, piece.bytes);
  way.ticket = copier.mark();
}

MultipathCopier::MultipathCopier(std::unique_ptr<Copier> direct, std::vector<StagedLane> lanes,
                                 const CopySplit& split)
    : lanes_(std::move(lanes)), direct_(std::move(direct)), split_(split) {}

MultipathCopier::~MultipathCopier() = default;

void MultipathCopier::copy(std::byte* target, const std::byte* source, std::size_t bytes) {
  const bool is_large = split_.mode != CopySplit::Mode::direct && bytes >= split_.least_bytes && bytes > 0;
  issue({.kind = is_large ? Step::Kind::split : Step::Kind::copy, .span = {target, source, bytes}});
}
void MultipathCopier::copy(const CopyBox& box) {
  issue({.kind = Step::Kind::box, .box = box});
}
void MultipathCopier::release(std::uint64_t& word, std::uint64_t value) {
  issue({.kind = Step::Kind::release, .word = &word, .value = value});
}
std::uint64_t MultipathCopier::mark() {
  issue({.kind = Step::Kind::mark, .value = ++last_ticket_});
  return last_ticket_;
}

bool MultipathCopier::has_done(std::uint64_t ticket) {
  progress();
  while (!marks_.empty() && direct_->has_done(marks_.front().direct_ticket)) {
    done_ticket_ = marks_.front().ticket;
    marks_.pop_front();
  }
  return ticket <= done_ticket_;
}

void MultipathCopier::issue(const Step& step) {
  if (steps_.empty() && step.kind != Step::Kind::split) return carry_out(step);
  steps_.push_back(step);
  progress();
}

void MultipathCopier::carry_out(const Step& step) {
  switch (step.kind) {
    case Step::Kind::box:
      return direct_->copy(step.box);
    case Step::Kind::release:
      return direct_->release(*step.word, step.value);
    case Step::Kind::mark:
      return marks_.push_back({step.value, direct_->mark()});
    default:
      direct_->copy(step.span.target, step.span.source, step.span.bytes);
  }
}

void MultipathCopier::progress() {
  while (!steps_.empty()) {
    const Step step = steps_.front();
    if (step.kind == Step::Kind::split) {
      if (!is_split_over(step)) return;
    } else {
      carry_out(step);
    }
    steps_.pop_front();
  }
}

/// All paths begin when the copies before are complete, because there is no order between paths.
bool MultipathCopier::is_split_over(const Step& step) {
  if (!running_) {
    if (!before_split_) before_split_ = direct_->mark();
    if (!direct_->has_done(*before_split_)) return false;
    before_split_.reset();
    begin_split(step);
  }
  if (!running_->progress()) return false;
  const double seconds = static_cast<double>(clock_ns() - began_ns_) * 1e-9;
  if (split_.mode == CopySplit::Mode::automatic) trials_.record(step.span.bytes, is_running_split_, seconds);
  staged_bytes_ += running_->staged_bytes();
  running_.reset();
  return true;
}

void MultipathCopier::begin_split(const Step& step) {
  CopySplit split = split_;
  is_running_split_ = true;
  if (split.mode == CopySplit::Mode::automatic) {
    is_running_split_ = trials_.choose_split(step.span.bytes);
    split.mode = is_running_split_ ? CopySplit::Mode::dynamic : CopySplit::Mode::direct;
  }
  running_ = std::make_unique<SplitCopy>(*direct_, lanes_, step.span, split);
  began_ns_ = clock_ns();
}

std::unique_ptr<Copier> make_copier(MemoryKind memory) {
  const auto make = [memory](CopyLane lane) {
    return memory == MemoryKind::device ? make_device_copier(lane) : make_host_copier();
  };
  const CopySplit split = CopySplit::from_environment();
  if (split.mode == CopySplit::Mode::direct) return make(CopyLane::outward);
  std::vector<StagedLane> lanes;
  for (int i = 0; i < lanes_of_a_copier; ++i) {
    const auto lane = static_cast<CopyLane>(static_cast<int>(CopyLane::first_staged) + i);
    lanes.push_back({allocate_lane(memory), bytes_of_a_lane, make(lane)});
  }
  return std::make_unique<MultipathCopier>(make(CopyLane::outward), std::move(lanes), split);
}

}  // namespace selvage::detail
