#include "port_relay.hpp"

#include "layouts/layout.hpp"
#include "runtime/context_state.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::size_t flag_alignment = alignof(Flag);

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + flag_alignment - 1) / flag_alignment * flag_alignment;
}

/// Zeroed host memory that kernels store into, on lines of its own.
Buffer allocate_lines(const Executor& executor, std::size_t bytes) {
  Buffer buffer = executor.allocate_staging(bytes + flag_alignment);
  buffer.data = reinterpret_cast<std::byte*>(whole_lines(reinterpret_cast<std::uintptr_t>(buffer.data)));
  std::memset(buffer.data, 0, bytes);
  return buffer;
}

/// The direction's cells of a View that came packed, as the sender's strides order them.
CopyBox unpack_box(const RelayedView& view, const Region& ghost, const std::byte* packed) {
  const Layout senders{.strides = view.peer_strides, .element_bytes = view.field->element_bytes};
  const Region whole{.begin = {}, .extents = ghost.extents};
  return view_to_view(packed, packed_like(ghost, senders), whole, view.field->data, layout_of(*view.field),
                      ghost, BoxUse::move);
}

}  // namespace

PortRelay::PortRelay(ContextState& context, const Executor& executor, int grid_axes, int first_tag,
                     std::span<const RelayedLink> links)
    : context_(context),
      proxy_(proxy_of(context)),
      views_(links.front().views.size()),
      // Its messages lie in host memory.
      sender_(proxy_.make_message_sender(MemoryKind::host)),
      copier_(executor.runs_on_host() ? make_host_copier() : make_device_copier()) {
  std::size_t blocks_bytes = 0;
  std::size_t landings_bytes = 0;
  for (const RelayedLink& link : links) {
    const Line& line = lines_.emplace_back(plan_line(link, grid_axes, first_tag));
    blocks_bytes += views_ * line.block_bytes;
    landings_bytes += line.landing_bytes;
  }
  blocks_ = allocate_lines(executor, blocks_bytes);
  landings_ = allocate_lines(executor, landings_bytes);
  signals_ = allocate_lines(executor, lines_.size() * views_ * sizeof(PortFlags));
  place_lines();
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    plan_unpacking(lines_[i], links[i], grid_axes);
    if (lines_[i].receives) receive(lines_[i]);
    grant(lines_[i]);
  }
}

/// What MPI or a GPU still reads or writes must not be freed.
PortRelay::~PortRelay() {
  if (is_polled_) proxy_.service().remove(*this);
  const bool is_copied = retire(std::move(copier_), context_.timeout());
  if (sender_->cancel_receives() && has_sent_all() && is_copied) return;
  static_cast<void>(new std::array<Buffer, 3>{std::move(blocks_), std::move(landings_), std::move(signals_)});
}

PortRelay::Line PortRelay::plan_line(const RelayedLink& link, int grid_axes, int first_tag) {
  Line line{.direction = link.boundary->direction,
            .rank = link.rank,
            .awaits_credit = link.awaits_credit,
            .gives_credit = link.gives_credit,
            .own = link.own};
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  for (const RelayedView& view : link.views) {
    const std::int64_t element_bytes = view.field->element_bytes;
    const auto bytes_of = [&](const Region& cells) {
      return in_field(cells, *view.field, grid_axes).elements() * element_bytes;
    };
    sent_bytes = std::max(sent_bytes, bytes_of(link.boundary->owned));
    received_bytes = std::max(received_bytes, bytes_of(link.boundary->ghost));
  }
  line.sends = sent_bytes > 0;
  line.receives = received_bytes > 0;
  line.block_bytes = whole_lines(sizeof(Header) + static_cast<std::size_t>(sent_bytes));
  line.landing_bytes = whole_lines(sizeof(Header) + static_cast<std::size_t>(received_bytes));
  // Whatever the View: the receiver learns which one from the header.
  line.send = {.kind = NetworkOperation::Kind::send,
               .target = link.rank,
               .bytes = sizeof(Header) + static_cast<std::uint64_t>(sent_bytes),
               .message_tag = first_tag + line.direction,
               .is_synchronous = line.awaits_credit};
  line.receive = {.kind = NetworkOperation::Kind::receive,
                  .target = link.rank,
                  .bytes = sizeof(Header) + static_cast<std::uint64_t>(received_bytes),
                  .message_tag = first_tag + opposite(line.direction)};
  return line;
}

void PortRelay::place_lines() {
  std::byte* block = blocks_.data;
  std::byte* landing = landings_.data;
  auto* signal = reinterpret_cast<PortFlags*>(signals_.data);
  for (Line& line : lines_) {
    line.blocks = std::exchange(block, block + views_ * line.block_bytes);
    line.landing = std::exchange(landing, landing + line.landing_bytes);
    line.signal = std::exchange(signal, signal + views_);
    for (std::size_t view = 0; view < views_; ++view) new (line.signal + view) PortFlags();
    line.receive.local = line.landing;
  }
}

