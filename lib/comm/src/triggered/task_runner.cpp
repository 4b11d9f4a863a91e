#include "task_runner.hpp"

#include "proxy/proxy.hpp"

#include <fmt/format.h>

#include <utility>

namespace selvage::detail {

TaskRunner::TaskRunner(ContextState& context, const WindowState& window, const TaskLayout& layout)
    : window_(window),
      layout_(layout),
      rank_(context.rank()),
      sender_(proxy_of(context).make_sender(window.memory)),
      finished_(layout.ranks) {}

void TaskRunner::add(std::uint32_t index, RemoteTasks::Function function) {
  if (index >= functions_.size() || functions_[index] || !function) {
    throw Error(ErrorKind::usage, fmt::format("remote task {} on rank {}: {}", index, rank_,
                                              index >= functions_.size()
                                                  ? fmt::format("indices end at {}", functions_.size() - 1)
                                              : functions_[index] ? "there is one already"
                                                                  : "an empty function"));
  }
  functions_[index] = std::move(function);
}

bool TaskRunner::poll() {
  // The error of a task that has thrown has been kept by now.
  for (const int source : std::exchange(failed_, {})) finish(source);
  bool busy = sender_->progress();
  for (int source = 0; source < static_cast<int>(layout_.ranks); ++source) busy = run_next(source) || busy;
  return busy;
}

bool TaskRunner::run_next(int source) {
  const std::uint64_t number = finished_[source] + 1;
  const auto& arrived =
      *reinterpret_cast<const std::uint64_t*>(window_.local.data + layout_.incoming(source, number));
  // Acquires from the source: packet and payload.
  if (!has_reached(acquire_word(arrived), number)) return false;
  try {
    run(source, number);
  } catch (...) {
    failed_.push_back(source);
    throw;
  }
  finish(source);
  return true;
}

void TaskRunner::run(int source, std::uint64_t number) const {
  const std::byte* const data = window_.local.data + layout_.incoming(source, number) + TaskLayout::line;
  const auto& packet = *reinterpret_cast<const TaskPort::Packet*>(data);
  const std::uint32_t index = packet.call.index;
  if (index >= functions_.size() || !functions_[index]) {
    throw Error(ErrorKind::usage, fmt::format("rank {} called task {}, which rank {} has not registered",
                                              source, index, rank_));
  }
  functions_[index]({source, packet.call, data + sizeof(TaskPort::Packet), packet.bytes});
}

void TaskRunner::finish(int source) {
  const std::uint64_t number = ++finished_[source];
  // The word publishes to the source: the task has run, its slot is free.
  const NetworkOperation word{.kind = NetworkOperation::Kind::put,
                              .target = source,
                              .arrival = layout_.finished(rank_),
                              .window = window_.id};
  sender_->start(word, number, *this, 0);
}

}  // namespace selvage::detail
