#pragma once

#include "context/service.hpp"
#include "courier.hpp"
#include "receiver.hpp"

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Couriers whose owners are gone, until what they carry has ended.
class PartingCouriers final : public Pollable {
 public:
  void add(std::unique_ptr<Courier> courier) { couriers_.push_back(std::move(courier)); }
  bool poll() override;

 private:
  std::list<std::unique_ptr<Courier>> couriers_;
};

/// Carries out, on a thread of its own, what kernels ask for: one per Context, made with the first object that
/// needs it. Without MPI_THREAD_MULTIPLE there is no thread, and whoever waits calls progress().
class Proxy {
 public:
  /// \param header_tag  of the messages that the couriers of all ranks send to receivers
  Proxy(ContextState& context, int header_tag);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  /// \throws Error{input} for an environment variable that can't be right
  [[nodiscard]] static bool may_use_threads();
  /// Why kernels can't have transfers started by a proxy; empty where they can. Kernels of host spaces always
  /// can: who waits for them makes progress.
  [[nodiscard]] static std::string refusal(bool on_host);
  /// Why the proxy has no thread of its own; empty where it may have one.
  [[nodiscard]] static std::string thread_refusal();
  [[nodiscard]] bool has_threads() const { return has_threads_; }
  [[nodiscard]] WindowTable& windows() { return windows_; }
  /// A courier for one service, for windows or messages of hosts, or of GPUs too. Collective by convention: takes
  /// message tags.
  [[nodiscard]] std::unique_ptr<Courier> make_courier(MemoryKind memory);
  /// One that carries messages with tags of their own, but no puts and gets. Not collective.
  [[nodiscard]] std::unique_ptr<Courier> make_message_courier(MemoryKind memory);
  /// Takes over what the owner of a courier leaves underway: puts to windows end, the rest is given up.
  void see_off(std::unique_ptr<Courier> courier);
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
  PartingCouriers parting_;
  Service service_;
  std::vector<std::unique_ptr<Service>> helpers_;
};

}  // namespace selvage::detail
