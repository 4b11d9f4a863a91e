#include "halo_trial.hpp"

#include "../support/graph.hpp"
#include "mpi_halos.hpp"
#include "nccl_halo.hpp"
#include "plain_halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::bench {
namespace {

/// Of one captured graph, for whoever is captured: launching one costs as much as some exchanges do.
constexpr int exchanges_per_graph = 20;

struct Form {
  Transport transport;
  Initiation initiation;
  GhostReuse ghost_reuse;

  [[nodiscard]] std::string name() const {
    return fmt::format("{}/{}{}", to_string(transport), to_string(initiation),
                       ghost_reuse == GhostReuse::alternating ? "/alternating" : "");
  }
  /// What nothing on the host takes part in.
  [[nodiscard]] bool can_be_captured() const {
    return initiation == Initiation::stream &&
           (transport == Transport::peer || transport == Transport::copy_engine);
  }
};

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms{
      {Transport::peer, Initiation::stream, GhostReuse::alternating},
      {Transport::peer, Initiation::stream, GhostReuse::credit},
      {Transport::peer, Initiation::kernel, GhostReuse::alternating},
      {Transport::peer, Initiation::kernel, GhostReuse::credit},
      {Transport::peer, Initiation::host, GhostReuse::alternating},
      {Transport::peer, Initiation::host, GhostReuse::credit},
      {Transport::copy_engine, Initiation::stream, GhostReuse::credit},
      {Transport::copy_engine, Initiation::host, GhostReuse::credit},
      {Transport::mpi_direct, Initiation::stream, GhostReuse::credit},
      {Transport::mpi_direct, Initiation::host, GhostReuse::credit},
      {Transport::mpi_staged, Initiation::stream, GhostReuse::credit},
      {Transport::mpi_staged, Initiation::host, GhostReuse::credit},
  };
  return forms;
}

/// Whose turn it is of a contender's two Views, 0 or 1: exchanges that rely on alternation get nothing else.
class Turns {
 public:
  int operator()() const { return (*count_)++ % 2; }

 private:
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
};

/// How the first neighbour is reached: of "  rank 1 at [+1 0 0]: peer, 64 B out, ..." the transport.
std::string first_path(const std::string& explained) {
  const std::size_t line = explained.find("\n  rank ");
  if (line == std::string::npos) return "no neighbours";
  const std::size_t begin = explained.find(": ", line) + 2;
  return explained.substr(begin, explained.find(',', begin) - begin);
}

double cell_value(const Grid<3>& grid, std::int64_t i, std::int64_t j, std::int64_t k) {
  const Box<3> box = grid.box();
  return static_cast<double>((box.begin[0] + i - 1) * 1'000'000 + (box.begin[1] + j - 1) * 1'000 +
                             box.begin[2] + k - 1);
}

Grid<3> make_grid(const Context& context, const Shape& shape) {
  const std::int64_t side = context.size() * 64;
  const Grid<3> cube(context, {.cells = {side, side, side}, .ranks = shape.ranks});
  std::array<std::int64_t, 3> cells{};
  for (int axis = 0; axis < 3; ++axis) cells[axis] = shape.cells_per_rank[axis] * cube.ranks()[axis];
  return Grid<3>(context, {.cells = cells, .ranks = cube.ranks()});
}

}  // namespace

HaloTrial::HaloTrial(const Context& context, const Shape& shape)
    : shape_(shape), grid_(make_grid(context, shape)), space_(make_instance()) {
  for (auto* view : {&u_, &v_}) *view = grid_.allocate<double, Kokkos::LayoutRight>("u", 1);
  add_ours("selvage", {.corners = false}, !on_host && context.machine().host_count() == 1);
  add_forms();
  add_packed();
  if (on_host) add_datatypes();
  if (on_host && context.machine().host_count() == 1) add_shared_window();
  add_nccl(context);
  if (on_host) add_copy();
}

FaceNeighbours HaloTrial::face_neighbours() const {
  FaceNeighbours neighbours{};
  for (int axis = 0; axis < 3; ++axis) {
    for (int side = 0; side < 2; ++side) {
      std::array<int, 3> direction{};
      direction[axis] = side == 0 ? -1 : 1;
      const int rank = grid_.neighbour(direction);
      neighbours[axis][side] = rank < 0 ? MPI_PROC_NULL : rank;
    }
  }
  return neighbours;
}

void HaloTrial::add(const std::string& name, std::function<void()> run, const std::array<HaloView, 2>& views,
                    int units) {
  const auto check = [this, name, run, views] { verify(name, run, views); };
  contenders_.push_back({name, std::move(run), check, units});
}

