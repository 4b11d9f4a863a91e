#include "wrap.hpp"

// Calls that send nothing, or nothing that is counted, but in which a program waits for the others.

SELVAGE_TIME(Recv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g),
             (a, b, c, d, e, f, g));
SELVAGE_TIME(Irecv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),
             (a, b, c, d, e, f, g));
SELVAGE_TIME(Mrecv, (void* a, int b, MPI_Datatype c, MPI_Message* d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(Imrecv, (void* a, int b, MPI_Datatype c, MPI_Message* d, MPI_Request* e), (a, b, c, d, e));
SELVAGE_TIME(Probe, (int a, int b, MPI_Comm c, MPI_Status* d), (a, b, c, d));
SELVAGE_TIME(Iprobe, (int a, int b, MPI_Comm c, int* d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(Mprobe, (int a, int b, MPI_Comm c, MPI_Message* d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(Improbe, (int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f), (a, b, c, d, e, f));

SELVAGE_TIME(Wait, (MPI_Request * a, MPI_Status* b), (a, b));
SELVAGE_TIME(Waitall, (int a, MPI_Request b[], MPI_Status c[]), (a, b, c));
SELVAGE_TIME(Waitany, (int a, MPI_Request b[], int* c, MPI_Status* d), (a, b, c, d));
SELVAGE_TIME(Waitsome, (int a, MPI_Request b[], int* c, int d[], MPI_Status e[]), (a, b, c, d, e));
SELVAGE_TIME(Test, (MPI_Request * a, int* b, MPI_Status* c), (a, b, c));
SELVAGE_TIME(Testall, (int a, MPI_Request b[], int* c, MPI_Status d[]), (a, b, c, d));
SELVAGE_TIME(Testany, (int a, MPI_Request b[], int* c, int* d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(Testsome, (int a, MPI_Request b[], int* c, int d[], MPI_Status e[]), (a, b, c, d, e));
SELVAGE_TIME(Buffer_detach, (void* a, int* b), (a, b));

SELVAGE_TIME(Barrier, (MPI_Comm a), (a));
SELVAGE_TIME(Ibarrier, (MPI_Comm a, MPI_Request* b), (a, b));

SELVAGE_TIME(Comm_dup, (MPI_Comm a, MPI_Comm* b), (a, b));
SELVAGE_TIME(Comm_split, (MPI_Comm a, int b, int c, MPI_Comm* d), (a, b, c, d));
SELVAGE_TIME(Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e), (a, b, c, d, e));
SELVAGE_TIME(Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm* c), (a, b, c));
SELVAGE_TIME(Comm_create_group, (MPI_Comm a, MPI_Group b, int c, MPI_Comm* d), (a, b, c, d));
SELVAGE_TIME(Intercomm_create, (MPI_Comm a, int b, MPI_Comm c, int d, int e, MPI_Comm* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(Cart_create, (MPI_Comm a, int b, const int c[], const int d[], int e, MPI_Comm* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(Dist_graph_create_adjacent,
             (MPI_Comm a, int b, const int c[], const int d[], int e, const int f[], const int g[],
              MPI_Info h, int i, MPI_Comm* j),
             (a, b, c, d, e, f, g, h, i, j));
SELVAGE_TIME(Comm_free, (MPI_Comm * a), (a));

SELVAGE_TIME(Win_create, (void* a, MPI_Aint b, int c, MPI_Info d, MPI_Comm e, MPI_Win* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(Win_allocate, (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void* e, MPI_Win* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(Win_allocate_shared, (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void* e, MPI_Win* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(Win_free, (MPI_Win * a), (a));
SELVAGE_TIME(Win_fence, (int a, MPI_Win b), (a, b));
SELVAGE_TIME(Win_start, (MPI_Group a, int b, MPI_Win c), (a, b, c));
SELVAGE_TIME(Win_complete, (MPI_Win a), (a));
SELVAGE_TIME(Win_post, (MPI_Group a, int b, MPI_Win c), (a, b, c));
SELVAGE_TIME(Win_wait, (MPI_Win a), (a));
SELVAGE_TIME(Win_test, (MPI_Win a, int* b), (a, b));
SELVAGE_TIME(Win_lock, (int a, int b, int c, MPI_Win d), (a, b, c, d));
SELVAGE_TIME(Win_unlock, (int a, MPI_Win b), (a, b));
SELVAGE_TIME(Win_lock_all, (int a, MPI_Win b), (a, b));
SELVAGE_TIME(Win_unlock_all, (MPI_Win a), (a));
SELVAGE_TIME(Win_flush, (int a, MPI_Win b), (a, b));
SELVAGE_TIME(Win_flush_all, (MPI_Win a), (a));
SELVAGE_TIME(Win_flush_local, (int a, MPI_Win b), (a, b));
SELVAGE_TIME(Win_flush_local_all, (MPI_Win a), (a));

// Open MPI can do files by code that calls MPI itself: counted as time only, like the rest.
SELVAGE_TIME(File_open, (MPI_Comm a, const char* b, int c, MPI_Info d, MPI_File* e), (a, b, c, d, e));
SELVAGE_TIME(File_close, (MPI_File * a), (a));
SELVAGE_TIME(File_read, (MPI_File a, void* b, int c, MPI_Datatype d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(File_read_at, (MPI_File a, MPI_Offset b, void* c, int d, MPI_Datatype e, MPI_Status* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(File_write, (MPI_File a, const void* b, int c, MPI_Datatype d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(File_write_at, (MPI_File a, MPI_Offset b, const void* c, int d, MPI_Datatype e, MPI_Status* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(File_read_all, (MPI_File a, void* b, int c, MPI_Datatype d, MPI_Status* e), (a, b, c, d, e));
SELVAGE_TIME(File_read_at_all, (MPI_File a, MPI_Offset b, void* c, int d, MPI_Datatype e, MPI_Status* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(File_write_all, (MPI_File a, const void* b, int c, MPI_Datatype d, MPI_Status* e),
             (a, b, c, d, e));
SELVAGE_TIME(File_write_at_all,
             (MPI_File a, MPI_Offset b, const void* c, int d, MPI_Datatype e, MPI_Status* f),
             (a, b, c, d, e, f));
SELVAGE_TIME(File_set_view,
             (MPI_File a, MPI_Offset b, MPI_Datatype c, MPI_Datatype d, const char* e, MPI_Info f),
             (a, b, c, d, e, f));
SELVAGE_TIME(File_set_size, (MPI_File a, MPI_Offset b), (a, b));
SELVAGE_TIME(File_sync, (MPI_File a), (a));
