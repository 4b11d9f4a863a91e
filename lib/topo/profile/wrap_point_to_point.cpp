#include "persistent.hpp"
#include "wrap.hpp"

namespace selvage::profile {
namespace {

void sent(const void* buffer, int count, MPI_Datatype type, int destination, MPI_Comm comm) {
  if (destination == MPI_PROC_NULL) return;
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return;
  recorder.add(Direction::sent, peers->world_ranks[destination], memory_of(buffer), bytes_of(count, type));
}

void prepared(const void* buffer, int count, MPI_Datatype type, int destination, MPI_Comm comm,
              MPI_Request request) {
  if (destination == MPI_PROC_NULL) return;
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return;
  persistent_sends().insert(request,
                            {peers->world_ranks[destination], memory_of(buffer), bytes_of(count, type)});
}

}  // namespace
}  // namespace selvage::profile

#define SELVAGE_SEND(name)                                                                               \
  SELVAGE_WRAP(name, (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
               (buffer, count, type, to, tag, comm), sent(buffer, count, type, to, comm))
#define SELVAGE_ISEND(name)                                                                       \
  SELVAGE_WRAP(name,                                                                              \
               (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                MPI_Request* request),                                                            \
               (buffer, count, type, to, tag, comm, request), sent(buffer, count, type, to, comm))
#define SELVAGE_SEND_INIT(name)                                                                   \
  SELVAGE_WRAP(name,                                                                              \
               (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                MPI_Request* request),                                                            \
               (buffer, count, type, to, tag, comm, request),                                     \
               prepared(buffer, count, type, to, comm, *request))

SELVAGE_SEND(Send);
SELVAGE_SEND(Ssend);
SELVAGE_SEND(Bsend);
SELVAGE_SEND(Rsend);
SELVAGE_ISEND(Isend);
SELVAGE_ISEND(Issend);
SELVAGE_ISEND(Ibsend);
SELVAGE_ISEND(Irsend);
SELVAGE_SEND_INIT(Send_init);
SELVAGE_SEND_INIT(Ssend_init);
SELVAGE_SEND_INIT(Bsend_init);
SELVAGE_SEND_INIT(Rsend_init);

SELVAGE_WRAP(Start, (MPI_Request * request), (request), persistent_sends().started(1, request));
SELVAGE_WRAP(Startall, (int count, MPI_Request* requests), (count, requests),
             persistent_sends().started(count, requests));

SELVAGE_WRAP(Sendrecv,
             (const void* buffer, int count, MPI_Datatype type, int to, int tag, void* receive_buffer,
              int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
              MPI_Status* status),
             (buffer, count, type, to, tag, receive_buffer, receive_count, receive_type, from, receive_tag,
              comm, status),
             sent(buffer, count, type, to, comm));
SELVAGE_WRAP(Sendrecv_replace,
             (void* buffer, int count, MPI_Datatype type, int to, int tag, int from, int receive_tag,
              MPI_Comm comm, MPI_Status* status),
             (buffer, count, type, to, tag, from, receive_tag, comm, status),
             sent(buffer, count, type, to, comm));

// Not through SELVAGE_WRAP, because the handle is gone, and may be in use again, once the call has returned.
extern "C" __attribute__((visibility("default"))) int MPI_Request_free(MPI_Request* request) {
  using namespace selvage::profile;
  static const auto next = next_function<decltype(&MPI_Request_free)>("PMPI_Request_free");
  const Call call;
  if (request != nullptr) persistent_sends().forget(*request);
  return next(request);
}
extern "C" __attribute__((visibility("default"),
                          alias("MPI_Request_free"))) decltype(MPI_Request_free) PMPI_Request_free;
