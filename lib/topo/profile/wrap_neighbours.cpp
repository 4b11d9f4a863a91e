#include "wrap.hpp"

// Neighbour collectives name whom they send to, so they are counted exactly, empty messages included.

namespace selvage::profile {
namespace {

/// \param bytes_to(i) the length of the message to the i-th outgoing neighbour
template <class BytesTo>
void to_neighbours(const void* buffer, MPI_Comm comm, BytesTo bytes_to) {
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return;
  const Memory memory = memory_of(buffer);
  for (int i = 0; i < static_cast<int>(peers->out_neighbours.size()); ++i) {
    const int neighbour = peers->out_neighbours[i];
    if (neighbour == MPI_PROC_NULL) continue;
    recorder.add(Direction::sent, peers->world_ranks[neighbour], memory, bytes_to(i));
  }
}

void to_neighbours(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  const std::uint64_t bytes = bytes_of(count, type);
  to_neighbours(buffer, comm, [=](int) { return bytes; });
}

}  // namespace
}  // namespace selvage::profile

#define SELVAGE_LIST(...) __VA_ARGS__

// A neighbour collective and its non-blocking form, which has one more parameter.
#define SELVAGE_NEIGHBOUR_COLLECTIVE(name, parameters, arguments, record)          \
  SELVAGE_WRAP(Neighbor_##name, parameters, arguments, record);                    \
  SELVAGE_WRAP(Ineighbor_##name, (SELVAGE_LIST parameters, MPI_Request * request), \
               (SELVAGE_LIST arguments, request), record)

SELVAGE_NEIGHBOUR_COLLECTIVE(allgather,
                             (const void* buffer, int count, MPI_Datatype type, void* result_buffer,
                              int result_count, MPI_Datatype result_type, MPI_Comm comm),
                             (buffer, count, type, result_buffer, result_count, result_type, comm),
                             to_neighbours(buffer, count, type, comm));
SELVAGE_NEIGHBOUR_COLLECTIVE(allgatherv,
                             (const void* buffer, int count, MPI_Datatype type, void* result_buffer,
                              const int result_counts[], const int result_offsets[], MPI_Datatype result_type,
                              MPI_Comm comm),
                             (buffer, count, type, result_buffer, result_counts, result_offsets, result_type,
                              comm),
                             to_neighbours(buffer, count, type, comm));
SELVAGE_NEIGHBOUR_COLLECTIVE(alltoall,
                             (const void* buffer, int count, MPI_Datatype type, void* result_buffer,
                              int result_count, MPI_Datatype result_type, MPI_Comm comm),
                             (buffer, count, type, result_buffer, result_count, result_type, comm),
                             to_neighbours(buffer, count, type, comm));
SELVAGE_NEIGHBOUR_COLLECTIVE(alltoallv,
                             (const void* buffer, const int counts[], const int offsets[], MPI_Datatype type,
                              void* result_buffer, const int result_counts[], const int result_offsets[],
                              MPI_Datatype result_type, MPI_Comm comm),
                             (buffer, counts, offsets, type, result_buffer, result_counts, result_offsets,
                              result_type, comm),
                             to_neighbours(buffer, comm, [=](int i) { return bytes_of(counts[i], type); }));
SELVAGE_NEIGHBOUR_COLLECTIVE(
    alltoallw,
    (const void* buffer, const int counts[], const MPI_Aint offsets[], const MPI_Datatype types[],
     void* result_buffer, const int result_counts[], const MPI_Aint result_offsets[],
     const MPI_Datatype result_types[], MPI_Comm comm),
    (buffer, counts, offsets, types, result_buffer, result_counts, result_offsets, result_types, comm),
    to_neighbours(buffer, comm, [=](int i) { return bytes_of(counts[i], types[i]); }));
