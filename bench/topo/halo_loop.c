// A halo loop as short as real ones get: a row of ranks, each with a square field of doubles, exchanges two rows with
// each neighbour and sweeps. Prints the microseconds per iteration of the fastest block on the slowest rank.
// usage: halo_loop CELLS ITERATIONS; 0 cells: the exchange of one double each way alone
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 40 };

static void exchange(double* field, int width, int rows, int lower, int upper) {
  MPI_Request requests[4];
  double* const first = field + width;
  double* const last = field + (size_t)rows * width;
  MPI_Irecv(field, width, MPI_DOUBLE, lower, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(last + width, width, MPI_DOUBLE, upper, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(first, width, MPI_DOUBLE, lower, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(last, width, MPI_DOUBLE, upper, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sweep(const double* from, double* to, int width, int rows) {
  for (int row = 1; row <= rows; ++row) {
    const double* const here = from + (size_t)row * width;
    double* const result = to + (size_t)row * width;
    for (int i = 1; i + 1 < width; ++i) {
      result[i] = 0.25 * (here[i - 1] + here[i + 1] + here[i - width] + here[i + width]);
    }
  }
}

int main(int argc, char** argv) {
  const int cells = argc > 1 ? atoi(argv[1]) : 128;
  const int iterations = argc > 2 ? atoi(argv[2]) : 1000;
  const int width = cells > 0 ? cells + 2 : 1;
  const int rows = cells > 0 ? cells : 1;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int lower = (rank + ranks - 1) % ranks, upper = (rank + 1) % ranks;
  double* from = calloc((size_t)width * (rows + 2), sizeof(double));
  double* to = calloc((size_t)width * (rows + 2), sizeof(double));
  double best = 1e30;
  for (int block = 0; block < blocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < iterations; ++i) {
      exchange(from, width, rows, lower, upper);
      sweep(from, to, width, rows);
      double* const swapped = from;
      from = to;
      to = swapped;
    }
    double seconds = MPI_Wtime() - start, slowest;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (slowest < best) best = slowest;
  }
  if (rank == 0) printf("%.6f\n", 1e6 * best / iterations);
  free(from);
  free(to);
  MPI_Finalize();
  return 0;
}
