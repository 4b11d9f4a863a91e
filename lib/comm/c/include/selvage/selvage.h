/* The C interface of Selvage: halos of grids, halos of lists, and sums over all ranks, of arrays given by pointers and strides.
 *
 * Every function but selvage_message(), the functions that only read a handle, and those that destroy one returns a
 * selvage_status. After any other than SELVAGE_SUCCESS, selvage_message() is the reason, and what the function would have
 * written through its pointers is unchanged. Collective functions are called by all ranks of the context, in one order. Where
 * one rank makes a grid, halo, list or allreduce with wrong arguments, the call fails on all ranks, unless a handle is NULL. The
 * arguments of other calls are checked on each rank by itself.
 *
 * Handles are used by one thread at a time. Destroy them in the opposite order of their making, all before selvage_finalize()
 * and MPI_Finalize(); destroying is collective. NULL may be destroyed.
 *
 * Fortran: the module in share/selvage/selvage.f90 has all of it, and says which attributes arrays need. Axis 0 is an array's
 * first index, with stride 1.
 */
#ifndef SELVAGE_SELVAGE_H
#define SELVAGE_SELVAGE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum selvage_status {
  SELVAGE_SUCCESS = 0,
  SELVAGE_USAGE,       /* a call that can't be right */
  SELVAGE_INPUT,       /* an unusable value, file or environment variable */
  SELVAGE_UNSUPPORTED, /* valid, but not built or not possible on this machine */
  SELVAGE_MPI,         /* an MPI call failed */
  SELVAGE_CUDA,        /* a CUDA call failed */
  SELVAGE_IO,          /* a file could not be read or written, or there is no memory to share */
  SELVAGE_TIMEOUT,     /* a rank is late; the message names it */
  SELVAGE_OTHER        /* anything else, such as no memory */
} selvage_status;

/* Why this thread's last call failed: one sentence with the rank and the values. Valid until its next call that fails. */
const char* selvage_message(void);

/* Starts Kokkos, which does the packing, unless the program has. After MPI_Init. */
selvage_status selvage_initialize(void);
/* Ends Kokkos if selvage_initialize() started it. */
selvage_status selvage_finalize(void);

/* Where arrays lie. SELVAGE_DEVICE is the memory of the GPU that Kokkos was started with, as of cudaMalloc. */
typedef enum selvage_memory { SELVAGE_HOST = 0, SELVAGE_DEVICE = 1 } selvage_memory;

/* What elements are. Halos and lists combine the first four; allreduces combine all, complex numbers by sum and average alone. */
typedef enum selvage_type {
  SELVAGE_FLOAT,
  SELVAGE_DOUBLE,
  SELVAGE_INT32,
  SELVAGE_INT64,
  SELVAGE_INT8,
  SELVAGE_INT16,
  SELVAGE_UINT8,
  SELVAGE_UINT16,
  SELVAGE_UINT32,
  SELVAGE_UINT64,
  SELVAGE_HALF,          /* IEEE binary16; it and bfloat16 are combined in fp32 and rounded once */
  SELVAGE_BFLOAT16,      /* the upper half of a float */
  SELVAGE_COMPLEX_FLOAT, /* real and imaginary part, as C's float _Complex */
  SELVAGE_COMPLEX_DOUBLE
} selvage_type;
typedef enum selvage_operation {
  SELVAGE_SUM,
  SELVAGE_PRODUCT,
  SELVAGE_MIN,
  SELVAGE_MAX,
  SELVAGE_AVERAGE
} selvage_operation;

/* ---- contexts: a communicator and what was found out about its machine */

typedef struct selvage_context selvage_context;

/* Collective over comm, which is duplicated.
 * memory  where the arrays of all that is made from this context lie
 * stream  for SELVAGE_DEVICE: the cudaStream_t that all its calls are ordered on, or NULL for Kokkos' default one. A call
 *         returns once its work is enqueued there. Calls with SELVAGE_HOST return when they are done.
 */
selvage_status selvage_context_create(MPI_Comm comm, selvage_memory memory, void* stream,
                                      selvage_context** context);
/* The same for a communicator as Fortran numbers it. */
selvage_status selvage_context_create_f(MPI_Fint comm, selvage_memory memory, void* stream,
                                        selvage_context** context);
