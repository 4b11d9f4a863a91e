#include "wrap.hpp"

namespace selvage::profile {
namespace {

void moved(Direction direction, const void* buffer, int count, MPI_Datatype type, int target,
           MPI_Win window) {
  if (target == MPI_PROC_NULL) return;
  const Peers* const peers = peers_of_window(window);
  if (peers == nullptr) return;
  recorder.add(direction, peers->world_ranks[target], memory_of(buffer), bytes_of(count, type));
}

void put(const void* buffer, int count, MPI_Datatype type, int target, MPI_Win window) {
  moved(Direction::sent, buffer, count, type, target, window);
}

void got(const void* buffer, int count, MPI_Datatype type, int target, MPI_Win window) {
  moved(Direction::fetched, buffer, count, type, target, window);
}

}  // namespace
}  // namespace selvage::profile

// Puts and accumulates carry the origin's data to the target, gets the target's data to the origin, the others both.
#define SELVAGE_TO_TARGET (buffer, count, type, target, offset, target_count, target_type, window)
SELVAGE_WRAP(Put,
             (const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Win window),
             SELVAGE_TO_TARGET, put(buffer, count, type, target, window));
SELVAGE_WRAP(Get,
             (void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Win window),
             SELVAGE_TO_TARGET, got(buffer, count, type, target, window));
SELVAGE_WRAP(Rput,
             (const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Win window, MPI_Request* request),
             (buffer, count, type, target, offset, target_count, target_type, window, request),
             put(buffer, count, type, target, window));
SELVAGE_WRAP(Rget,
             (void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Win window, MPI_Request* request),
             (buffer, count, type, target, offset, target_count, target_type, window, request),
             got(buffer, count, type, target, window));
SELVAGE_WRAP(Accumulate,
             (const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
             (buffer, count, type, target, offset, target_count, target_type, operation, window),
             put(buffer, count, type, target, window));
SELVAGE_WRAP(Raccumulate,
             (const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Op operation, MPI_Win window, MPI_Request* request),
             (buffer, count, type, target, offset, target_count, target_type, operation, window, request),
             put(buffer, count, type, target, window));

// With MPI_NO_OP nothing travels to the target.
SELVAGE_WRAP(Get_accumulate,
             (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
              MPI_Datatype result_type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
             (buffer, count, type, result_buffer, result_count, result_type, target, offset, target_count,
              target_type, operation, window),
             if (operation != MPI_NO_OP) put(buffer, count, type, target, window);
             got(result_buffer, result_count, result_type, target, window));
SELVAGE_WRAP(Rget_accumulate,
             (const void* buffer, int count, MPI_Datatype type, void* result_buffer, int result_count,
              MPI_Datatype result_type, int target, MPI_Aint offset, int target_count,
              MPI_Datatype target_type, MPI_Op operation, MPI_Win window, MPI_Request* request),
             (buffer, count, type, result_buffer, result_count, result_type, target, offset, target_count,
              target_type, operation, window, request),
             if (operation != MPI_NO_OP) put(buffer, count, type, target, window);
             got(result_buffer, result_count, result_type, target, window));
SELVAGE_WRAP(Fetch_and_op,
             (const void* buffer, void* result_buffer, MPI_Datatype type, int target, MPI_Aint offset,
              MPI_Op operation, MPI_Win window),
             (buffer, result_buffer, type, target, offset, operation, window),
             if (operation != MPI_NO_OP) put(buffer, 1, type, target, window);
             got(result_buffer, 1, type, target, window));
SELVAGE_WRAP(Compare_and_swap,
             (const void* buffer, const void* compared, void* result_buffer, MPI_Datatype type, int target,
              MPI_Aint offset, MPI_Win window),
             (buffer, compared, result_buffer, type, target, offset, window),
             put(buffer, 2, type, target, window);
             got(result_buffer, 1, type, target, window));
