#pragma once

#include <selvage/comm/datatype.hpp>

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::bench {

/// A layout of an application, described three times: for us, for MPI, and as the list that a hand-written
/// pack loop runs over.
struct SampleLayout {
  std::string name;
  Datatype ours;
  MPI_Datatype mpi = MPI_DATATYPE_NULL;  ///< committed; lives until the program ends
  int element_bytes = 0;                 ///< 4 or 8
  std::int64_t block_length = 0;         ///< elements; all blocks are equally long
  std::vector<std::int64_t> blocks;      ///< where each begins, in elements, in the order of the message
};

/// After the patterns of DDTBench (Schneider, Gerstenberger, Hoefler, EuroMPI 2012) that Chu et al. measure;
/// sizes are ours.
/// - milc: the z face of a 4D lattice of su3 vectors (6 floats), even and odd sites apart: long strided blocks
/// - nas_mg_y, nas_mg_x: faces of an n^3 grid of doubles, rows and single elements
/// - specfem_oc: single floats at irregular places; specfem_cm: the same of 3 floats
/// And, to see from which length on blocks are better copied than packed:
/// - strided_<b>: blocks of b bytes at equal distances
[[nodiscard]] std::vector<SampleLayout> sample_layouts();

}  // namespace selvage::bench