void selvage_context_destroy(selvage_context* context);
/* Zeroed host memory that the other ranks of this host can reach directly: arrays that lie there are exchanged without a copy. */
selvage_status selvage_allocate(const selvage_context* context, size_t bytes, void** memory);
/* Gives it back; what isn't given back goes with the context. */
selvage_status selvage_deallocate(const selvage_context* context, void* memory);

/* ---- grids: cells in a box, one part for each rank */

typedef struct selvage_grid selvage_grid;

typedef struct selvage_grid_options {
  int axes;         /* 1 to 3; what follows counts for so many */
  int64_t cells[3]; /* of all ranks, ghosts not counted */
  int periodic[3];  /* not 0: the last cell of the axis is the first one's neighbour */
  int ranks[3];     /* per axis; 0: chosen */
  int keep_order;   /* 0: a rank may get another place than its number's, where that is faster */
} selvage_grid_options;

/* Collective. A process grid. */
selvage_status selvage_grid_create(const selvage_context* context, const selvage_grid_options* options,
                                   selvage_grid** grid);
/* Collective. Each rank brings the cells that it owns, begin (included) to end (not included) per axis; together the boxes hold each
 * cell once. ranks and keep_order stay 0. */
selvage_status selvage_grid_create_of_boxes(const selvage_context* context,
                                            const selvage_grid_options* options, const int64_t* begin,
                                            const int64_t* end, selvage_grid** grid);
void selvage_grid_destroy(selvage_grid* grid);
/* The cells of a rank: begin and end have a value for each axis. */
selvage_status selvage_grid_box(const selvage_grid* grid, int rank, int64_t* begin, int64_t* end);
/* The rank one step along direction (-1, 0 or 1 for each axis), or -1 past a side that isn't periodic. Of process grids. */
selvage_status selvage_grid_neighbour(const selvage_grid* grid, const int* direction, int* rank);

/* ---- halos of grids */

typedef struct selvage_halo selvage_halo;

/* An array of this rank's cells with its ghosts. */
typedef struct selvage_field {
  void* data;           /* its first element, a ghost where there are any */
  size_t element_bytes; /* of one element, whatever it is */
  int axes;             /* the grid's, or one more: the last axis then has components of a cell */
  int64_t extents[4];   /* the box's and the ghosts on both sides, per axis */
  int64_t strides[4];   /* from an element to the next along each axis, in elements */
} selvage_field;

typedef struct selvage_halo_options {
  int width[3][2]; /* ghosts below and above the box, per axis */
  int corners;     /* 0: faces only, ghosts at edges and corners are left alone */
  int alternating; /* not 0: fields take turns, see GhostReuse::alternating in <selvage/comm/options.hpp> */
  const char* transport;  /* NULL: chosen; else peer, copy_engine, mpi_direct or mpi_staged */
  const char* initiation; /* NULL: chosen; else host, stream, queue or kernel */
} selvage_halo_options;

/* Collective. The arrays stay where they are as long as the halo lives; all ranks give as many, in one order (64 at most). */
selvage_status selvage_halo_create(const selvage_grid* grid, const selvage_halo_options* options, int count,
                                   const selvage_field* fields, selvage_halo** halo);
void selvage_halo_destroy(selvage_halo* halo);
/* Collective: as many other arrays in the place of those before, such that selvage_halo_create() would take them. Where it fails, the halo
 * keeps those before. No exchange may have been started. */
selvage_status selvage_halo_rebind(selvage_halo* halo, int count, const selvage_field* fields);
/* Fills the ghosts of some of its fields, by their numbers in selvage_halo_create(); count 0: of all. */
selvage_status selvage_halo_exchange(selvage_halo* halo, int count, const int* fields);
/* In two parts: until selvage_halo_finish(), cells at the boundary must not be written, and ghosts not be read. */
selvage_status selvage_halo_start(selvage_halo* halo, int count, const int* fields);
selvage_status selvage_halo_finish(selvage_halo* halo);
/* The reverse: combines ghosts with the cells they are ghosts of, at their owner, in an order that depends on the grid alone. Any
 * operation but SELVAGE_AVERAGE. */
selvage_status selvage_halo_reduce(selvage_halo* halo, int field, selvage_type type,
                                   selvage_operation operation);
/* What the GPU found out about earlier exchanges; the next one says it, too. */
selvage_status selvage_halo_check(const selvage_halo* halo);
/* A line per neighbour: how it is reached, and why. Valid until the next call of it, or the halo's end. */
const char* selvage_halo_explain(selvage_halo* halo);

