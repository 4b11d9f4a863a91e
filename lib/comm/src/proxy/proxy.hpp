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

/// ProxySenders whose owners are gone, until what they carry has ended.
class DrainingSenders final : public Pollable {
 public:
  void add(std::unique_ptr<ProxySender> sender) { senders_.push_back(std::move(sender)); }
  bool poll() override;

 private:
  std::list<std::unique_ptr<ProxySender>> senders_;
};

/// Carries out, on a thread of its own, what kernels ask for: one per Context, made with the first object that
/// needs it. Without MPI_THREAD_MULTIPLE there is no thread, and whoever waits calls progress().
class Proxy {
 public:
  /// \param header_tag  of the messages that the senders of all ranks send to receivers
  Proxy(ContextState& context, int header_tag);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// Why kernels can't have transfers started by a proxy; empty where they can. Kernels of host spaces always
  /// can: who waits for them makes progress.
  [[nodiscard]] static std::string refusal(bool on_host);
  /// Why the proxy has no thread of its own; empty where it may have one.
  [[nodiscard]] static std::string thread_refusal();
  [[nodiscard]] bool has_threads() const { return has_threads_; }
  [[nodiscard]] WindowTable& windows() { return windows_; }
  /// A sender for one service, for windows or messages of hosts, or of GPUs too. Collective by convention: takes
  /// message tags.
  [[nodiscard]] std::unique_ptr<ProxySender> make_sender(MemoryKind memory);
  /// One that carries messages with tags of their own, but no puts and gets. Not collective.
  [[nodiscard]] std::unique_ptr<ProxySender> make_message_sender(MemoryKind memory);
  /// Takes over what the owner of a sender leaves underway: puts to windows end, the rest is given up.
  void drain(std::unique_ptr<ProxySender> sender);
  /// Before messages of other ranks may land in windows of this kind.
  void prepare_to_receive(MemoryKind memory);

  /// The service that also listens for messages of other ranks.
  [[nodiscard]] Service& service() { return service_; }
  /// Service number `index` of those that work on command queues beside it.
  [[nodiscard]] Service& helper(int index);
  /// One round of all services, unless they have threads.
  void progress();
  /// Throws the first error of each service's, once.
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

/// The Context's, made at the first call. Not collective, but a rank without one answers no messages.
[[nodiscard]] Proxy& proxy_of(ContextState& context);

}  // namespace selvage::detail
