// Built where HDF5 does not know MPI; hdf5_parallel.cpp is its counterpart.
#include "common/hdf5_objects.hpp"

namespace selvage::app {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unsupported,
              "this HDF5 was built without MPI: files are written through rank 0 only");
}

}  // namespace

bool hdf5_is_parallel() {
  return false;
}

Hdf5Handle parallel_access(MPI_Comm) {
  refuse();
}

void write_box_together(hid_t, const ArrayBlock&) {
  refuse();
}

}  // namespace selvage::app
