#include "wrap.hpp"

// What collectives move depends on the MPI library's algorithm. They are counted as if every rank sent its data
// straight to each rank that needs it, which is what the program asked for, whatever the library makes of it:
// from the root to all, from all to the root, or from each to each. A rank's data for itself doesn't count, nor do
// empty pieces.

namespace selvage::profile {
namespace {

/// Calls `bytes_to(i)` for each other rank i of the communicator.
template <class BytesTo>
void to_each(const void* buffer, MPI_Comm comm, BytesTo bytes_to) {
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return;
  const Memory memory = memory_of(buffer);
  for (int i = 0; i < static_cast<int>(peers->world_ranks.size()); ++i) {
    if (i == peers->self) continue;
    const std::uint64_t bytes = bytes_to(i);
    if (bytes > 0) recorder.add(Direction::sent, peers->world_ranks[i], memory, bytes);
  }
}

void to_all(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  const std::uint64_t bytes = bytes_of(count, type);
  to_each(buffer, comm, [=](int) { return bytes; });
}

/// To those after this rank, whose prefix sums its data is part of.
void to_later(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return;
  const std::uint64_t bytes = bytes_of(count, type);
  to_each(buffer, comm, [=](int i) { return i > peers->self ? bytes : 0; });
}

void to_root(const void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (root == MPI_PROC_NULL || root == MPI_ROOT) return;
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr || root == peers->self) return;
  const std::uint64_t bytes = bytes_of(count, type);
  if (bytes > 0) recorder.add(Direction::sent, peers->world_ranks[root], memory_of(buffer), bytes);
}

bool sends_as_root(int root, MPI_Comm comm) {
  const Peers* const peers = peers_of(comm);
  if (peers == nullptr) return false;
  return peers->is_inter() ? root == MPI_ROOT : root == peers->self;
}

void from_root(const void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (sends_as_root(root, comm)) to_all(buffer, count, type, comm);
}

void from_root(const void* buffer, const int* counts, MPI_Datatype type, int root, MPI_Comm comm) {
  if (sends_as_root(root, comm)) to_each(buffer, comm, [=](int i) { return bytes_of(counts[i], type); });
}

int own_rank(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

/// What MPI_IN_PLACE in the first buffer means: the data lie in the second one, described by its count and type.
struct Data {
  const void* buffer;
  int count;
  MPI_Datatype type;
};

Data data_of(Data sent, Data in_place) {
  return sent.buffer == MPI_IN_PLACE ? in_place : sent;
}

void to_all(Data data, MPI_Comm comm) {
  to_all(data.buffer, data.count, data.type, comm);
}

}  // namespace
}  // namespace selvage::profile

#define SELVAGE_LIST(...) __VA_ARGS__

// A collective and its non-blocking form, which has one more parameter.
#define SELVAGE_COLLECTIVE(name, nonblocking, parameters, arguments, record)  \
  SELVAGE_WRAP(name, parameters, arguments, record);                          \
  SELVAGE_WRAP(nonblocking, (SELVAGE_LIST parameters, MPI_Request * request), \
               (SELVAGE_LIST arguments, request), record)

SELVAGE_COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                   (buffer, count, type, root, comm), from_root(buffer, count, type, root, comm));
SELVAGE_COLLECTIVE(Reduce, Ireduce,
                   (const void* buffer, void* result_buffer, int count, MPI_Datatype type, MPI_Op operation,
                    int root, MPI_Comm comm),
                   (buffer, result_buffer, count, type, operation, root, comm),
                   to_root(buffer, count, type, root, comm));
SELVAGE_COLLECTIVE(Allreduce, Iallreduce,
                   (const void* buffer, void* result_buffer, int count, MPI_Datatype type, MPI_Op operation,
                    MPI_Comm comm),
                   (buffer, result_buffer, count, type, operation, comm),
                   to_all(buffer == MPI_IN_PLACE ? result_buffer : buffer, count, type, comm));
SELVAGE_COLLECTIVE(Scan, Iscan,
                   (const void* buffer, void* result_buffer, int count, MPI_Datatype type, MPI_Op operation,
                    MPI_Comm comm),
                   (buffer, result_buffer, count, type, operation, comm),
                   to_later(buffer == MPI_IN_PLACE ? result_buffer : buffer, count, type, comm));
SELVAGE_COLLECTIVE(Exscan, Iexscan,
                   (const void* buffer, void* result_buffer, int count, MPI_Datatype type, MPI_Op operation,
                    MPI_Comm comm),
                   (buffer, result_buffer, count, type, operation, comm),
                   to_later(buffer == MPI_IN_PLACE ? result_buffer : buffer, count, type, comm));
