#pragma once

#include "device_memory.hpp"
#include "peers.hpp"
#include "recorder.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>

namespace selvage::profile {

/// The function of that name in the MPI library, which comes after this library in the order of the search.
template <class Function>
Function next_function(const char* name) {
  void* const address = dlsym(RTLD_NEXT, name);
  if (address == nullptr) std::abort();  // this library is linked with the MPI that has it
  return reinterpret_cast<Function>(address);
}

inline std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  // Those that most programs send need no call.
  if (type == MPI_DOUBLE) return static_cast<std::uint64_t>(count) * sizeof(double);
  if (type == MPI_FLOAT) return static_cast<std::uint64_t>(count) * sizeof(float);
  if (type == MPI_BYTE) return static_cast<std::uint64_t>(count);
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

}  // namespace selvage::profile

// Defines MPI_<name>, which calls the MPI library's own and then, if that succeeded, evaluates `record`. All the
// names here that begin with I are of immediate calls.
//
// PMPI_<name> is the same function: the Fortran layers of Open MPI (mpif.h, mpi and mpi_f08) call PMPI_<name>, from a
// library of their own, so that this is where every language's calls meet. MPICH's call MPI_<name>.
#define SELVAGE_WRAP(name, parameters, arguments, record)                         \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters {   \
    using namespace selvage::profile;                                             \
    static const auto next = next_function<decltype(&MPI_##name)>("PMPI_" #name); \
    const Call call(#name[0] == 'I');                                             \
    const int result = next arguments;                                            \
    if (call.counts(result)) {                                                    \
      record;                                                                     \
    }                                                                             \
    return result;                                                                \
  }                                                                               \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name

// The same for a call that moves no message of its own: only its time counts.
#define SELVAGE_TIME(name, parameters, arguments) SELVAGE_WRAP(name, parameters, arguments, (void)0)
