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

/// A View as its owner and a neighbour know it.
struct RelayedView {
  const Field* field;                        ///< this rank's
  std::array<std::int64_t, 4> peer_strides;  ///< of the neighbour's View, bytes
};

/// One direction whose neighbour can't be mapped.
struct RelayedLink {
  int rank;
  const Boundary* boundary;
  std::vector<RelayedView> views;  ///< of the port, in its order
  PortFlags* own;                  ///< in memory of the kernels, which poll it
  bool awaits_credit;              ///< this rank, for every epoch
  bool gives_credit;               ///< the neighbour awaits one for every epoch
};

/// A port's proxy form: carries directions to neighbours that can't be mapped.
///
/// Kernels store into a packed block here instead of the neighbour's View, and release a word here instead of
/// the neighbour's: the trigger, with an address per operation (LeBeane, ch. 6), because the port's own
/// counters have reached the threshold already. The proxy polls these words and has its sender send the
/// block; the proxy on the other side unpacks it and releases the flag that kernels wait for. Kernels can't
/// tell the forms apart.
///
/// A credit is given to the proxy of this rank, which unpacks no block before; nor does it ask for the next
/// block earlier. The sender learns of it by the acknowledgement of a synchronous send, so that credits need no
/// messages of their own. Blocks lie in host memory that kernels store into, so that any MPI takes them, and
/// copy engines unpack them: a kernel might find no room beside the one that waits for it.
class PortRelay final : public Pollable, private TransferWatcher {
 public:
  /// Asks for the first block of each direction; begin() lets the proxy begin.
  /// \param first_tag  of direction_codes: one for each direction, as the sender sees it
  PortRelay(ContextState& context, const Executor& executor, int grid_axes, int first_tag,
            std::span<const RelayedLink> links);
  ~PortRelay() override;

  /// What kernels release of a direction and View, in place of the neighbour's.
  [[nodiscard]] PortFlags* signal(Direction direction, std::size_t view) const;
  /// Where kernels store the direction's cells of a View, packed as packed_like() says.
  [[nodiscard]] std::byte* block(Direction direction, std::size_t view) const;

  void begin();
  /// Waits a second at most until all that kernels have put is on its way.
  void drain() noexcept;
  /// \throws what the proxy met
  void check() { proxy_.check(); }

  bool poll() override;

 private:
  /// What precedes the cells in a block; written by the proxy when it sends.
  struct alignas(128) Header {
    std::uint64_t epoch = 0;
    std::uint64_t view = 0;
  };
  enum class Landing { awaited, landed, unpacking };

  /// Both ways of a direction.
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
