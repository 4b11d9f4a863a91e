// A partition and arrays that a program had before Selvage: uneven slabs of rows, an array that is indexed by global cells and one
// with two integers per cell, both in one exchange. Ghosts are then folded into their owners.
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_OffsetView.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

using Space = Kokkos::DefaultExecutionSpace;
using Cells = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
using Heat = Kokkos::Experimental::OffsetView<double**, Kokkos::LayoutRight, Space::memory_space>;
using Marks = Kokkos::View<std::int64_t** [2], Space::memory_space>;

constexpr std::int64_t columns = 20;

/// Rank r has r + 3 rows.
std::int64_t first_row_of(int rank) {
  return static_cast<std::int64_t>(rank) * (rank + 5) / 2;
}

/// Of a cell, which may be a ghost, in a periodic box.
KOKKOS_FUNCTION std::int64_t number_of(std::int64_t row, std::int64_t column, std::int64_t rows) {
  return (row + rows) % rows * columns + (column + columns) % columns;
}

void fill(const Space& space, const selvage::Box<2>& own, std::int64_t rows, const Heat& heat,
          const Marks& marks) {
  const std::int64_t first = own.begin[0];
  Kokkos::parallel_for(
      "fill", Cells(space, {own.begin[0], own.begin[1]}, {own.end[0], own.end[1]}),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t column) {
        const std::int64_t number = number_of(row, column, rows);
        heat(row, column) = static_cast<double>(number);
        marks(row - first + 1, column + 1, 0) = number;
        marks(row - first + 1, column + 1, 1) = -number;
      });
}

/// Cells and ghosts of this rank that hold something else than their number.
std::int64_t count_wrong(const Space& space, const selvage::Box<2>& own, std::int64_t rows, const Heat& heat,
                         const Marks& marks) {
  const std::int64_t first = own.begin[0];
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "check", Cells(space, {own.begin[0] - 1, -1}, {own.end[0] + 1, columns + 1}),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t column, std::int64_t & sum) {
        const std::int64_t number = number_of(row, column, rows);
        if (heat(row, column) != static_cast<double>(number)) ++sum;
        if (marks(row - first + 1, column + 1, 0) != number) ++sum;
        if (marks(row - first + 1, column + 1, 1) != -number) ++sum;
      },
      wrong);
  return wrong;
}

/// Owned cells that don't hold the sum of their number and of its copies, one in each ghost that is a copy of the cell.
std::int64_t count_wrong_sums(const Space& space, const selvage::Box<2>& own, std::int64_t rows,
                              const Heat& heat) {
  const std::int64_t first = own.begin[0], last = own.end[0] - 1;
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "check sums", Cells(space, {own.begin[0], own.begin[1]}, {own.end[0], own.end[1]}),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t column, std::int64_t & sum) {
        const int rows_with_it = row == first || row == last ? 2 : 1;
        const int columns_with_it = column == 0 || column == columns - 1 ? 2 : 1;
        const std::int64_t wanted = rows_with_it * columns_with_it * number_of(row, column, rows);
        if (heat(row, column) != static_cast<double>(wanted)) ++sum;
      },
      wrong);
  return wrong;
}

int run() {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);

  // --8<-- [start:partition]
  const std::int64_t rows = first_row_of(context.size());
  const std::int64_t begin = first_row_of(context.rank()), end = first_row_of(context.rank() + 1);
  const selvage::Box<2> own{.begin = {begin, 0}, .end = {end, columns}};
  const selvage::Grid<2> grid(context, {.cells = {rows, columns}, .periodic = {true, true}}, own);
  // --8<-- [end:partition]

  // --8<-- [start:fields]
  Heat heat("heat", {begin - 1, end}, {-1, columns});  // by global cell, ghosts included
  Marks marks("marks", end - begin + 2, columns + 2);
  selvage::HaloExchange halo(space, grid, {.width = 1}, heat, marks);
  if (context.rank() == 0) std::fputs(halo.explain().c_str(), stdout);

  fill(space, own, rows, heat, marks);
  halo.exchange(space, heat, marks);  // both travel together
  // --8<-- [end:fields]
  std::int64_t wrong = count_wrong(space, own, rows, heat, marks);

  // --8<-- [start:rebind]
  const Marks elsewhere("marks, elsewhere", end - begin + 2, columns + 2);
  halo.rebind(space, heat, elsewhere);
  marks = elsewhere;  // frees the View before, which the halo needed until then
  // --8<-- [end:rebind]
  fill(space, own, rows, heat, marks);
  halo.exchange(space, heat, marks);
  wrong += count_wrong(space, own, rows, heat, marks);

  // --8<-- [start:reduce]
  halo.reduce(space, selvage::ReduceOperation::sum, heat);
  // --8<-- [end:reduce]
  wrong += count_wrong_sums(space, own, rows, heat);
  halo.check();
  std::printf("rank %d: rows %lld to %lld, %lld wrong values\n", context.rank(),
              static_cast<long long>(begin), static_cast<long long>(end), static_cast<long long>(wrong));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_arrays: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
