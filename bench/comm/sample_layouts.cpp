#include "sample_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

namespace selvage::bench {
namespace {

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

SampleLayout milc(int edge) {
  constexpr int su3_floats = 6;
  const int plane = edge * edge / 2;  // sites of one parity in an x-y plane
  const int parity_sites = plane * edge * edge;
  const Datatype su3 = Datatype::contiguous(su3_floats, Datatype::of<float>());
  const Datatype face = Datatype::vector(edge, plane, plane * edge, su3);
  MPI_Datatype mpi_su3 = MPI_DATATYPE_NULL;
  MPI_Datatype mpi_face = MPI_DATATYPE_NULL;
  MPI_Datatype mpi = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(su3_floats, MPI_FLOAT, &mpi_su3);
  MPI_Type_vector(edge, plane, plane * edge, mpi_su3, &mpi_face);
  const std::int64_t parity_bytes = std::int64_t{4} * su3_floats * parity_sites;
  MPI_Type_create_hvector(2, 1, parity_bytes, mpi_face, &mpi);
  SampleLayout layout{
      "milc", Datatype::hvector(2, 1, parity_bytes, face), committed(mpi), 4, su3_floats * plane, {}};
  for (int parity = 0; parity < 2; ++parity) {
    for (int t = 0; t < edge; ++t)
      layout.blocks.push_back(std::int64_t{su3_floats} * (parity * parity_sites + t * plane * edge));
  }
  return layout;
}

/// \param along_rows  the y face, of whole rows; else the x face, of single elements
SampleLayout nas_mg(int n, bool along_rows) {
  const std::array<int, 3> sizes{n, n, n};
  const std::array<int, 3> subsizes = along_rows ? std::array{n, 1, n} : std::array{n, n, 1};
  const std::array<int, 3> starts{};
  MPI_Datatype mpi = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &mpi);
  const std::array<std::int64_t, 3> wide{n, n, n};
  const std::array<std::int64_t, 3> wide_sub{subsizes[0], subsizes[1], subsizes[2]};
  SampleLayout layout{
      along_rows ? "nas_mg_y" : "nas_mg_x",
      Datatype::subarray(wide, wide_sub, std::array<std::int64_t, 3>{}, Datatype::of<double>()),
      committed(mpi),
      8,
      along_rows ? n : 1,
      {}};
  for (std::int64_t z = 0; z < n; ++z) {
    for (std::int64_t y = 0; y < subsizes[1]; ++y) layout.blocks.push_back((z * n + y) * n);
  }
  return layout;
}

SampleLayout specfem(const char* name, int points, int floats_per_point) {
  std::vector<int> displacements(points);
  std::mt19937 engine(points);
  int next = 0;
  // Points of a surface in an unstructured mesh: neighbours often, but not always, lie close.
  for (int& displacement : displacements) {
    displacement = next;
    next += floats_per_point * static_cast<int>(1 + engine() % 12);
  }
  std::shuffle(displacements.begin(), displacements.begin() + points / 2, engine);
  MPI_Datatype mpi = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(points, floats_per_point, displacements.data(), MPI_FLOAT, &mpi);
  SampleLayout layout{
      name, Datatype::of<float>(), committed(mpi),
      4,    floats_per_point,      std::vector<std::int64_t>(displacements.begin(), displacements.end())};
  layout.ours = Datatype::indexed(std::vector<std::int64_t>(points, floats_per_point), layout.blocks,
                                  Datatype::of<float>());
  return layout;
}

/// 64 KB in blocks with fifteen of their lengths between them.
SampleLayout strided(int block_bytes) {
  const int length = block_bytes / static_cast<int>(sizeof(double));
  const int count = (64 << 10) / block_bytes;
  const int stride = 16 * length;
  MPI_Datatype mpi = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, MPI_DOUBLE, &mpi);
  SampleLayout layout{fmt::format("strided_{}", block_bytes),
                      Datatype::vector(count, length, stride, Datatype::of<double>()),
                      committed(mpi),
                      8,
                      length,
                      {}};
  for (int i = 0; i < count; ++i) layout.blocks.push_back(std::int64_t{i} * stride);
  return layout;
}

}  // namespace

std::vector<SampleLayout> sample_layouts() {
  std::vector<SampleLayout> layouts;
  for (const int edge : {8, 16, 24}) layouts.push_back(milc(edge));
  for (const int n : {32, 128}) {
    layouts.push_back(nas_mg(n, true));
    layouts.push_back(nas_mg(n, false));
  }
  for (const int points : {2'000, 32'000}) {
    layouts.push_back(specfem("specfem_oc", points, 1));
    layouts.push_back(specfem("specfem_cm", points, 3));
  }
  for (const int block_bytes : {8, 16, 32, 64, 128, 256}) layouts.push_back(strided(block_bytes));
  return layouts;
}

}  // namespace selvage::bench
