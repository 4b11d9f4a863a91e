// What the recorder costs a halo loop. A row of ranks, each with a square field of doubles, exchanges two rows with
// each neighbour and sweeps. Blocks of iterations take turns between MPI as the program finds it, which under
// LD_PRELOAD is the recorder, and the MPI library's own functions, so that whatever else runs on the machine meets both
// alike.
//
// usage: halo_loop CELLS ITERATIONS_PER_BLOCK; 0 cells: the exchange of one double each way alone
// prints: microseconds per iteration of the fastest block without and with the recorder, the ratio of these, and the
// median of the ratios of neighbouring blocks
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { pairs = 401 };

struct Mpi {
  __typeof__(&MPI_Irecv) irecv;
  __typeof__(&MPI_Isend) isend;
  __typeof__(&MPI_Waitall) waitall;
};

static struct Mpi functions_of(void* library) {
  struct Mpi mpi;
  *(void**)&mpi.irecv = dlsym(library, "MPI_Irecv");
  *(void**)&mpi.isend = dlsym(library, "MPI_Isend");
  *(void**)&mpi.waitall = dlsym(library, "MPI_Waitall");
  return mpi;
}

// The library that has MPI_Get_version, which no recorder wraps.
static struct Mpi library_functions(void) {
  Dl_info info;
  void* library = NULL;
  if (dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_version"), &info) != 0) library = dlopen(info.dli_fname, RTLD_LAZY);
  if (library == NULL) abort();
  return functions_of(library);
}

struct Field {
  double* from;
  double* to;
  int width, rows, lower, upper;
};

static void exchange(const struct Mpi* mpi, const struct Field* field) {
  MPI_Request requests[4];
  const int width = field->width;
  double* const first = field->from + width;
  double* const last = field->from + (size_t)field->rows * width;
  mpi->irecv(field->from, width, MPI_DOUBLE, field->lower, 0, MPI_COMM_WORLD, &requests[0]);
  mpi->irecv(last + width, width, MPI_DOUBLE, field->upper, 1, MPI_COMM_WORLD, &requests[1]);
  mpi->isend(first, width, MPI_DOUBLE, field->lower, 1, MPI_COMM_WORLD, &requests[2]);
  mpi->isend(last, width, MPI_DOUBLE, field->upper, 0, MPI_COMM_WORLD, &requests[3]);
  mpi->waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sweep(struct Field* field) {
  const int width = field->width;
  for (int row = 1; row <= field->rows; ++row) {
    const double* const here = field->from + (size_t)row * width;
    double* const result = field->to + (size_t)row * width;
    for (int i = 1; i + 1 < width; ++i) {
      result[i] = 0.25 * (here[i - 1] + here[i + 1] + here[i - width] + here[i + width]);
    }
  }
  double* const swapped = field->from;
  field->from = field->to;
  field->to = swapped;
}

// Seconds of the slowest rank.
static double block(const struct Mpi* mpi, struct Field* field, int iterations) {
  double slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    exchange(mpi, field);
    sweep(field);
  }
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const int cells = argc > 1 ? atoi(argv[1]) : 256;
  const int iterations = argc > 2 ? atoi(argv[2]) : 100;
  struct Field field = {.width = cells > 0 ? cells + 2 : 1, .rows = cells > 0 ? cells : 1};
  const struct Mpi found = functions_of(RTLD_DEFAULT), library = library_functions();
  double ratios[pairs], fastest[2] = {1e30, 1e30};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  field.lower = (rank + ranks - 1) % ranks;
  field.upper = (rank + 1) % ranks;
  field.from = calloc((size_t)field.width * (field.rows + 2), sizeof(double));
  field.to = calloc((size_t)field.width * (field.rows + 2), sizeof(double));
  for (int pair = 0; pair < pairs; ++pair) {
    double seconds[2];
    // Which of the two comes first changes too.
    const int first = pair % 2;
    seconds[first] = block(first ? &found : &library, &field, iterations);
    seconds[!first] = block(first ? &library : &found, &field, iterations);
    for (int i = 0; i < 2; ++i) fastest[i] = seconds[i] < fastest[i] ? seconds[i] : fastest[i];
    ratios[pair] = seconds[1] / seconds[0];
  }
  qsort(ratios, pairs, sizeof *ratios, by_value);
  if (rank == 0) {
    printf("%.3f %.3f %.4f %.4f\n", 1e6 * fastest[0] / iterations, 1e6 * fastest[1] / iterations,
           fastest[1] / fastest[0], ratios[pairs / 2]);
  }
  free(field.from);
  free(field.to);
  MPI_Finalize();
  return 0;
}
