// A program with an HDF5 of its own, which the recorder must leave alone: files may stay open across MPI_Finalize, and
// neither the way in which errors are printed nor which library answers may change.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

static int failures;

static void expect(int condition, const char* what) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "own_hdf5: %s\n", what);
}

static herr_t count_errors(hid_t stack, void* count) {
  (void)stack;
  ++*(int*)count;
  return 0;
}

int main(int argc, char** argv) {
  int rank, errors = 0, number = 42, found = 0;
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "own-%d.h5", rank);
  H5Eset_auto2(H5E_DEFAULT, count_errors, &errors);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  // A parallel HDF5 ends with MPI, and so must its files; a serial one doesn't know MPI.
#ifndef H5_HAVE_PARALLEL
  MPI_Finalize();
#endif

  const hid_t data = H5Dcreate2(file, "number", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  expect(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number) >= 0,
         "can't write after the end");
  expect(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found) >= 0 && found == 42,
         "can't read back");
  expect(errors == 0, "errors of the recorder reached this program");
  expect(H5Dopen2(file, "nothing", H5P_DEFAULT) < 0 && errors == 1,
         "errors are handled in another way than before");
  H5Dclose(data);
  H5Sclose(space);
  expect(H5Fclose(file) >= 0, "can't close the file");
#ifdef H5_HAVE_PARALLEL
  MPI_Finalize();
#endif
  remove(name);
  return failures == 0 ? 0 : 1;
}
