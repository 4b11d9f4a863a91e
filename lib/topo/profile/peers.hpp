#pragma once

#include <mpi.h>

#include <vector>

namespace selvage::profile {

/// Whom the ranks of a communicator are, as ranks of MPI_COMM_WORLD (MPI_UNDEFINED: not in it).
struct Peers {
  std::vector<int> world_ranks;     // of the other group, for an intercommunicator
  std::vector<int> out_neighbours;  // in the order in which neighbour collectives send
  int self = -1;                    // own index in world_ranks; -1 for an intercommunicator
  [[nodiscard]] bool is_inter() const { return self < 0; }
};

/// Remembered as an attribute of the communicator or window, so that it ends with it. Local.
/// nullptr when MPI gave no answer.
[[nodiscard]] const Peers* peers_of(MPI_Comm comm);
[[nodiscard]] const Peers* peers_of_window(MPI_Win window);

/// To be called once MPI is started.
void start_peers();

}  // namespace selvage::profile
