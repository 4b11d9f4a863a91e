#include "halo_trial.hpp"

#include "../support/graph.hpp"
#include "nccl_halo.hpp"
#include "plain_halo.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace selvage::bench {
namespace {

constexpr int rounds = 31;

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

/// Those that this build or these ranks don't have say so when they are made, and are left out.
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

std::string figure_name(const Shape& shape, const std::string& form, int ranks) {
  return fmt::format("{}/{}{}{}{}", shape.name, form, form.empty() ? "" : "/", ranks,
                     on_host ? "rank" : "gpu");
}

HaloTrial::HaloTrial(const Context& context, const Shape& shape)
    : shape_(shape), grid_(make_grid(context, shape)), space_(make_instance()) {
  for (auto* view : {&u_, &v_}) *view = grid_.allocate<double, Kokkos::LayoutRight>("u", 1);
  add_plain();
  add_nccl();
  add_forms();
  add_copy();
  for (const Contender& contender : contenders_) verify(contender);
  trial_ = std::make_unique<Trial>(grid_.comm(), contenders_, rounds);
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

void HaloTrial::add_plain() {
  const auto add = [&](const std::string& name, PlainHalo::Messages messages) {
    const auto make = [&](const HaloView& view) {
      // Not the grid's communicator: the library chooses tags there.
      return PlainHalo(MPI_COMM_WORLD, PackedFaces(space_, face_neighbours(), view), messages);
    };
    auto halos = std::make_shared<std::pair<PlainHalo, PlainHalo>>(make(u_), make(v_));
    contenders_.push_back({name, [halos, this] { (turn() ? halos->first : halos->second).exchange(); }});
  };
  add("plain", PlainHalo::Messages::staged);
  if (!on_host && mpi_takes_gpu_memory()) add("plain/gpu_aware", PlainHalo::Messages::direct);
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

void HaloTrial::add_nccl() {
  const auto [first, second] = make_nccl_halos(grid_.comm(), PackedFaces(space_, face_neighbours(), u_),
                                               PackedFaces(space_, face_neighbours(), v_));
  if (!first) return;
  contenders_.push_back({"nccl", [this, first, second] { (turn() ? first : second)(); }});
  add_graph("nccl");
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
  if (replay) contenders_.push_back({name + "/graph", std::move(replay), exchanges_per_graph});
}

void HaloTrial::add_forms() {
  for (const Form& form : all_forms()) {
    const HaloOptions<3> options{.corners = false,
                                 .ghost_reuse = form.ghost_reuse,
                                 .transport = form.transport,
                                 .initiation = form.initiation};
    std::shared_ptr<HaloExchange> halo;
    try {
      halo = std::make_shared<HaloExchange>(space_, grid_, options, u_, v_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      continue;
    }
    const std::size_t first = contenders_.size();
    contenders_.push_back({form.name(), [halo, this] { halo->exchange(space_, turn() ? u_ : v_); }});
    if (form.can_be_captured()) add_graph(form.name());
    for (std::size_t i = first; i < contenders_.size(); ++i) ours_.push_back(contenders_[i].name);
  }
}

/// The floor on hosts: the bytes this rank sends, copied once within its own memory.
void HaloTrial::add_copy() {
  if (!on_host) return;
  const HaloExchange halo(space_, grid_, {.corners = false}, u_);
  const auto bytes = static_cast<std::size_t>(halo.bytes_per_exchange());
  auto from = std::make_shared<std::vector<std::byte>>(bytes);
  auto to = std::make_shared<std::vector<std::byte>>(bytes);
  contenders_.push_back({"copy", [from, to, bytes] {
                           std::memcpy(to->data(), from->data(), bytes);
                           benchmark::DoNotOptimize(to->data());
                           benchmark::ClobberMemory();
                         }});
}

const std::string& HaloTrial::fastest_of_ours() const {
  return *std::ranges::min_element(ours_, {}, [&](const std::string& name) { return trial_->median(name); });
}

Record HaloTrial::record(const std::string& name, const std::string& contender) const {
  Record record;
  record.name = name;
  record.unit = "us/exchange";
  record.value = trial_->median(contender) * 1e6;
  if (contenders_.back().name == "copy") record.floor = trial_->median("copy") * 1e6;
  record.choice = contender;
  record.verified = true;
  record.repetitions = rounds;
  record.spread = trial_->spread(contender);
  return record;
}

std::vector<Record> HaloTrial::records() const {
  std::vector<Record> records{record(figure_name(shape_, "", grid_.size()), fastest_of_ours())};
  for (const Contender& contender : contenders_)
    records.front().peers[contender.name] = trial_->median(contender.name) * 1e6;
  if (!shape_.every_form_has_a_record) return records;
  for (const std::string& name : ours_) {
    records.push_back(record(figure_name(shape_, name, grid_.size()), name));
    for (const std::string peer : {"plain", "plain/gpu_aware", "nccl", "nccl/graph"}) {
      if (records.front().peers.contains(peer)) records.back().peers[peer] = records.front().peers[peer];
    }
  }
  return records;
}

/// Both Views hold their cells and poisoned ghosts before, and the neighbours' cells in their face ghosts
/// after.
void HaloTrial::verify(const Contender& contender) {
  if (contender.name == "copy") return;
  turn_ = 0;
  fill(u_);
  fill(v_);
  MPI_Barrier(grid_.comm());
  contender.run();
  contender.run();
  space_.fence();
  if (count_wrong(u_) + count_wrong(v_) != 0) {
    throw Error(ErrorKind::verification,
                fmt::format("{}: {} leaves wrong ghosts", shape_.name, contender.name));
  }
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
