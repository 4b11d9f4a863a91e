#pragma once

#include "proxy.hpp"
#include "trigger_ring.hpp"
#include "trigger_table.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

/// Drains one ring into one table and starts what fires; polled by the proxy. One operation of an id is
/// underway at a time, since they share a buffer: the next is started when it is complete.
class TriggerEngine final : public Pollable, private TransferWatcher {
 public:
  TriggerEngine(ContextState& context, const Executor& executor, std::uint32_t ids,
                std::uint64_t ring_entries, std::unique_ptr<ProxySender> sender);
  /// Prints what triggers are left over.
  ~TriggerEngine() override;

  [[nodiscard]] const TriggerPort& port() const { return ring_.port(); }
  void add(TriggerPort::Tag tag, const NetworkOperation& operation, std::uint64_t threshold);
  /// Registers operations under ids from `first_id` on.
  void add_for_all_epochs(std::uint32_t first_id, std::span<const NetworkOperation> operations,
                          std::uint64_t threshold);
  [[nodiscard]] TriggerTable::Leftovers leftovers();
  /// Nothing fires from now on. \return whether nothing that fired is underway
  [[nodiscard]] bool stop();
  [[nodiscard]] bool has_thread() const { return proxy_.has_threads(); }
  void progress() { proxy_.progress(); }
  /// \throws what the proxy met, and Error{timeout} when kernels gave up waiting for room in the ring
  void check();

  bool poll() override;

 private:
  void local_done(std::uint64_t id) override;
  void remote_done(std::uint64_t) override {}
  void enqueue(const TriggerTable::Fired& fired);
  void start(const TriggerTable::Fired& fired);
  void conclude_failed();
  bool drain();
  void start_rest();
  [[nodiscard]] std::string describe(const TriggerRing::Losses& losses) const;

  ContextState& context_;
  Proxy& proxy_;
  TriggerRing ring_;
  TriggerTable table_;
  std::unique_ptr<ProxySender> sender_;
  std::vector<std::uint64_t> running_;  ///< by id: the epoch that is underway; 0: none
  std::deque<TriggerTable::Fired> held_back_;
  std::vector<std::uint32_t> failed_;  ///< ids whose operation could not be started, still to be concluded
};

}  // namespace selvage::detail
