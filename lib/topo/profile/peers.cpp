#include "peers.hpp"

#include <memory>
#include <mutex>
#include <numeric>

namespace selvage::profile {
namespace {

std::mutex making;
Peers world;
MPI_Group world_group = MPI_GROUP_NULL;
int comm_key = MPI_KEYVAL_INVALID;
int window_key = MPI_KEYVAL_INVALID;

int forget_comm(MPI_Comm, int, void* peers, void*) {
  delete static_cast<Peers*>(peers);
  return MPI_SUCCESS;
}

int forget_window(MPI_Win, int, void* peers, void*) {
  delete static_cast<Peers*>(peers);
  return MPI_SUCCESS;
}

std::vector<int> translate(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(size);
  std::vector<int> world_ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world_group, world_ranks.data());
  PMPI_Group_free(&group);
  for (int& rank : world_ranks) rank = rank == MPI_UNDEFINED ? -1 : rank;
  return world_ranks;
}

std::vector<int> cartesian_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  std::vector<int> neighbours;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int lower = MPI_PROC_NULL;
    int upper = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, dimension, 1, &lower, &upper);
    neighbours.insert(neighbours.end(), {lower, upper});
  }
  return neighbours;
}

std::vector<int> graph_neighbours(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> neighbours(count);
  PMPI_Graph_neighbors(comm, rank, count, neighbours.data());
  return neighbours;
}

std::vector<int> distributed_graph_neighbours(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> sources(in);
  std::vector<int> source_weights(in);
  std::vector<int> neighbours(out);
  std::vector<int> weights(out);
  PMPI_Dist_graph_neighbors(comm, in, sources.data(), weighted ? source_weights.data() : MPI_UNWEIGHTED, out,
                            neighbours.data(), weighted ? weights.data() : MPI_UNWEIGHTED);
  return neighbours;
}

std::vector<int> out_neighbours(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return cartesian_neighbours(comm);
  if (topology == MPI_GRAPH) return graph_neighbours(comm);
  if (topology == MPI_DIST_GRAPH) return distributed_graph_neighbours(comm);
  return {};
}

std::unique_ptr<Peers> make_peers(MPI_Comm comm) {
  auto peers = std::make_unique<Peers>();
  int is_inter = 0;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) {
    PMPI_Comm_remote_group(comm, &group);
  } else {
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_rank(comm, &peers->self);
    peers->out_neighbours = out_neighbours(comm);
  }
  peers->world_ranks = translate(group);
  return peers;
}

}  // namespace

void start_peers() {
  PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comm_key, nullptr);
  PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &window_key, nullptr);
  world = *make_peers(MPI_COMM_WORLD);
}

const Peers* peers_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return &world;
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, comm_key, &known, &found);
  if (found) return static_cast<const Peers*>(known);
  const std::lock_guard lock(making);
  // Another thread may have been faster.
  PMPI_Comm_get_attr(comm, comm_key, &known, &found);
  if (found) return static_cast<const Peers*>(known);
  auto peers = make_peers(comm);
  if (PMPI_Comm_set_attr(comm, comm_key, peers.get()) != MPI_SUCCESS) return nullptr;
  return peers.release();
}

const Peers* peers_of_window(MPI_Win window) {
  void* known = nullptr;
  int found = 0;
  PMPI_Win_get_attr(window, window_key, &known, &found);
  if (found) return static_cast<const Peers*>(known);
  const std::lock_guard lock(making);
  PMPI_Win_get_attr(window, window_key, &known, &found);
  if (found) return static_cast<const Peers*>(known);
  auto peers = std::make_unique<Peers>();
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  PMPI_Group_rank(group, &peers->self);
  peers->world_ranks = translate(group);
  if (PMPI_Win_set_attr(window, window_key, peers.get()) != MPI_SUCCESS) return nullptr;
  return peers.release();
}

}  // namespace selvage::profile
