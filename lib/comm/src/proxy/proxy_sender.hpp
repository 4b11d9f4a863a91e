#pragma once

#include "network_operation.hpp"
#include "proxy/copies/copier.hpp"
#include "runtime/context_state.hpp"
#include "window_state.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace selvage::detail {

/// Is told when a transfer makes progress.
class TransferWatcher {
 public:
  TransferWatcher() = default;
  TransferWatcher(const TransferWatcher&) = delete;
  TransferWatcher& operator=(const TransferWatcher&) = delete;
  virtual ~TransferWatcher() = default;

  /// The local buffer is free (put, send) or filled (get, receive).
  virtual void local_done(std::uint64_t cookie) = 0;
  /// The transfer is complete at the target too. Always called after local_done.
  virtual void remote_done(std::uint64_t cookie) = 0;
};

/// A message from a sender to a receiver, or the header of one.
struct TransferHeader {
  enum class Kind : std::uint32_t { put, get, acknowledge };
  static constexpr std::uint64_t inline_bytes = 1024;

  Kind kind = Kind::put;
  std::int32_t window = -1;
  std::int32_t payload_tag = 0;
  std::uint32_t is_inline = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t arrival = NetworkOperation::no_arrival;
  std::uint64_t arrival_value = 0;
  std::uint64_t transfer = 0;  ///< number given by the initiator; `acknowledge` returns it
  std::array<std::byte, inline_bytes> payload{};

  [[nodiscard]] int message_bytes() const {
    return static_cast<int>(offsetof(TransferHeader, payload) + (is_inline != 0 ? bytes : 0));
  }
};

/// A message to mapped memory that is underway: it waits for `own_flag`; the sending side then copies, and releases `peer_flag`.
struct MappedMessage {
  const std::uint64_t* own_flag = nullptr;  ///< null once it has been reached
  std::uint64_t* peer_flag = nullptr;       ///< null once it has been released
  std::uint64_t epoch = 0;
  NetworkOperation operation;
};

/// One transfer that is underway.
struct Transfer {
  TransferWatcher* watcher = nullptr;
  std::uint64_t cookie = 0;
  int requests = 0;          ///< of MPI, not yet complete
  Copier* copier = nullptr;  ///< null where nothing is copied
  std::uint64_t copy_ticket = 0;
  MappedMessage message;
  /// Host memory for the payload of a message to or from a window whose memory MPI doesn't take.
  std::vector<std::byte> staging;
  enum class Stage { none, to_be_sent, awaited, received };
  Stage stage = Stage::none;  ///< of the payload in `staging`
  /// The window of a put or get; kept so that its memory stays while the transfer is underway.
  WindowUse window;
  NetworkOperation staged;
  bool is_local_done = false;
  /// False from the sender's thread, before the header of a put goes out. True from this rank's receiver, maybe on another thread,
  /// when the target has answered: the receiver touches this no more, and the sender's thread may free it.
  std::atomic<bool> is_acknowledged = true;
  TransferHeader header;
};

/// Carries out operations for one service thread: by copies where the target's window is mapped, and otherwise by messages to the
/// target's Receiver. Never blocks. Not thread-safe.
class ProxySender {
 public:
  static constexpr int tags = 2;  ///< one for payloads of puts, one for replies to gets

  /// \param payload_tags  as many as `tags`; of nobody: it carries no puts and gets
  /// \param memory  device: makes its stream now, because GPU kernels wait for what it copies, and a stream that is made
  ///        while such a kernel runs may have to wait for it
  ProxySender(ContextState& context, const WindowTable& windows, int header_tag, Tags payload_tags,
              MemoryKind memory);
  ~ProxySender();
  ProxySender(const ProxySender&) = delete;
  ProxySender& operator=(const ProxySender&) = delete;

  /// \param epoch  for the arrival counter of a put, and the flags of a message to mapped memory
  /// \throws Error{usage} for bytes outside a window, Error{mpi}, Error{cuda}
  void start(const NetworkOperation& operation, std::uint64_t epoch, TransferWatcher& watcher,
             std::uint64_t cookie);
  /// \return whether something made progress or is underway \throws Error{mpi}, Error{cuda}, Error{usage}
  bool progress();
  [[nodiscard]] bool is_idle() const { return transfers_.empty(); }
  /// Whether it was made for puts and gets.
  [[nodiscard]] bool serves_windows() const { return payload_tags_.are_leased(); }
  /// Cancels what is to be received. \return whether MPI no longer writes to it: a message that has begun to arrive can't be
  /// cancelled
  [[nodiscard]] bool cancel_receives();
  /// The watchers of its transfers are told nothing more: receives are cancelled, puts go on.
  void disown();

 private:
  void start_by_copy(const NetworkOperation& operation, const WindowState& window,
                     std::uint64_t arrival_value, Transfer& transfer);
  void start_by_message(const NetworkOperation& operation, const WindowState& window,
                        std::uint64_t arrival_value, Transfer& transfer);
  void send_put(const NetworkOperation& operation, const std::byte* payload, Transfer& transfer);
  /// Starts a copy into or out of the staging.
  void copy_staged(std::byte* target, const std::byte* source, Transfer& transfer);
  bool advance_staged(Transfer& transfer);
  void send(const void* data, std::uint64_t bytes, int rank, int tag, Transfer& transfer);
  void send_message(const NetworkOperation& operation, Transfer& transfer);
  void receive(void* data, std::uint64_t bytes, int rank, int tag, Transfer& transfer);
  static void start_mapped(const NetworkOperation& operation, std::uint64_t epoch, Transfer& transfer);
  bool advance_mapped(Transfer& transfer);
  void receive_found(Transfer& transfer);
  void forget_done_requests();
  bool test_requests();
  bool advance(Transfer& transfer);
  [[nodiscard]] Copier& copier_for(MemoryKind memory);

  ContextState& context_;
  const WindowTable& windows_;
  int header_tag_;
  Tags payload_tags_;
  std::list<Transfer> transfers_;
  std::unique_ptr<Copier> host_copier_;  ///< ends before the memory that it copies
  std::unique_ptr<Copier> device_copier_;
  struct Owner {
    Transfer* transfer;
    std::int64_t expected_bytes;  ///< -1: a send
  };
  void require_whole(const Owner& owner, const MPI_Status& status, bool failed) const;

  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;  ///< beside requests_
  std::vector<int> indices_;   ///< of MPI_Testsome
  std::vector<MPI_Status> statuses_;
};

/// Where a put may leave its value behind: the word at `arrival` of a window whose memory is at `base`.
[[nodiscard]] std::uint64_t& arrival_word(std::byte* base, std::uint64_t arrival);

}  // namespace selvage::detail
