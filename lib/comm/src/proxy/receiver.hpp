#pragma once

#include "proxy_sender.hpp"
#include "runtime/service.hpp"

#include <list>
#include <memory>
#include <vector>

namespace selvage::detail {

/// Receives the messages of ProxySenders on other ranks: writes their puts to this rank's windows and answers their gets. Polled by
/// one service.
class Receiver final : public Pollable {
 public:
  Receiver(ContextState& context, const WindowTable& windows, int header_tag);
  ~Receiver() override;

  /// Makes the copier that writes messages to memory of that kind. Call it while no kernel waits for a message.
  void prepare(MemoryKind memory);
  bool poll() override;

 private:
  /// What is left to do for a header that has arrived.
  enum class Stage {
    landing,     ///< receives the payload of a put
    delivering,  ///< copies it from the staging memory to the window, if there, and writes the arrival word
    staging,     ///< copies the payload of a get from the window
    waiting,     ///< waits for an earlier answer to the same rank
    sending      ///< sends the last message
  };
  /// A payload that is being written to or read from a window, or an answer that is being sent.
  struct Answer {
    Stage stage = Stage::sending;
    MPI_Request request = MPI_REQUEST_NULL;
    TransferHeader header;  ///< of the put or get; of the answer itself
    int rank = 0;
    WindowUse window;                ///< its memory stays while this is underway
    std::vector<std::byte> staging;  ///< where the window's memory can't be given to MPI
    std::uint64_t copy_ticket = 0;
  };

  void listen();
  void end_messages() noexcept;
  void handle(const TransferHeader& header, int rank);
  void land(const TransferHeader& header, int rank);
  void reply(const TransferHeader& header, int rank);
  [[nodiscard]] Answer& begin_answer(const TransferHeader& header, int rank);
  void release_arrival(const Answer& answer);
  void acknowledge(Answer& answer);
  void deliver(Answer& answer);
  /// Payloads of gets are matched in the order of their headers.
  void send_in_order(Answer& answer);
  [[nodiscard]] bool is_received_or_sent(Answer& answer);
  /// One step further, if it is time. \return whether the answer has come further
  bool advance(Answer& answer);
  bool advance_answers();
  [[nodiscard]] Copier& copier_for(MemoryKind memory);

  ContextState& context_;
  const WindowTable& windows_;
  int header_tag_;
  std::list<Answer> answers_;
  std::unique_ptr<Copier> host_copier_;
  std::unique_ptr<Copier> device_copier_;
  std::unique_ptr<TransferHeader> incoming_ = std::make_unique<TransferHeader>();
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace selvage::detail