/// Leaves out what this build or these ranks don't have.
void HaloTrial::add_ours(const std::string& name, const HaloOptions<3>& options, bool can_be_captured) {
  std::shared_ptr<HaloExchange> halo;
  try {
    halo = std::make_shared<HaloExchange>(space_, grid_, options, u_, v_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return;
  }
  if (contenders_.empty()) label_ = first_path(halo->explain());
  add(name, [halo, this, turn = Turns()] { halo->exchange(space_, turn() == 0 ? u_ : v_); }, {u_, v_});
  if (can_be_captured) add_graph(name);
}

void HaloTrial::add_forms() {
  for (const Form& form : all_forms()) {
    add_ours(form.name(),
             {.corners = false,
              .ghost_reuse = form.ghost_reuse,
              .transport = form.transport,
              .initiation = form.initiation},
             form.can_be_captured());
  }
}

void HaloTrial::add_packed() {
  const auto add_one = [&](const std::string& name, Messages messages, PlainHalo::Requests requests) {
    const auto make = [&](const HaloView& view) {
      // Not the grid's communicator: the library chooses tags there.
      return std::make_shared<PlainHalo>(MPI_COMM_WORLD, PackedFaces(space_, face_neighbours(), view),
                                         messages, requests);
    };
    const auto first = make(u_);
    const auto second = make(v_);
    add(name, [first, second, turn = Turns()] { (turn() == 0 ? first : second)->exchange(); }, {u_, v_});
  };
  using enum Messages;
  using enum PlainHalo::Requests;
  add_one("packed, MPI_Isend", staged, each_time);
  add_one("packed, MPI_Start", staged, persistent);
  if (on_host || !mpi_takes_gpu_memory()) return;
  add_one("packed, GPU-aware MPI_Isend", direct, each_time);
  add_one("packed, GPU-aware MPI_Start", direct, persistent);
}

/// Where the library may give MPI pointers to GPU memory, others may.
bool HaloTrial::mpi_takes_gpu_memory() const {
  try {
    const HaloExchange halo(space_, grid_, {.transport = Transport::mpi_direct}, u_);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return false;
  }
}

void HaloTrial::add_datatypes() {
  using enum DatatypeCalls;
  for (const auto& [name, calls] :
       {std::pair("datatypes, MPI_Isend", isend), std::pair("datatypes, MPI_Start", persistent),
        std::pair("datatypes, MPI_Neighbor_alltoallw", neighbour_collective)}) {
    const auto first = std::make_shared<DatatypeHalo>(MPI_COMM_WORLD, face_neighbours(), u_, calls);
    const auto second = std::make_shared<DatatypeHalo>(MPI_COMM_WORLD, face_neighbours(), v_, calls);
    add(name, [first, second, turn = Turns()] { (turn() == 0 ? first : second)->exchange(); }, {u_, v_});
  }
}

void HaloTrial::add_shared_window() {
  std::array<std::int64_t, 3> extents{};
  for (int axis = 0; axis < 3; ++axis) extents[axis] = static_cast<std::int64_t>(u_.extent(axis));
  const auto halo = std::make_shared<SharedWindowHalo>(MPI_COMM_WORLD, face_neighbours(), extents);
  add("MPI shared window", [halo, turn = Turns()] { halo->exchange(turn()); },
      {halo->view(0), halo->view(1)});
}

void HaloTrial::add_nccl(const Context& context) {
  const auto [first, second] = make_nccl_halos(context, PackedFaces(space_, face_neighbours(), u_),
                                               PackedFaces(space_, face_neighbours(), v_));
  if (!first) return;
  add("NCCL", [first, second, turn = Turns()] { (turn() == 0 ? first : second)(); }, {u_, v_});
  add_graph("NCCL");
}

/// The last contender once more, captured.
void HaloTrial::add_graph(const std::string& name) {
  const auto run = contenders_.back().run;
  // Kernels load, and NCCL connects, when they first run: nothing of that can be captured.
  for (int i = 0; i < 2; ++i) run();
  space_.fence();
  auto replay = capture(space_, [&] {
    for (int i = 0; i < exchanges_per_graph; ++i) run();
  });
  if (replay) add(name + ", graph", std::move(replay), {u_, v_}, exchanges_per_graph);
}

/// Of the bytes this rank sends.
void HaloTrial::add_copy() {
  const HaloExchange halo(space_, grid_, {.corners = false}, u_);
  contenders_.push_back(copy_floor(static_cast<std::size_t>(halo.bytes_per_exchange())));
}

/// Both Views hold their cells and poisoned ghosts before, and the neighbours' cells in their face ghosts
/// after.
void HaloTrial::verify(const std::string& name, const std::function<void()>& run,
                       const std::array<HaloView, 2>& views) {
  for (const HaloView& view : views) fill(view);
  MPI_Barrier(grid_.comm());
  run();
  run();
  space_.fence();
  const int wrong = count_wrong(views[0]) + count_wrong(views[1]);
  if (wrong != 0)
    throw Error(ErrorKind::verification,
                fmt::format("{}: {} leaves {} wrong ghosts", shape_.name, name, wrong));
  MPI_Barrier(grid_.comm());
}

void HaloTrial::fill(const HaloView& view) const {
  const auto image = Kokkos::create_mirror_view(view);
  for_each(image, [&](int outside, std::int64_t i, std::int64_t j, std::int64_t k) {
    image(i, j, k) = outside == 0 ? cell_value(grid_, i, j, k) : -1.0;
  });
  Kokkos::deep_copy(view, image);
}

int HaloTrial::count_wrong(const HaloView& view) const {
  const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  int wrong = 0;
  for_each(image, [&](int outside, std::int64_t i, std::int64_t j, std::int64_t k) {
    const bool filled = outside == 0 || (outside == 1 && has_owner(i, j, k));
    if (image(i, j, k) != (filled ? cell_value(grid_, i, j, k) : -1.0)) ++wrong;
  });
  return wrong;
}

bool HaloTrial::has_owner(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::array<std::int64_t, 3> index{i, j, k};
  std::array<int, 3> direction{};
  for (int axis = 0; axis < 3; ++axis) {
    direction[axis] = index[axis] == 0 ? -1 : index[axis] > grid_.box().extent(axis) ? 1 : 0;
  }
  return grid_.neighbour(direction) >= 0;
}

/// \param function  is given along how many axes the cell lies outside the box, and its index
template <class Image, class Function>
void HaloTrial::for_each(const Image& image, const Function& function) const {
  const auto outside = [&](int axis, std::int64_t index) {
    return index == 0 || index > grid_.box().extent(axis) ? 1 : 0;
  };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(image.extent(0)); ++i)
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(image.extent(1)); ++j)
      for (std::int64_t k = 0; k < static_cast<std::int64_t>(image.extent(2)); ++k)
        function(outside(0, i) + outside(1, j) + outside(2, k), i, j, k);
}

}  // namespace selvage::bench
