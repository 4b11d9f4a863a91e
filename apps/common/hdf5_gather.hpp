#pragma once

#include "common/hdf5_objects.hpp"

namespace selvage::app {

/// Writes an array through rank 0, which receives the other ranks' boxes in pieces of about 16 MiB.
/// Collective. After a failed write the remaining pieces are still received, so that no rank is left sending.
/// \param dataset  open on rank 0, ignored elsewhere
/// \throws Error{io} on rank 0 only
void write_gathered(MPI_Comm comm, const ArrayBlock& array, hid_t dataset);

}  // namespace selvage::app
