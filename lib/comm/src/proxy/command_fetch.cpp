#include "command_fetch.hpp"

#include "runtime/wait.hpp"

#include <algorithm>
#include <utility>

namespace selvage::detail {

CommandFetch::CommandFetch(const CommandProducer* producers, const Command* slots, int rings,
                           std::uint64_t capacity, std::byte* kept, std::unique_ptr<Copier> copier)
    : producers_(producers),
      slots_(slots),
      capacity_(capacity),
      kept_slots_(reinterpret_cast<Command*>(kept)),
      kept_producers_(reinterpret_cast<CommandProducer*>(kept + rings * capacity * sizeof(Command))),
      fetched_(rings),
      coming_(rings),
      copier_(std::move(copier)) {}

std::size_t CommandFetch::kept_bytes(int rings, std::uint64_t capacity) {
  return rings * (capacity * sizeof(Command) + sizeof(CommandProducer));
}

void CommandFetch::add(int ring) {
  served_.push_back(ring);
}

bool CommandFetch::progress() {
  if (state_ == State::idle) count();
  if (!copier_->has_done(ticket_)) return state_ == State::fetching;
  if (state_ == State::counting) return fetch();
  fetched_ = coming_;
  state_ = State::idle;
  return true;
}

void CommandFetch::catch_up(std::chrono::milliseconds longest) {
  // The copy that is underway may have been started before the last commands were written.
  int rounds_left = state_ == State::idle ? 1 : 2;
  const auto is_here = [&] {
    static_cast<void>(progress());
    if (state_ == State::idle) --rounds_left;
    return rounds_left == 0;
  };
  is_late_ = true;
  wait_until(longest, true, is_here, [] { return "the last commands of kernels to be fetched"; });
  is_late_ = false;
}

bool CommandFetch::end(std::chrono::milliseconds longest) noexcept {
  // After one timeout there is no second wait.
  return retire(std::move(copier_), is_late_ ? std::chrono::milliseconds(0) : longest);
}

void CommandFetch::count() {
  copier_->copy(reinterpret_cast<std::byte*>(kept_producers_), reinterpret_cast<const std::byte*>(producers_),
                fetched_.size() * sizeof(CommandProducer));
  ticket_ = copier_->mark();
  state_ = State::counting;
}

/// \return whether any ring has new commands
bool CommandFetch::fetch() {
  bool any = false;
  for (const int ring : served_) {
    // Acquires from the team's leader, by the copy: the slots of these commands are complete in GPU memory.
    const std::uint64_t written = kept_producers_[ring].written;
    if (written == fetched_[ring]) continue;
    any = true;
    copy_slots(ring, fetched_[ring], written);
    coming_[ring] = written;
  }
  state_ = any ? State::fetching : State::idle;
  if (any) ticket_ = copier_->mark();
  return any;
}

/// Copies at most as many slots as a ring has, in two pieces if they wrap around its end. The slots that they overwrite here have been
/// processed, because kernels wait for that before they write new ones.
void CommandFetch::copy_slots(int ring, std::uint64_t begin, std::uint64_t end) {
  while (begin != end) {
    const std::uint64_t first = begin % capacity_;
    const std::uint64_t count = std::min(end - begin, capacity_ - first);
    const std::uint64_t offset = ring * capacity_ + first;
    copier_->copy(reinterpret_cast<std::byte*>(kept_slots_ + offset),
                  reinterpret_cast<const std::byte*>(slots_ + offset), count * sizeof(Command));
    begin += count;
  }
}

}  // namespace selvage::detail
