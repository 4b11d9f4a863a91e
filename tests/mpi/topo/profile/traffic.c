// Programs with known traffic, one per name; profile_check.cpp knows what each of them sends.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rounds = 10, most_doubles = 4096, threads = 4 };

static int rank, ranks;
static double in[most_doubles];
static _Alignas(4096) double buffers[2][most_doubles];  // no page is of both
static double* out = buffers[0];

static int after(int n) {
  return (rank + n) % ranks;
}
static int before(int n) {
  return (rank + ranks - n) % ranks;
}

static void ring(void) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Sendrecv(out, 100, MPI_DOUBLE, after(1), 0, in, 100, MPI_DOUBLE, before(1), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(out, 7, MPI_INT, before(1), 1, after(1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Each kind of send once, with a length of its own, and one to nobody.
static void sends(void) {
  static char buffer[1 << 16];
  MPI_Request receives[8], requests[4];
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int i = 0; i < 8; ++i)
    MPI_Irecv(in + 512 * i, 512, MPI_DOUBLE, before(1), i, MPI_COMM_WORLD, &receives[i]);
  MPI_Barrier(MPI_COMM_WORLD);  // the ready sends need their receives
  MPI_Send(out, 1, MPI_DOUBLE, after(1), 0, MPI_COMM_WORLD);
  MPI_Bsend(out, 2, MPI_DOUBLE, after(1), 2, MPI_COMM_WORLD);
  MPI_Rsend(out, 4, MPI_DOUBLE, after(1), 3, MPI_COMM_WORLD);
  MPI_Isend(out, 8, MPI_DOUBLE, after(1), 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(out, 16, MPI_DOUBLE, after(1), 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Ibsend(out, 32, MPI_DOUBLE, after(1), 6, MPI_COMM_WORLD, &requests[2]);
  MPI_Irsend(out, 64, MPI_DOUBLE, after(1), 7, MPI_COMM_WORLD, &requests[3]);
  MPI_Send(out, 128, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Issend(out, 0, MPI_DOUBLE, after(1), 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Waitall(8, receives, MPI_STATUSES_IGNORE);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  int size = 0;
  void* detached = NULL;
  MPI_Buffer_detach(&detached, &size);
  if (rank == 0) MPI_Ssend(out, 256, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, 256, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// A column of a matrix: a derived type, of which only the cells count and not the gaps.
static void halo(void) {
  MPI_Datatype column;
  MPI_Comm line;
  int lower, upper, periodic = 0;
  MPI_Request requests[4];
  MPI_Type_vector(32, 1, 64, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
  MPI_Cart_shift(line, 0, 1, &lower, &upper);
  for (int i = 0; i < rounds; ++i) {
    MPI_Irecv(in, 1, column, lower, 0, line, &requests[0]);
    MPI_Irecv(in + 1, 1, column, upper, 0, line, &requests[1]);
    MPI_Isend(out, 1, column, lower, 0, line, &requests[2]);
    MPI_Isend(out, 1, column, upper, 0, line, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Type_free(&column);
  MPI_Comm_free(&line);
}

static void persistent(void) {
  MPI_Request requests[2], again;
  MPI_Send_init(out, 50, MPI_FLOAT, after(1), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 50, MPI_FLOAT, before(1), 0, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < rounds; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  // May get the handle of the first one; never started.
  MPI_Ssend_init(out, 60, MPI_FLOAT, after(1), 0, MPI_COMM_WORLD, &again);
  MPI_Request_free(&again);
  MPI_Recv_init(in, 60, MPI_FLOAT, before(1), 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Ssend_init(out, 60, MPI_FLOAT, after(1), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Start(&requests[1]);
  MPI_Start(&requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// Ranks of the halves count backwards, and handles are used again after their communicators are gone.
static void sub_communicators(void) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm half, copy;
    int half_rank, half_ranks;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == i % 2, -rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_ranks);
    MPI_Comm_dup(half, &copy);
    if (half_rank == 0 && half_ranks > 1) MPI_Send(out, 5, MPI_DOUBLE, half_ranks - 1, 0, copy);
    if (half_rank == half_ranks - 1 && half_ranks > 1) {
      MPI_Recv(in, 5, MPI_DOUBLE, 0, 0, copy, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&half);
    MPI_Bcast(out, 3, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
  }
}

// The even ranks send to the odd ones over an intercommunicator.
static void between_groups(void) {
  MPI_Comm half, both;
  int half_rank, remote_ranks;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 0, &both);
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_remote_size(both, &remote_ranks);
  if (rank % 2 == 0 && half_rank < remote_ranks) MPI_Send(out, 11, MPI_INT, half_rank, 0, both);
  if (rank % 2 == 1) MPI_Recv(in, 11, MPI_INT, half_rank, 0, both, MPI_STATUS_IGNORE);
  MPI_Bcast(out, 13, MPI_INT, rank % 2 == 1 ? 0 : half_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void collectives(void) {
  int counts[64], offsets[64], request_count = 0;
  MPI_Request requests[8];
  for (int i = 0; i < ranks; ++i) counts[i] = i, offsets[i] = 16 * i;
  MPI_Bcast(out, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(out, 8, MPI_DOUBLE, in, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Scatter(out, 16, MPI_DOUBLE, in, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allgather(out, 32, MPI_DOUBLE, in, 32, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoall(out, 64, MPI_DOUBLE, in, 64, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Scan(out, in, 128, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibcast(out, 256, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[request_count++]);
  MPI_Iallreduce(out, in, 512, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[request_count++]);
  MPI_Waitall(request_count, requests, MPI_STATUSES_IGNORE);
  MPI_Alltoallv(out, counts, offsets, MPI_CHAR, in, (int[]){rank, rank, rank, rank, rank, rank, rank, rank},
                offsets, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, offsets, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A ring in both directions that knows itself as a graph, and as a periodic grid.
static void neighbours(void) {
  MPI_Comm graph, grid;
  int next[2] = {after(1), after(2)}, previous[2] = {before(1), before(2)}, periodic = 1;
  int weights[2] = {1, 1};
  int counts[2] = {3, 0}, offsets[2] = {0, 8}, extent = ranks;
  MPI_Request request;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, previous, weights, 2, next, weights, MPI_INFO_NULL, 0,
                                 &graph);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &extent, &periodic, 0, &grid);
  MPI_Neighbor_allgather(out, 10, MPI_INT, in, 10, MPI_INT, graph);
  MPI_Neighbor_alltoallv(out, counts, offsets, MPI_INT, in, counts, offsets, MPI_INT, graph);
  MPI_Ineighbor_alltoall(out, 20, MPI_INT, in, 20, MPI_INT, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
}

static void one_sided(void) {
  static double exposed[most_doubles];
  MPI_Win window;
  double one = 1, previous;
  MPI_Win_create(exposed, sizeof exposed, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 3, MPI_DOUBLE, after(1), 0, 3, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Get(in, 5, MPI_DOUBLE, after(1), 0, 5, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(out, 7, MPI_DOUBLE, after(1), 0, 7, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Fetch_and_op(&one, &previous, MPI_DOUBLE, after(1), 0, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void* exchange(void* argument) {
  const int tag = (int)(size_t)argument;
  double mine[8] = {0}, theirs[8];
  for (int i = 0; i < 1000; ++i) {
    MPI_Sendrecv(mine, 8, MPI_DOUBLE, after(1), tag, theirs, 8, MPI_DOUBLE, before(1), tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void many_threads(void) {
  pthread_t running[threads];
  for (size_t i = 1; i < threads; ++i) pthread_create(&running[i], NULL, exchange, (void*)i);
  exchange(NULL);
  for (int i = 1; i < threads; ++i) pthread_join(running[i], NULL);
}

// The endings that aren't MPI_Finalize. All ranks have sent by then.
static void aborting(void) {
  ring();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  for (;;) pause();
}

static void all_aborting(void) {
  ring();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 7);
}

static void killed(void) {
  ring();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  for (;;) pause();
}

static void leaving(void) {
  ring();
  MPI_Barrier(MPI_COMM_WORLD);
  exit(3);
}

static void failing(void) {
  ring();
  MPI_Finalize();
  exit(rank == 1 ? 5 : 0);
}

// The driver comes only after the first messages; from then on the buffer is another one, which it says is a GPU's.
static void load_driver(void) {
  void* const driver = dlopen(getenv("PROFILE_TEST_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  void (*set_range)(const void*, size_t) = NULL;
  if (driver != NULL) *(void**)&set_range = dlsym(driver, "fake_cuda_set_device_range");
  if (set_range == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
  out = buffers[1];
  set_range(out, sizeof buffers[1]);
}

static void ring_on_both(void) {
  ring();
  load_driver();
  ring();
}

static void collectives_on_device(void) {
  load_driver();
  MPI_Bcast(out, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, out, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 8, MPI_DOUBLE, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {{"ring", ring},
                {"sends", sends},
                {"halo", halo},
                {"persistent", persistent},
                {"sub_communicators", sub_communicators},
                {"between_groups", between_groups},
                {"collectives", collectives},
                {"neighbours", neighbours},
                {"one_sided", one_sided},
                {"many_threads", many_threads},
                {"ring_on_both", ring_on_both},
                {"collectives_on_device", collectives_on_device},
                {"aborting", aborting},
                {"all_aborting", all_aborting},
                {"killed", killed},
                {"leaving", leaving},
                {"failing", failing}};

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv,
                  argc > 1 && strcmp(argv[1], "many_threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(programs[i].name, argv[1]) == 0) {
      programs[i].run();
      MPI_Finalize();
      return 0;
    }
  }
  fprintf(stderr, "no such program\n");
  return 2;
}
