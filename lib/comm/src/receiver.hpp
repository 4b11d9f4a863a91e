#pragma once

#include "courier.hpp"
#include "service.hpp"

#include <list>
#include <memory>

namespace selvage::detail {

/// The other end of couriers that have to use messages: lands their puts in this rank's windows, answers
/// their gets. Polled by one service.
class Receiver final : public Pollable {
 public:
  Receiver(ContextState& context, const WindowTable& windows, int header_tag);
  ~Receiver() override;

  /// Makes what lands messages in that memory, while no kernel waits for one.
  void prepare(MemoryKind memory);
  bool poll() override;

 private:
  /// A payload on its way into or out of a window, or an answer that is being sent.
  struct Answer {
    MPI_Request request = MPI_REQUEST_NULL;
    CourierHeader header;  ///< of the put to be finished once its payload is here; of the answer itself
    int rank = 0;
    bool lands = false;
  };

  void listen();
  void handle(const CourierHeader& header, int rank);
  void land(const CourierHeader& header, int rank);
  void reply(const CourierHeader& header, int rank);
  void finish_put(const CourierHeader& header, int rank);
  bool advance_answers();
  [[nodiscard]] Copier& copier_for(MemoryKind memory);

  ContextState& context_;
  const WindowTable& windows_;
  int header_tag_;
  std::unique_ptr<Copier> host_copier_;
  std::unique_ptr<Copier> device_copier_;
  CourierHeader incoming_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::list<Answer> answers_;
};

}  // namespace selvage::detail
