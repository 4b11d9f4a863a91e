/* Heat in a periodic box, in C: ghosts travel while the cells that need none are computed. */
#include <selvage/selvage.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells_per_axis = 48, steps = 100 };
static const double rate = 0.1; /* of the difference to each of six neighbours, per step */

/* Ends all ranks where a call fails; others may wait for this one. */
static void check(selvage_status status) {
  if (status == SELVAGE_SUCCESS) return;
  fprintf(stderr, "diffuse_in_c: %s\n", selvage_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* An array of this rank's cells, with a ghost on each side of each axis. */
typedef struct {
  int64_t size[3];
  int64_t first[3]; /* the global cell at index 1 of each axis */
} part;

static int64_t at(const part* p, int64_t i, int64_t j, int64_t k) {
  return (i * p->size[1] + j) * p->size[2] + k;
}

static void diffuse_cell(const part* p, int64_t cell, const double* from, double* to) {
  const int64_t i = p->size[1] * p->size[2], j = p->size[2];
  const double around =
      from[cell - i] + from[cell + i] + from[cell - j] + from[cell + j] + from[cell - 1] + from[cell + 1];
  to[cell] = from[cell] + rate * (around - 6 * from[cell]);
}

/* The cells that read no ghost (inner), or the others. */
static void diffuse(const part* p, int inner, const double* from, double* to) {
  for (int64_t i = 1; i < p->size[0] - 1; ++i) {
    for (int64_t j = 1; j < p->size[1] - 1; ++j) {
      const int is_edge = i == 1 || i == p->size[0] - 2 || j == 1 || j == p->size[1] - 2;
      for (int64_t k = 1; k < p->size[2] - 1; ++k) {
        if ((is_edge || k == 1 || k == p->size[2] - 2) != inner) diffuse_cell(p, at(p, i, j, k), from, to);
      }
    }
  }
}

static double wave(const part* p, int64_t i) {
  const double pi = acos(-1.0);
  return sin(2 * pi / cells_per_axis * (double)(p->first[0] + i - 1));
}

static void fill(const part* p, double* u) {
  for (int64_t i = 1; i < p->size[0] - 1; ++i)
    for (int64_t j = 1; j < p->size[1] - 1; ++j)
      for (int64_t k = 1; k < p->size[2] - 1; ++k) u[at(p, i, j, k)] = wave(p, i);
}

/* Over all ranks: how far the cells are from the wave, which keeps its shape and is lower by a known factor. */
static double largest_error(const selvage_context* context, const part* p, const double* u) {
  const double pi = acos(-1.0);
  const double height = pow(1 - 2 * rate * (1 - cos(2 * pi / cells_per_axis)), steps);
  double largest = 0;
  for (int64_t i = 1; i < p->size[0] - 1; ++i)
    for (int64_t j = 1; j < p->size[1] - 1; ++j)
      for (int64_t k = 1; k < p->size[2] - 1; ++k)
        largest = fmax(largest, fabs(u[at(p, i, j, k)] - height * wave(p, i)));
  selvage_allreduce* of_all = NULL;
  check(selvage_allreduce_create(context, &largest, 1, SELVAGE_DOUBLE, SELVAGE_MAX, NULL, &of_all));
  check(selvage_allreduce_run(of_all));
  selvage_allreduce_destroy(of_all);
  return largest;
}

static double solve(const selvage_context* context) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const selvage_grid_options cells = {
      .axes = 3, .cells = {cells_per_axis, cells_per_axis, cells_per_axis}, .periodic = {1, 1, 1}};
  selvage_grid* grid = NULL;
  check(selvage_grid_create(context, &cells, &grid));
  part own;
  int64_t end[3];
  check(selvage_grid_box(grid, rank, own.first, end));
  for (int axis = 0; axis < 3; ++axis) own.size[axis] = end[axis] - own.first[axis] + 2;

  /* Memory that the other ranks of this host reach: nothing is copied on the way. */
  void* memory[2];
  selvage_field fields[2];
  for (int f = 0; f < 2; ++f) {
    check(selvage_allocate(context, (size_t)(own.size[0] * own.size[1] * own.size[2]) * sizeof(double),
                           &memory[f]));
    fields[f] = (selvage_field){.data = memory[f],
                                .element_bytes = sizeof(double),
                                .axes = 3,
                                .extents = {own.size[0], own.size[1], own.size[2]},
                                .strides = {own.size[1] * own.size[2], own.size[2], 1}};
  }
  /* --8<-- [start:halo] */
  const selvage_halo_options options = {.width = {{1, 1}, {1, 1}, {1, 1}}, .alternating = 1};
  selvage_halo* halo = NULL;
  check(selvage_halo_create(grid, &options, 2, fields, &halo));
  /* --8<-- [end:halo] */
  if (rank == 0) fputs(selvage_halo_explain(halo), stdout);

  fill(&own, memory[0]);
  /* --8<-- [start:steps] */
  for (int step = 0; step < steps; ++step) {
    const int from = step % 2;
    check(selvage_halo_start(halo, 1, &from));
    diffuse(&own, 1, memory[from], memory[1 - from]);
    check(selvage_halo_finish(halo));
    diffuse(&own, 0, memory[from], memory[1 - from]);
  }
  /* --8<-- [end:steps] */
  const double error = largest_error(context, &own, memory[steps % 2]);
  selvage_halo_destroy(halo);
  for (int f = 0; f < 2; ++f) check(selvage_deallocate(context, memory[f]));
  selvage_grid_destroy(grid);
  if (rank == 0) printf("after %d steps the largest error is %.1e\n", (int)steps, error);
  return error;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check(selvage_initialize());
  selvage_context* context = NULL;
  check(selvage_context_create(MPI_COMM_WORLD, SELVAGE_HOST, NULL, &context));
  const double error = solve(context);
  selvage_context_destroy(context);
  check(selvage_finalize());
  MPI_Finalize();
  return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
