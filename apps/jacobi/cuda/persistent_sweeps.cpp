#include "common/cuda/check.hpp"
#include "jacobi/persistent/persistent.hpp"
#include "jacobi/persistent/program.hpp"
#include "jacobi/persistent/tiling.hpp"

#include <selvage/comm/halo_exchange.hpp>
#include <selvage/error.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

namespace selvage::jacobi {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

/// The process grid of slabs, whose rows are as long as the strips together.
template <class Real>
Grid<2> slab_grid(const Grid<2>& grid) {
  constexpr int strip = MarchShape<Real>::strip_columns;
  const std::int64_t strips = (grid.cells()[1] + strip - 1) / strip;
  return {grid.context(),
          {.cells = {grid.cells()[0], strips * strip},
           .periodic = {grid.periodic()[0], false},
           .ranks = {grid.size(), 1}}};
}

/// Ghosts to fill in y; in x what strips read beyond the first and last one.
template <class Real>
Width<2> slab_width(std::int64_t strip_columns) {
  using Shape = MarchShape<Real>;
  constexpr std::int64_t multiple = 32;
  const std::int64_t read = Shape::lead_columns + strip_columns + Shape::halo_columns;
  const std::int64_t pitch = (read + multiple - 1) / multiple * multiple;
  const auto tail = static_cast<int>(pitch - Shape::lead_columns - strip_columns);
  return {{Shape::steps, Shape::steps}, {Shape::lead_columns, tail}};
}

template <class Real>
using Field = Kokkos::View<Real**, Kokkos::LayoutRight, Memory>;

template <class Real>
Real* first_owned_cell(const Field<Real>& field) {
  using Shape = MarchShape<Real>;
  return field.data() + Shape::steps * static_cast<std::ptrdiff_t>(field.stride(0)) + Shape::lead_columns;
}

/// Where neighbours keep cell (0, 0) of this rank, by View; null where none is.
template <class Real>
struct RemoteCells {
  Real* beyond_low[2];
  Real* beyond_high[2];
};

template <class Real>
RemoteCells<Real> find_remote_cells(const Space& space, const HaloPort& port) {
  const Kokkos::View<RemoteCells<Real>, Memory> found("remote cells");
  Kokkos::parallel_for(
      "jacobi::find_remote_cells", Kokkos::RangePolicy<Space>(space, 0, 2), KOKKOS_LAMBDA(int view) {
        using Shape = MarchShape<Real>;
        const auto cell = [&](HaloPort::Towards side) -> Real* {
          if (!port.has_neighbour(side)) return nullptr;
          return &port.template remote_ghosts<Real>(view, side)(Shape::steps, Shape::lead_columns);
        };
        found().beyond_low[view] = cell({-1});
        found().beyond_high[view] = cell({1});
      });
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(space, host, found);
  space.fence("jacobi: addresses of remote cells");
  return host();
}

template <class Real>
Kokkos::View<Real*, Memory> upload(const std::vector<Real>& values) {
  const Kokkos::View<Real*, Memory> table("source", values.size());
  const Kokkos::View<const Real*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                                   values.size());
  Kokkos::deep_copy(table, host);
  return table;
}

TilingLimits limits_of(int strip_columns, int steps, int warps_per_block, int blocks_per_multiprocessor) {
  int multiprocessors = 0;
  int device = 0;
  app::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  app::check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                  "cudaDeviceGetAttribute");
  return {multiprocessors, blocks_per_multiprocessor, warps_per_block, steps, strip_columns};
}

}  // namespace

template <class Real>
struct PersistentSweeps<Real>::Parts {
  using Shape = MarchShape<Real>;

  Parts(const Space& on, const Grid<2>& whole, const Problem<2>& problem,
        const PersistentSource<Real>& source)
      : space(on),
        columns(whole.cells()[1]),
        grid(slab_grid<Real>(whole)),
        fields{grid.template allocate<Real, Kokkos::LayoutRight>("persistent",
                                                                 slab_width<Real>(grid.cells()[1])),
               grid.template allocate<Real, Kokkos::LayoutRight>("persistent",
                                                                 slab_width<Real>(grid.cells()[1]))},
        source_rows(upload(source.rows)),
        source_columns(upload(source.columns)),
        limits(limits_of(Shape::strip_columns, Shape::steps, Shape::warps_per_block,
                         persistent_blocks_per_multiprocessor<Real>(!source.rows.empty()))),
        tiling(choose_tiling(grid.box().extent(0), columns, limits)),
        tile_flags("tile flags", static_cast<std::size_t>(tiling.tiles())),
        tile_changes("tile changes", static_cast<std::size_t>(tiling.tiles())),
        state("persistent state"),
        host_state("persistent state"),
        halo(space, grid,
             HaloOptions<2>{.width = slab_width<Real>(grid.cells()[1]),
                            .corners = false,
                            .ghost_reuse = GhostReuse::alternating},
             fields[0], fields[1]) {
    set_boundary(whole, problem);
    program = make_program();
  }

