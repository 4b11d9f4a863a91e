#pragma once

#include "courier.hpp"
#include "receiver.hpp"
#include "service.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// Carries out, on a thread of its own, what kernels ask for: one per Context, made with the first object that
/// needs it. Without MPI_THREAD_MULTIPLE there is no thread, and whoever waits calls progress().
class Proxy {
 public:
  /// Collective by convention: takes message tags.
  explicit Proxy(ContextState& context);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] bool has_threads() const { return has_threads_; }
  [[nodiscard]] WindowTable& windows() { return windows_; }
  /// A courier for one service. Collective by convention.
  [[nodiscard]] std::unique_ptr<Courier> make_courier();

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
  Service service_;
  std::vector<std::unique_ptr<Service>> helpers_;
};

}  // namespace selvage::detail
