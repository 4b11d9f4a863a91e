// Halo exchange: every transport and initiation against the plain form, interleaved in one run. <r> counts
// ranks or GPUs.
//
// halo/face/fp64/<bytes>/<r>rank: ranks in a row along axis 0, one face of that many bytes to each neighbour
//
// halo/column/fp64/<bytes>/<r>rank: the same along axis 2, where a face is a column of single cells
//
// halo/box/fp64/<n>/<r>rank: an n^3 box per rank, all faces

#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "plain_halo.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr int rounds = 31;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

struct Shape {
  std::string name;
  std::array<std::int64_t, 3> cells_per_rank;
  std::array<int, 3> ranks;  ///< 0 where free
};

std::string figure_name(const Shape& shape, int ranks) {
  return fmt::format("{}/{}{}", shape.name, ranks, on_host ? "rank" : "gpu");
}

/// One of our forms.
struct Form {
  Transport transport;
  Initiation initiation;
  GhostReuse ghost_reuse;

  [[nodiscard]] std::string name() const {
    return fmt::format("{}/{}{}", to_string(transport), to_string(initiation),
                       ghost_reuse == GhostReuse::alternating ? "/alternating" : "");
  }
};

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms{
      {Transport::peer, Initiation::stream, GhostReuse::alternating},
      {Transport::peer, Initiation::stream, GhostReuse::credit},
      {Transport::peer, Initiation::host, GhostReuse::alternating},
      {Transport::peer, Initiation::host, GhostReuse::credit},
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

/// Two alternating Views on one grid, and every way to exchange them.
class HaloTrial {
 public:
  HaloTrial(const Context& context, const Shape& shape) : shape_(shape), grid_(make_grid(context, shape)) {
    for (auto* view : {&u_, &v_}) *view = grid_.allocate<double, Kokkos::LayoutRight>("u", 1);
    add_plain();
    for (const Form& form : all_forms()) add_form(form);
    add_copy();
    for (const Contender& contender : contenders_) verify(contender);
    trial_ = std::make_unique<Trial>(grid_.comm(), contenders_, rounds);
  }

  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] Record record() const {
    Record record;
    record.name = figure_name(shape_, grid_.size());
    record.unit = "us/exchange";
    const std::string best = contenders_[1].name;
    record.value = trial_->median(best) * 1e6;
    if (contenders_.back().name == "copy") record.floor = trial_->median("copy") * 1e6;
    record.choice = best;
    record.verified = true;
    record.repetitions = rounds;
    record.spread = trial_->spread(best);
    for (const Contender& contender : contenders_)
      record.peers[contender.name] = trial_->median(contender.name) * 1e6;
    return record;
  }

 private:
  using View = PlainHalo::View;

  static Grid<3> make_grid(const Context& context, const Shape& shape) {
    std::array<int, 3> ranks = shape.ranks;
    const Grid<3> cube(
        context, {.cells = {context.size() * 64, context.size() * 64, context.size() * 64}, .ranks = ranks});
    std::array<std::int64_t, 3> cells{};
    for (int axis = 0; axis < 3; ++axis) cells[axis] = shape.cells_per_rank[axis] * cube.ranks()[axis];
    return Grid<3>(context, {.cells = cells, .ranks = cube.ranks()});
  }

  void add_plain() {
    std::array<std::array<int, 2>, 3> neighbours{};
    for (int axis = 0; axis < 3; ++axis) {
      for (int side = 0; side < 2; ++side) {
        std::array<int, 3> direction{};
        direction[axis] = side == 0 ? -1 : 1;
        const int rank = grid_.neighbour(direction);
        neighbours[axis][side] = rank < 0 ? MPI_PROC_NULL : rank;
      }
    }
    auto halos = std::make_shared<std::pair<PlainHalo, PlainHalo>>(PlainHalo(grid_.comm(), neighbours, u_),
                                                                   PlainHalo(grid_.comm(), neighbours, v_));
    contenders_.push_back({"plain", [halos, this] { (turn() ? halos->first : halos->second).exchange(); }});
  }

  void add_form(const Form& form) {
    const HaloOptions<3> options{.corners = false,
                                 .ghost_reuse = form.ghost_reuse,
                                 .transport = form.transport,
                                 .initiation = form.initiation};
    try {
      auto halo = std::make_shared<HaloExchange>(Space(), grid_, options, u_, v_);
      contenders_.push_back({form.name(), [halo, this] { halo->exchange(space_, turn() ? u_ : v_); }});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
    }
  }

  /// The floor on hosts: the bytes this rank sends, copied once within its own memory.
  void add_copy() {
    if (!on_host) return;
    const HaloExchange halo(Space(), grid_, {.corners = false}, u_);
    const auto bytes = static_cast<std::size_t>(halo.bytes_per_exchange());
    auto from = std::make_shared<std::vector<std::byte>>(bytes);
    auto to = std::make_shared<std::vector<std::byte>>(bytes);
    contenders_.push_back({"copy", [from, to, bytes] {
                             std::memcpy(to->data(), from->data(), bytes);
                             benchmark::DoNotOptimize(to->data());
                             benchmark::ClobberMemory();
                           }});
  }

  [[nodiscard]] bool turn() { return ++turn_ % 2 != 0; }

  /// Both Views hold their cells and poisoned ghosts before, and the neighbours' cells in their face ghosts
  /// after.
  void verify(const Contender& contender) {
    if (contender.name == "copy") return;
    turn_ = 0;
    fill(u_);
    fill(v_);
    MPI_Barrier(grid_.comm());
    contender.run();
    contender.run();
    if (count_wrong(u_) + count_wrong(v_) != 0) {
      throw Error(ErrorKind::verification,
                  fmt::format("{}: {} leaves wrong ghosts", shape_.name, contender.name));
    }
    MPI_Barrier(grid_.comm());
  }

  void fill(const View& view) const {
    const auto image = Kokkos::create_mirror_view(view);
    for_each(image, [&](int outside, std::int64_t i, std::int64_t j, std::int64_t k) {
      image(i, j, k) = outside == 0 ? cell_value(grid_, i, j, k) : -1.0;
    });
    Kokkos::deep_copy(view, image);
  }

  [[nodiscard]] int count_wrong(const View& view) const {
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    int wrong = 0;
    for_each(image, [&](int outside, std::int64_t i, std::int64_t j, std::int64_t k) {
      const bool filled = outside == 0 || (outside == 1 && has_owner(i, j, k));
      if (image(i, j, k) != (filled ? cell_value(grid_, i, j, k) : -1.0)) ++wrong;
    });
    return wrong;
  }

  [[nodiscard]] bool has_owner(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const std::array<std::int64_t, 3> index{i, j, k};
    std::array<int, 3> direction{};
    for (int axis = 0; axis < 3; ++axis) {
      direction[axis] = index[axis] == 0 ? -1 : index[axis] > grid_.box().extent(axis) ? 1 : 0;
    }
    return grid_.neighbour(direction) >= 0;
  }

  /// \param function  is given along how many axes the cell lies outside the box, and its index
  template <class Image, class Function>
  void for_each(const Image& image, const Function& function) const {
    const auto outside = [&](int axis, std::int64_t index) {
      return index == 0 || index > grid_.box().extent(axis) ? 1 : 0;
    };
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(image.extent(0)); ++i)
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(image.extent(1)); ++j)
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(image.extent(2)); ++k)
          function(outside(0, i) + outside(1, j) + outside(2, k), i, j, k);
  }

  Shape shape_;
  Grid<3> grid_;
  Space space_;
  View u_, v_;
  int turn_ = 0;
  std::vector<Contender> contenders_;
  std::unique_ptr<Trial> trial_;
};

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : {64, 1024, 8192, 65536, 1 << 20}) {
    const auto cells = static_cast<std::int64_t>(bytes / sizeof(double));
    shapes.push_back({fmt::format("halo/face/fp64/{}", bytes), {4, 1, cells}, {0, 1, 1}});
  }
  for (const std::int64_t bytes : {1024, 8192, 65536}) {
    const auto cells = static_cast<std::int64_t>(bytes / sizeof(double));
    shapes.push_back({fmt::format("halo/column/fp64/{}", bytes), {1, cells, 8}, {1, 1, 0}});
  }
  for (const std::int64_t n : {32, 64, 128})
    shapes.push_back({fmt::format("halo/box/fp64/{}", n), {n, n, n}, {0, 0, 0}});
  return shapes;
}

/// One Google Benchmark per shape: its time is our best form's, the counters are everyone else's.
void report(benchmark::State& state, const Context& context, const Shape& shape,
            std::vector<Record>& records) {
  const HaloTrial halo_trial(context, shape);
  const Trial& trial = halo_trial.trial();
  const Record record = halo_trial.record();
  for (auto _ : state) state.SetIterationTime(trial.median(record.choice));
  for (const Contender& contender : halo_trial.contenders())
    state.counters[contender.name + "_us"] = trial.median(contender.name) * 1e6;
  state.counters["speedup_over_plain"] = trial.speedup(record.choice, "plain");
  records.push_back(record);
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const selvage::Context shared(comm);
    for (const Shape& shape : all_shapes()) {
      const std::string name = figure_name(shape, shared.size());
      benchmark::RegisterBenchmark(
          name.c_str(),
          [shared, shape, &records](benchmark::State& state) { report(state, shared, shape, records); })
          ->Iterations(rounds)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  });
}