  /// Both fields keep what lies beyond the fixed sides.
  void set_boundary(const Grid<2>& whole, const Problem<2>& problem) const;
  [[nodiscard]] PersistentProgram<Real> make_program();
  void check() const;
  [[nodiscard]] std::size_t pitch_bytes() const { return fields[0].stride(0) * sizeof(Real); }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(grid.box().extent(0)); }
  [[nodiscard]] std::size_t row_bytes() const { return static_cast<std::size_t>(columns) * sizeof(Real); }

  Space space;
  std::int64_t columns;
  Grid<2> grid;
  std::array<Field<Real>, 2> fields;
  Kokkos::View<Real*, Memory> source_rows;
  Kokkos::View<Real*, Memory> source_columns;
  TilingLimits limits;
  Tiling tiling;
  Kokkos::View<detail::Flag*, Memory> tile_flags;
  Kokkos::View<double*, Memory> tile_changes;
  Kokkos::View<PersistentState, Memory> state;
  Kokkos::View<PersistentState, Kokkos::CudaHostPinnedSpace> host_state;
  HaloExchange halo;
  PersistentProgram<Real> program{};
  int current = 0;
};

template <class Real>
void PersistentSweeps<Real>::Parts::set_boundary(const Grid<2>& whole, const Problem<2>& problem) const {
  const Box<2> box = whole.box();
  const auto all_rows = static_cast<std::int64_t>(fields[0].extent(0));
  const auto value = [&](std::int64_t y, std::int64_t x) {
    return static_cast<Real>(problem.initial_value({box.begin[0] + y, x}));
  };
  const auto copy = [&](const Field<Real>& field, std::int64_t y, std::int64_t x,
                        const std::vector<Real>& values, std::size_t row_bytes, std::size_t row_count) {
    Real* const to = first_owned_cell(field) + y * static_cast<std::ptrdiff_t>(field.stride(0)) + x;
    app::check_cuda(cudaMemcpy2D(to, pitch_bytes(), values.data(), row_bytes, row_bytes, row_count,
                                 cudaMemcpyHostToDevice),
                    "cudaMemcpy2D of boundary values");
  };
  for (const std::int64_t x : {std::int64_t{-1}, columns}) {
    std::vector<Real> column;
    for (std::int64_t y = 0; y < all_rows; ++y) column.push_back(value(y - Shape::steps, x));
    for (const auto& field : fields) copy(field, -Shape::steps, x, column, sizeof(Real), column.size());
  }
  for (const auto& [y, direction] : {std::pair{std::int64_t{-1}, -1}, std::pair{box.extent(0), 1}}) {
    if (whole.neighbour({direction, 0}) != Grid<2>::no_neighbour) continue;
    std::vector<Real> row;
    for (std::int64_t x = 0; x < columns; ++x) row.push_back(value(y, x));
    for (const auto& field : fields) copy(field, y, 0, row, row.size() * sizeof(Real), 1);
  }
}

template <class Real>
PersistentProgram<Real> PersistentSweeps<Real>::Parts::make_program() {
  PersistentProgram<Real> made{};
  made.port = halo.device(space, fields[0], fields[1]);
  const RemoteCells<Real> remote = find_remote_cells<Real>(space, made.port);
  for (std::size_t view = 0; view < 2; ++view) {
    made.origin[view] = first_owned_cell(fields[view]);
    made.beyond_low[view] = remote.beyond_low[view];
    made.beyond_high[view] = remote.beyond_high[view];
  }
  made.pitch = static_cast<std::int64_t>(fields[0].stride(0));
  made.rows = static_cast<int>(rows());
  made.columns = static_cast<int>(columns);
  made.tiling = tiling;
  if (source_rows.size() > 0) {
    made.source_y = source_rows.data() + Shape::steps;
    made.source_x = source_columns.data();
  }
  made.tile_flags = tile_flags.data();
  made.tile_changes = tile_changes.data();
  made.state = state.data();
  made.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(grid.context().timeout()).count());
  return made;
}

template <class Real>
void PersistentSweeps<Real>::Parts::check() const {
  halo.check();
  if (host_state().failed == 0) return;
  throw Error(ErrorKind::timeout,
              fmt::format("a tile of the persistent kernel waited {} ms for one beside it",
                          grid.context().timeout().count()));
}

template <class Real>
PersistentSweeps<Real>::PersistentSweeps(const Space& space, const Grid<2>& grid, const Problem<2>& problem,
                                         const PersistentSource<Real>& source) {
  const std::string reason = refuse_persistent<Real>(grid);
  if (!reason.empty()) throw Error(ErrorKind::unsupported, reason);
  parts_ = std::make_unique<Parts>(space, grid, problem, source);
}

template <class Real>
PersistentSweeps<Real>::PersistentSweeps(PersistentSweeps&&) noexcept = default;
template <class Real>
PersistentSweeps<Real>& PersistentSweeps<Real>::operator=(PersistentSweeps&&) noexcept = default;
template <class Real>
PersistentSweeps<Real>::~PersistentSweeps() = default;