void PortRelay::plan_unpacking(Line& line, const RelayedLink& link, int grid_axes) {
  for (const RelayedView& view : link.views) {
    const Region ghost = in_field(link.boundary->ghost, *view.field, grid_axes);
    line.unpack.push_back(unpack_box(view, ghost, line.landing + sizeof(Header)));
  }
}

const PortRelay::Line& PortRelay::line_of(Direction direction) const {
  return *std::ranges::find(lines_, direction, &Line::direction);
}

PortFlags* PortRelay::signal(Direction direction, std::size_t view) const {
  return line_of(direction).signal + view;
}

std::byte* PortRelay::block(Direction direction, std::size_t view) const {
  const Line& line = line_of(direction);
  return line.blocks + view * line.block_bytes + sizeof(Header);
}

void PortRelay::begin() {
  proxy_.service().add(*this);
  is_polled_ = true;
}

void PortRelay::drain() noexcept {
  if (std::uncaught_exceptions() > 0) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool done = false;
  while (!done && std::chrono::steady_clock::now() < end) {
    proxy_.service().exclusive([&] { done = has_sent_all(); });
    if (!done) give_way();
  }
}

bool PortRelay::has_sent_all() const {
  return std::ranges::none_of(
      lines_, [this](const Line& line) { return line.is_sending || next_view(line) < views_; });
}

/// Which View the kernels have put in the next step of a direction; none: as many as there are.
std::size_t PortRelay::next_view(const Line& line) const {
  // Acquires from the kernels: the cells in the View's block.
  return view_put_in(line.sent + 1, views_,
                     [&](std::size_t view) { return acquire_epoch(line.signal[view].arrived); });
}

void PortRelay::receive(Line& line) {
  sender_->start(line.receive, line.unpacked + 1, *this, cookie_of(line, false));
  line.stage = Landing::awaited;
}

/// Publishes to the kernels: the block of the next step may be overwritten.
void PortRelay::grant(Line& line) {
  copier_->release(line.own->credit.epoch, line.sent + 1);
}

/// \return whether a block is underway
bool PortRelay::advance_sending(Line& line) {
  if (!line.sends) return false;
  if (line.is_sending) return true;
  const std::size_t view = next_view(line);
  if (view == views_) return false;
  NetworkOperation operation = line.send;
  operation.local = line.blocks + view * line.block_bytes;
  new (operation.local) Header{++line.sent, view};
  line.is_sending = true;
  sender_->start(operation, line.sent, *this, cookie_of(line, true));
  return true;
}

bool PortRelay::may_unpack(const Line& line) const {
  const std::uint64_t epoch = line.unpacked + 1;
  // Acquires from the kernels: that they are past their reads of these ghosts. Where Views alternate, the
  // neighbour's block itself proves it, but for the first one.
  const bool is_guarded = line.gives_credit || epoch == 1;
  if (is_guarded && !has_reached(acquire_epoch(line.signal->credit), epoch)) return false;
  // A kernel that has seen this step overwrites the block of the one before without asking. The neighbour has
  // received that block, but MPI must have said so.
  return line.awaits_credit || !line.is_sending || line.sent == epoch;
}

void PortRelay::unpack(Line& line) {
  const std::uint64_t epoch = ++line.unpacked;
  Header header;
  std::memcpy(&header, line.landing, sizeof header);
  if (header.epoch != epoch || header.view >= views_) {
    throw Error(
        ErrorKind::usage,
        fmt::format("rank {} put View {} in step {} of a HaloPort, rank {} expects one of {} in step {}",
                    line.rank, header.view, header.epoch, context_.rank(), views_, epoch));
  }
  copier_->copy(line.unpack[header.view]);
  // Publishes to the kernels: the cells of this step.
  copier_->release(line.own->arrived.epoch, epoch);
  line.ticket = copier_->mark();
}

/// \return whether a block is being unpacked
bool PortRelay::advance_receiving(Line& line) {
  if (line.stage == Landing::landed && may_unpack(line)) {
    line.stage = Landing::unpacking;
    unpack(line);
  }
  if (line.stage != Landing::unpacking) return false;
  if (copier_->has_done(line.ticket)) receive(line);
  return true;
}

void PortRelay::local_done(std::uint64_t cookie) {
  Line& line = lines_[cookie / 2];
  if (cookie % 2 == 0) {
    line.stage = Landing::landed;
    return;
  }
  line.is_sending = false;
  grant(line);
}

bool PortRelay::poll() {
  // Receives are always underway: they don't count as work.
  static_cast<void>(sender_->progress());
  bool busy = false;
  for (Line& line : lines_) {
    busy = advance_sending(line) || busy;
    busy = advance_receiving(line) || busy;
  }
  return busy;
}

}  // namespace selvage::detail
