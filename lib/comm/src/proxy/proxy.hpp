#pragma once

#include "proxy_sender.hpp"
#include "receiver.hpp"
#include "runtime/service.hpp"

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Keeps ProxySenders whose owners no longer exist until their transfers have ended.
class DrainingSenders final : public Pollable {
 public:
  void add(std::unique_ptr<ProxySender> sender) { senders_.push_back(std::move(sender)); }
  bool poll() override;

 private:
  std::list<std::unique_ptr<ProxySender>> senders_;
};

/// Carries out the transfers that kernels ask for, on a thread of its own. There is one per Context, made with the first object that
/// needs it. Without MPI_THREAD_MULTIPLE there is no thread; callers that wait then call progress().
class Proxy {
 public:
  /// \param header_tag  tag of the messages from senders of any rank to receivers
  Proxy(ContextState& context, int header_tag);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// Why a proxy can't start transfers for kernels; empty where it can. For kernels of host spaces it always can, since the
  /// caller that waits for them makes progress.
  /// \param threads_refusal  ContextState::threads_refusal()
  [[nodiscard]] static std::string refusal(const std::string& threads_refusal, bool on_host);
  [[nodiscard]] bool has_threads() const { return has_threads_; }
  [[nodiscard]] WindowTable& windows() { return windows_; }
  /// Makes a sender for one service. All ranks must call it in the same order, because it takes message tags.
  /// \param memory  device: windows and messages may lie in GPU memory too
  [[nodiscard]] std::unique_ptr<ProxySender> make_sender(MemoryKind memory);
  /// Makes a sender for messages that have tags of their own; it carries no puts and gets. Not collective.
  [[nodiscard]] std::unique_ptr<ProxySender> make_message_sender(MemoryKind memory);
  /// Takes over a sender whose owner ends: it completes the puts to windows and cancels the rest.
  void drain(std::unique_ptr<ProxySender> sender);
  /// Call it before other ranks may send messages to windows in memory of this kind.
  void prepare_to_receive(MemoryKind memory);

  /// The service that also listens for messages of other ranks.
  [[nodiscard]] Service& service() { return service_; }
  /// Service number `index` of those that serve command queues beside service().
  [[nodiscard]] Service& helper(int index);
  /// Runs one round of all services, unless they have threads.
  void progress();
  /// Throws the first error of each service, once.
  void check();

 private:
  ContextState& context_;
  bool has_threads_;
  int header_tag_;
  WindowTable windows_;
  Receiver receiver_;
  DrainingSenders parting_;
  Service service_;
  std::vector<std::unique_ptr<Service>> helpers_;
};

/// The proxy of the Context, made at the first call. Not collective, but a rank without a proxy answers no messages.
[[nodiscard]] Proxy& proxy_of(ContextState& context);

}  // namespace selvage::detail