template <class Real>
void PersistentSweeps<Real>::load(const Real* first_cell, std::ptrdiff_t stride) {
  // Always into the same field: then the exchange waits until neighbours are past their reads of its ghosts.
  parts_->current = 0;
  const Field<Real>& field = parts_->fields[0];
  app::check_cuda(cudaMemcpy2DAsync(first_owned_cell(field), parts_->pitch_bytes(), first_cell,
                                    static_cast<std::size_t>(stride) * sizeof(Real), parts_->row_bytes(),
                                    parts_->rows(), cudaMemcpyDeviceToDevice, parts_->space.cuda_stream()),
                  "cudaMemcpy2DAsync into the persistent fields");
  parts_->halo.exchange(parts_->space, field);
}

template <class Real>
void PersistentSweeps<Real>::store(Real* first_cell, std::ptrdiff_t stride) const {
  Kokkos::deep_copy(parts_->space, parts_->host_state, parts_->state);
  app::check_cuda(cudaMemcpy2DAsync(first_cell, static_cast<std::size_t>(stride) * sizeof(Real),
                                    this->first_cell(), parts_->pitch_bytes(), parts_->row_bytes(),
                                    parts_->rows(), cudaMemcpyDeviceToDevice, parts_->space.cuda_stream()),
                  "cudaMemcpy2DAsync out of the persistent fields");
  parts_->space.fence("jacobi: the persistent fields");
  parts_->check();
}

template <class Real>
void PersistentSweeps<Real>::advance(std::int64_t sweeps) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() / 2;
  for (std::int64_t left = sweeps; left > 0; left -= most) {
    const PersistentRun run{.steps = static_cast<int>(std::min(left, most)), .from = parts_->current};
    launch_persistent(parts_->program, run, parts_->space.cuda_stream());
    parts_->current = (parts_->current + count_passes<Real>(run)) % 2;
  }
}

template <class Real>
double PersistentSweeps<Real>::try_sweep() {
  launch_persistent(parts_->program, {.steps = 1, .from = parts_->current, .measures_change = true},
                    parts_->space.cuda_stream());
  Kokkos::deep_copy(parts_->space, parts_->host_state, parts_->state);
  parts_->space.fence("jacobi: the squared change");
  parts_->check();
  return parts_->host_state().squared_change;
}

template <class Real>
void PersistentSweeps<Real>::accept() {
  parts_->current = 1 - parts_->current;
}

template <class Real>
const Real* PersistentSweeps<Real>::first_cell() const {
  return first_owned_cell(parts_->fields[static_cast<std::size_t>(parts_->current)]);
}

template <class Real>
std::ptrdiff_t PersistentSweeps<Real>::stride() const {
  return static_cast<std::ptrdiff_t>(parts_->fields[0].stride(0));
}

template <class Real>
std::string PersistentSweeps<Real>::explain() const {
  const Tiling& tiling = parts_->tiling;
  return fmt::format(
      "persistent kernel: {} steps per pass, {} strips x {} chunks of {} rows, one warp each, on {} of {} "
      "resident "
      "blocks; lower chunks would march more rows twice, higher ones leave multiprocessors waiting",
      MarchShape<Real>::steps, tiling.strips, tiling.chunks,
      parts_->rows() / static_cast<std::size_t>(tiling.chunks), tiling.blocks,
      parts_->limits.multiprocessors * parts_->limits.blocks_per_multiprocessor);
}

template <class Real>
int persistent_steps_per_pass() {
  return MarchShape<Real>::steps;
}

template <class Real>
std::string refuse_persistent(const Grid<2>& grid) {
  constexpr int steps = MarchShape<Real>::steps;
  const topo::Machine& machine = grid.context().machine();
  if (grid.ranks()[1] > 1) {
    return fmt::format("the persistent form needs slabs of whole rows, and the process grid is {} x {}",
                       grid.ranks()[0], grid.ranks()[1]);
  }
  if (grid.periodic()[1]) return "the persistent form needs fixed sides in x";
  if (grid.cells()[0] / grid.size() < steps) {
    return fmt::format("the persistent form needs {} rows per rank, and {} ranks share {}", steps,
                       grid.size(), grid.cells()[0]);
  }
  if (std::max(grid.cells()[0], grid.cells()[1]) > (1 << 30))
    return "the persistent form counts rows in 32 bits";
  for (int rank = 1; rank < grid.size(); ++rank) {
    if (!machine.same_host(0, rank)) return "the persistent form needs all ranks on one host";
    for (int other = 0; other < rank; ++other) {
      if (machine.same_gpu(other, rank)) {
        return fmt::format(
            "ranks {} and {} share a GPU: their kernels would wait for each other and never be "
            "resident together",
            other, rank);
      }
    }
  }
  return {};
}

template class PersistentSweeps<float>;
template class PersistentSweeps<double>;
template int persistent_steps_per_pass<float>();
template int persistent_steps_per_pass<double>();
template std::string refuse_persistent<float>(const Grid<2>&);
template std::string refuse_persistent<double>(const Grid<2>&);

}  // namespace selvage::jacobi
