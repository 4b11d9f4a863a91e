// Built where HDF5 knows MPI; hdf5_serial.cpp is its counterpart.
#include "common/hdf5_objects.hpp"

namespace selvage::app {

bool hdf5_is_parallel() {
  return true;
}

Hdf5Handle parallel_access(MPI_Comm comm) {
  Hdf5Handle access = serial_access();
  check_hdf5(H5Pset_fapl_mpio(access.id(), comm, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  return access;
}

void write_box_together(hid_t dataset, const ArrayBlock& array) {
  const Hdf5Handle transfer(check_hdf5(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate"), H5Pclose);
  check_hdf5(H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  const Hdf5Handle from = memory_space(array.box);
  const Hdf5Handle to = select_box(array.extent, array.box);
  check_hdf5(H5Dwrite(dataset, native_type(array.type), from.id(), to.id(), transfer.id(), array.data.get()),
             "H5Dwrite of " + array.name);
}

}  // namespace selvage::app