/* ---- halos of lists: copies of particles, or of a mesh's nodes, on ranks that need them */

typedef struct selvage_list selvage_list;

typedef struct selvage_list_options {
  int neighbour_count;    /* of neighbours; -1: not known, each rebuild is collective over the context */
  const int* neighbours;  /* all ranks that will ever be sent to or received from */
  const char* transport;  /* NULL: chosen; else peer, mpi_direct or mpi_staged */
  const char* initiation; /* NULL: chosen; else host, stream, queue or kernel */
} selvage_list_options;

/* Collective. A rank owns the first particles of its arrays, and ghosts lie behind them.
 * owned    how many
 * entries  how many ghosts other ranks get of them
 * ids      by entry, the owned particle that is sent
 * ranks    by entry, the rank that gets its ghost; both lie in the context's memory, and aren't needed afterwards
 * options  NULL: nothing is known of neighbours
 */
selvage_status selvage_list_create(const selvage_context* context, int64_t owned, int64_t entries,
                                   const int64_t* ids, const int* ranks, const selvage_list_options* options,
                                   selvage_list** list);
void selvage_list_destroy(selvage_list* list);
/* New lists. Collective among the neighbours that the options name, else over the context. */
selvage_status selvage_list_rebuild(selvage_list* list, int64_t owned, int64_t entries, const int64_t* ids,
                                    const int* ranks);
/* How many ghosts this rank has: those of rank 0's particles first, then of rank 1's, each as in that rank's list. */
int64_t selvage_list_ghosts(const selvage_list* list);

/* Values of particles. */
typedef struct selvage_particles {
  void* data;
  int64_t particles;        /* that it has room for: owned and ghosts at least */
  int components;           /* values of a particle */
  int64_t particle_stride;  /* from a particle to the next, in elements */
  int64_t component_stride; /* from a value to the next, in elements */
} selvage_particles;

/* Fills ghosts with what their owners hold. element_bytes: 1, 2, 4 or 8. */
selvage_status selvage_list_gather(selvage_list* list, const selvage_particles* particles,
                                   size_t element_bytes);
/* The reverse: adds ghosts to what they are ghosts of, in an order that depends on the lists alone. */
selvage_status selvage_list_scatter_add(selvage_list* list, const selvage_particles* particles,
                                        selvage_type type);
/* Each in two parts: until selvage_list_finish(), owned particles must not be written and ghosts not be touched (gather), or owned
 * particles not be touched (scatter_add). */
selvage_status selvage_list_start_gather(selvage_list* list, const selvage_particles* particles,
                                         size_t element_bytes);
selvage_status selvage_list_start_scatter_add(selvage_list* list, const selvage_particles* particles,
                                              selvage_type type);
selvage_status selvage_list_finish(selvage_list* list);

/* ---- sums and the like over all ranks, in place */

typedef struct selvage_allreduce selvage_allreduce;

typedef struct selvage_allreduce_options {
  const char* algorithm; /* NULL: chosen; else one of <selvage/comm/allreduce_options.hpp> */
  int allow_reordering; /* not 0: elements may be combined in another order than by rank, on which bits depend */
  int max_blocks;       /* of threads, on a GPU; 0: as many as help */
} selvage_allreduce_options;

/* Collective. count elements, as many on all ranks, which stay at data as long as the allreduce lives. options may be NULL. */
selvage_status selvage_allreduce_create(const selvage_context* context, void* data, int64_t count,
                                        selvage_type type, selvage_operation operation,
                                        const selvage_allreduce_options* options,
                                        selvage_allreduce** allreduce);
void selvage_allreduce_destroy(selvage_allreduce* allreduce);
selvage_status selvage_allreduce_run(selvage_allreduce* allreduce);
/* In two parts: until selvage_allreduce_finish() the elements must be neither read nor written. */
selvage_status selvage_allreduce_start(selvage_allreduce* allreduce);
selvage_status selvage_allreduce_finish(selvage_allreduce* allreduce);
/* What the GPU found out about earlier runs. */
selvage_status selvage_allreduce_check(const selvage_allreduce* allreduce);
/* The algorithm, and why. Valid until the next call of it, or the end of the handle. */
const char* selvage_allreduce_explain(selvage_allreduce* allreduce);

#ifdef __cplusplus
}
#endif

#endif
