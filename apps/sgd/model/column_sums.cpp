#include "sgd/model/column_sums.hpp"

namespace selvage::sgd {
namespace {

/// A team adds up these in parallel, each a row at a time.
constexpr int tile_columns = 32;
constexpr int team_rows = on_host ? 1 : 32;
/// Rows of a team; where there are more, a second pass adds up what teams have.
constexpr std::int64_t chunk_rows = 1024;

using Scratch =
    Kokkos::View<float**, Kokkos::LayoutRight, Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;

std::int64_t chunks_of(std::int64_t rows) {
  return (rows + chunk_rows - 1) / chunk_rows;
}

struct AsItIs {
  const float* matrix;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i) const { return matrix[i]; }
};

struct Masked {
  float* matrix;
  const float* passed;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i) const {
    const float value = passed[i] > 0 ? matrix[i] : 0;
    matrix[i] = value;
    return value;
  }
};

/// A team per chunk of rows and tile of columns.
template <class Element>
struct AddChunk {
  Element element;
  std::int64_t rows;
  std::int64_t rows_of_team;
  int columns;
  int tiles;
  float* sums;  ///< by chunk

  KOKKOS_FUNCTION void operator()(const RowTeams::member_type& team) const {
    const std::int64_t chunk = team.league_rank() / tiles;
    const int first = team.league_rank() % tiles * tile_columns;
    const int width = columns - first < tile_columns ? columns - first : tile_columns;
    const std::int64_t begin = chunk * rows_of_team;
    const std::int64_t end = Kokkos::min(rows, begin + rows_of_team);
    const Scratch parts(team.team_scratch(0), team_rows, tile_columns);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](const int j) {
      float sum = 0;
      for (std::int64_t row = begin + team.team_rank(); row < end; row += team_rows)
        sum += element(row * columns + first + j);
      parts(team.team_rank(), j) = sum;
    });
    team.team_barrier();
    if (team.team_rank() != 0) return;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](const int j) {
      float sum = 0;
      for (int part = 0; part < team_rows; ++part) sum += parts(part, j);
      sums[chunk * columns + first + j] = sum;
    });
  }
};

template <class Element>
void add_chunks(const Space& space, std::int64_t chunks, const AddChunk<Element>& work) {
  RowTeams teams(space, static_cast<int>(chunks) * work.tiles, team_rows, on_host ? 1 : tile_columns);
  teams.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(team_rows, tile_columns)));
  Kokkos::parallel_for("sgd::column_sums", teams, work);
}

/// \param partial  chunks x columns, where there are several
template <class Element>
void add_columns(const Space& space, const Element& element, std::int64_t rows, const Matrix<float>& partial,
                 float* sums) {
  const int columns = partial.extent_int(1);
  const int tiles = (columns + tile_columns - 1) / tile_columns;
  const std::int64_t chunks = chunks_of(rows);
  if (chunks <= 1) return add_chunks(space, 1, AddChunk<Element>{element, rows, rows, columns, tiles, sums});
  add_chunks(space, chunks, AddChunk<Element>{element, rows, chunk_rows, columns, tiles, partial.data()});
  add_chunks(space, 1, AddChunk<AsItIs>{{partial.data()}, chunks, chunks, columns, tiles, sums});
}

}  // namespace

ColumnSums::ColumnSums(const Space& space, std::int64_t most_rows, int columns)
    : space_(space),
      partial_("sgd: parts of column sums", chunks_of(most_rows) > 1 ? chunks_of(most_rows) : 0, columns) {}

void ColumnSums::add_up(const float* matrix, std::int64_t rows, float* sums) const {
  add_columns(space_, AsItIs{matrix}, rows, partial_, sums);
}

void ColumnSums::mask_and_add_up(float* matrix, const float* passed, std::int64_t rows, float* sums) const {
  add_columns(space_, Masked{matrix, passed}, rows, partial_, sums);
}

}  // namespace selvage::sgd
