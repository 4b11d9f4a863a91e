#pragma once

#include "part.hpp"

// The writer is a library of its own, libselvage_profile_writer.so, which the recorder opens for itself alone when
// there is something to write. So HDF5 is never among the libraries that the program's own symbols are looked up in:
// a program with another HDF5 keeps it, and one without doesn't notice. Nothing here knows MPI.

namespace selvage::profile {

struct Totals {
  int ranks = 0;
  const char* mpi_library = "";
  double seconds = 0;                // the longest of the ranks
  double communication_seconds = 0;  // the mean over the ranks
  bool complete = true;              // whether every rank got as far as MPI_Finalize
  std::uint64_t histograms[memories][histogram_bins] = {};
};

/// Fills `values` with the rows of one sender: memories x quantities x ranks. Asked for each rank once, in order.
using FetchRows = void (*)(void* context, int sender, std::uint64_t* values);

/// Where a failure's text goes.
struct Failure {
  char text[512] = {};
};

/// Writes aside and moves into place, so that no half-written file bears the name.
/// \return whether it succeeded
using WriteProfile = bool (*)(const char* path, const Totals& totals, FetchRows fetch, void* context,
                              Failure& failure);

/// Makes `output` from the parts `<parts_of>.rank<n>` that the ranks of an unfinished run left, and removes them. Where it succeeds
/// without some ranks' parts, the text names these.
using MergeProfile = bool (*)(const char* parts_of, const char* output, Failure& failure);

extern "C" bool selvage_profile_write(const char* path, const Totals& totals, FetchRows fetch, void* context,
                                      Failure& failure);
extern "C" bool selvage_profile_merge(const char* parts_of, const char* output, Failure& failure);

}  // namespace selvage::profile
