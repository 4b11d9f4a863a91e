#pragma once

#include "link.hpp"
#include "mapped_messages.hpp"
#include "packed_block.hpp"
#include "proxy/device_channel.hpp"
#include "proxy/proxy_channel.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// The initiations queue and kernel. The caller's instance packs and then asks the proxy to send, which it does by MPI or by a copy to
/// mapped memory. The proxy also receives, and flags in host memory say what has arrived. There is one message per neighbour and
/// field. On a GPU nothing blocks the host: small kernels write to the proxy's rings and wait for its flags.
///
/// Ghosts and buffers are guarded by the order of steps: this rank asks for its next message only after it has unpacked the last
/// one, and packs again only after the proxy no longer reads what was packed before.
class ProxyMessages final : public Link {
 public:
  ProxyMessages(const MessageParts& parts, std::vector<PackedPeer> peers);
  ~ProxyMessages() override;

  void start(const Step& step) override;
  bool progress(const Step& step) override;
  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override;
  void check() const override;
  [[nodiscard]] std::string describe_late(const Step& step) const override;
  void unmap() noexcept override;

 private:
  [[nodiscard]] std::vector<PlannedMessage> plan_messages(const MessageParts& parts) const;
  void start_messages(const Step& step, CommandKind kind);
  void pack(const Step& step);
  void deliver(const Step& step, std::uint32_t message);
  bool progress_on_device(const Step& step);

  ContextState& context_;
  Wire carrier_;
  std::vector<PackedPeer> peers_;
  std::unique_ptr<MappedMessages> mapped_;  ///< of carrier mapped
  std::unique_ptr<ProxyChannel> line_;
  std::unique_ptr<DeviceChannel> device_channel_;  ///< null on hosts
  std::vector<bool> is_delivered_;                 ///< by message, in this exchange
  std::uint64_t waits_enqueued_ = 0;               ///< on a device: of this epoch
  std::uint64_t completed_epoch_ = 0;
};

}  // namespace selvage::detail
