#pragma once

#include "layouts/neighbourhood.hpp"
#include "proxy/copies/copier.hpp"
#include "proxy/proxy.hpp"
#include "proxy/proxy_sender.hpp"

#include <selvage/comm/detail/copy_box.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/detail/port_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace selvage::detail {

/// A View of this rank, and the strides of the neighbour's.
struct RelayedView {
  const Field* field;                        ///< this rank's
  std::array<std::int64_t, 4> peer_strides;  ///< of the neighbour's View, bytes
};

/// One direction to a neighbour whose memory can't be mapped.
struct RelayedLink {
  int rank;
  const Boundary* boundary;
  std::vector<RelayedView> views;  ///< of the port, in its order
  PortFlags* own;                  ///< in memory of the kernels, which poll it
  bool awaits_credit;              ///< this rank, for every epoch
  bool gives_credit;               ///< the neighbour awaits one for every epoch
};

/// The View that kernels have put in the step `epoch`; `views` where they haven't yet. Its signal is exactly that step's: between two
/// looks kernels may put the step, and then the one after in a View that is looked at later.
/// \param signal_of  the step in which a View was last put
template <class SignalOf>
[[nodiscard]] std::size_t view_put_in(std::uint64_t epoch, std::size_t views, const SignalOf& signal_of) {
  std::size_t view = 0;
  while (view < views && signal_of(view) != epoch) ++view;
  return view;
}

/// Carries the directions of a port to neighbours whose memory can't be mapped.
///
/// Kernels store cells to a packed block of this rank instead of the neighbour's View, and release a word of this rank instead of the
/// neighbour's flag. That word is the trigger (LeBeane, chapter 6), with one address per operation, because the port's own counters have
/// reached the threshold already. The proxy polls these words and sends the block. The proxy of the neighbour unpacks it
/// and releases the flag that kernels wait for. For kernels both kinds of neighbours look the same.
///
/// Credits are given to the proxy of the same rank, which neither unpacks a block nor receives the next one before it has the credit. The
/// sender sees this by the completion of a synchronous send, so credits need no messages of their own. Blocks lie in host memory
/// that kernels can store to, because every MPI takes that. Copy engines unpack them, because a kernel may find no free multiprocessor
/// beside the kernel that waits for it.
class PortRelay final : public Pollable, private TransferWatcher {
 public:
  /// Starts to receive the first block of each direction. The proxy works on them after begin().
  /// \param first_tag  of direction_codes: one for each direction, as the sender sees it
  PortRelay(ContextState& context, const Executor& executor, int grid_axes, int first_tag,
            std::span<const RelayedLink> links);
  ~PortRelay() override;

  /// The flags that kernels release for a direction and View, instead of the neighbour's.
  [[nodiscard]] PortFlags* signal(Direction direction, std::size_t view) const;
  /// The block to which kernels store the direction's cells of a View, packed as packed_like() says.
  [[nodiscard]] std::byte* block(Direction direction, std::size_t view) const;

  void begin();
  /// Waits, for at most a second, until all blocks that kernels have filled are being sent.
  void drain() noexcept;
  /// \throws the errors of the proxy
  void check() { proxy_.check(); }

  bool poll() override;

 private:
  /// The header of a block, which the proxy writes when it sends the block.
  struct alignas(128) Header {
    std::uint64_t epoch = 0;
    std::uint64_t view = 0;
  };
  enum class Landing { awaited, landed, unpacking };

  /// What is sent and received in one direction.
  struct Line {
    Direction direction = centre;
    int rank = 0;
    bool sends = false;
    bool receives = false;
    bool awaits_credit = false;
    bool gives_credit = false;
    PortFlags* own = nullptr;
    PortFlags* signal = nullptr;  ///< by View; of credits, View 0's
    std::size_t block_bytes = 0;
    std::size_t landing_bytes = 0;
    std::byte* blocks = nullptr;  ///< by View: a kernel may fill the next while the last is being sent
    std::byte* landing = nullptr;
    NetworkOperation send = {};
    NetworkOperation receive = {};
    std::vector<CopyBox> unpack = {};  ///< by View

    std::uint64_t sent = 0;  ///< epoch of the last block that was sent or is being sent
    bool is_sending = false;
    std::uint64_t unpacked = 0;  ///< epoch
    Landing stage = Landing::awaited;
    std::uint64_t ticket = 0;
  };

  [[nodiscard]] static Line plan_line(const RelayedLink& link, int grid_axes, int first_tag);
  void place_lines();
  static void plan_unpacking(Line& line, const RelayedLink& link, int grid_axes);
  [[nodiscard]] const Line& line_of(Direction direction) const;
  [[nodiscard]] std::uint64_t cookie_of(const Line& line, bool sent) const {
    return static_cast<std::uint64_t>(&line - lines_.data()) * 2 + (sent ? 1 : 0);
  }
  [[nodiscard]] std::size_t next_view(const Line& line) const;
  [[nodiscard]] bool has_sent_all() const;
  void receive(Line& line);
  void grant(Line& line);
  [[nodiscard]] bool may_unpack(const Line& line) const;
  void unpack(Line& line);
  [[nodiscard]] bool advance_sending(Line& line);
  [[nodiscard]] bool advance_receiving(Line& line);
  void local_done(std::uint64_t cookie) override;
  void remote_done(std::uint64_t) override {}

  ContextState& context_;
  Proxy& proxy_;
  std::size_t views_;
  std::vector<Line> lines_;
  Buffer blocks_;
  Buffer landings_;
  Buffer signals_;
  std::unique_ptr<ProxySender> sender_;
  std::unique_ptr<Copier> copier_;
  bool is_polled_ = false;
};

}  // namespace selvage::detail