SELVAGE_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                   (const void* buffer, void* result_buffer, const int counts[], MPI_Datatype type,
                    MPI_Op operation, MPI_Comm comm),
                   (buffer, result_buffer, counts, type, operation, comm),
                   to_each(buffer == MPI_IN_PLACE ? result_buffer : buffer, comm,
                           [=](int i) { return bytes_of(counts[i], type); }));
SELVAGE_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                   (const void* buffer, void* result_buffer, int count, MPI_Datatype type, MPI_Op operation,
                    MPI_Comm comm),
                   (buffer, result_buffer, count, type, operation, comm),
                   to_all(buffer == MPI_IN_PLACE ? result_buffer : buffer, count, type, comm));

SELVAGE_COLLECTIVE(Gather, Igather,
                   (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
                    MPI_Datatype result_type, int root, MPI_Comm comm),
                   (buffer, count, type, result_buffer, result_count, result_type, root, comm),
                   to_root(buffer, count, type, root, comm));
SELVAGE_COLLECTIVE(Gatherv, Igatherv,
                   (const void* buffer, int count, MPI_Datatype type, void* result_buffer, const int counts[],
                    const int offsets[], MPI_Datatype result_type, int root, MPI_Comm comm),
                   (buffer, count, type, result_buffer, counts, offsets, result_type, root, comm),
                   to_root(buffer, count, type, root, comm));
SELVAGE_COLLECTIVE(Scatter, Iscatter,
                   (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
                    MPI_Datatype result_type, int root, MPI_Comm comm),
                   (buffer, count, type, result_buffer, result_count, result_type, root, comm),
                   from_root(buffer, count, type, root, comm));
SELVAGE_COLLECTIVE(Scatterv, Iscatterv,
                   (const void* buffer, const int counts[], const int offsets[], MPI_Datatype type,
                    void* result_buffer, int result_count, MPI_Datatype result_type, int root, MPI_Comm comm),
                   (buffer, counts, offsets, type, result_buffer, result_count, result_type, root, comm),
                   from_root(buffer, counts, type, root, comm));

SELVAGE_COLLECTIVE(Allgather, Iallgather,
                   (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
                    MPI_Datatype result_type, MPI_Comm comm),
                   (buffer, count, type, result_buffer, result_count, result_type, comm),
                   to_all(data_of({buffer, count, type}, {result_buffer, result_count, result_type}), comm));
SELVAGE_COLLECTIVE(
    Allgatherv, Iallgatherv,
    (const void* buffer, int count, MPI_Datatype type, void* result_buffer, const int counts[],
     const int offsets[], MPI_Datatype result_type, MPI_Comm comm),
    (buffer, count, type, result_buffer, counts, offsets, result_type, comm),
    to_all(data_of({buffer, count, type}, {result_buffer, counts[own_rank(comm)], result_type}), comm));
SELVAGE_COLLECTIVE(Alltoall, Ialltoall,
                   (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
                    MPI_Datatype result_type, MPI_Comm comm),
                   (buffer, count, type, result_buffer, result_count, result_type, comm),
                   to_all(data_of({buffer, count, type}, {result_buffer, result_count, result_type}), comm));

// The three arrays of the in-place forms are those of the result.
SELVAGE_COLLECTIVE(Alltoallv, Ialltoallv,
                   (const void* buffer, const int counts[], const int offsets[], MPI_Datatype type,
                    void* result_buffer, const int result_counts[], const int result_offsets[],
                    MPI_Datatype result_type, MPI_Comm comm),
                   (buffer, counts, offsets, type, result_buffer, result_counts, result_offsets, result_type,
                    comm),
                   const bool in_place = buffer == MPI_IN_PLACE;
                   to_each(in_place ? result_buffer : buffer, comm, [=](int i) {
                     return in_place ? bytes_of(result_counts[i], result_type) : bytes_of(counts[i], type);
                   }));
SELVAGE_COLLECTIVE(Alltoallw, Ialltoallw,
                   (const void* buffer, const int counts[], const int offsets[], const MPI_Datatype types[],
                    void* result_buffer, const int result_counts[], const int result_offsets[],
                    const MPI_Datatype result_types[], MPI_Comm comm),
                   (buffer, counts, offsets, types, result_buffer, result_counts, result_offsets,
                    result_types, comm),
                   const bool in_place = buffer == MPI_IN_PLACE;
                   to_each(in_place ? result_buffer : buffer, comm, [=](int i) {
                     return in_place ? bytes_of(result_counts[i], result_types[i])
                                     : bytes_of(counts[i], types[i]);
                   }));
