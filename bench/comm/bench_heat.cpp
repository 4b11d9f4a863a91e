// A step of a real code: heat conduction with messages by hand and with Selvage (examples/heat). <r> counts ranks or GPUs.
//
// heat/<n>/<r>rank: us per step of n^3 cells per rank, in doubles. By hand inner cells are computed while messages travel, or all cells
// afterwards; on GPUs messages go through pinned host memory, and once more from GPU memory where MPI can do that. "speed beside X, %":
// in each round, in which all forms run next to each other; 100 is as fast. "computation, MPI_Barrier" sends nothing: ranks
// compute, and wait for each other.
// mixture/32/8rank: the same of three arrays on a periodic box, whose steps read 26 neighbouring cells (mixture.hpp), by hand with
// messages in two ways.
#include "../../examples/heat/by_hand.hpp"
#include "../../examples/heat/with_selvage.hpp"
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "mixture.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 61;

[[nodiscard]] std::array<int, 3> process_grid(const Context& context) {
  std::array<int, 3> ranks{0, 0, 0};
  MPI_Dims_create(context.size(), 3, ranks.data());
  return ranks;
}

/// \throws Error{verification} that names a cell, of n^3, whose bits differ
void require_equal(const heat::Field& one, const heat::Field& other, int n) {
  const auto first = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), one);
  const auto second = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      for (int k = 1; k <= n; ++k) {
        if (first(i, j, k) != second(i, j, k))
          throw Error(ErrorKind::verification, fmt::format("cell {} {} {} differs", i, j, k));
      }
    }
  }
}

/// A form of the code, in one or several copies that take turns, and how many steps each has made. Arrays beyond the caches take longer
/// or shorter by a tenth with the pages that they happen to have; copies even that out between forms.
template <class Form>
class Copies {
 public:
  template <class... Arguments>
  void add(Arguments&&... arguments) {
    copies_.push_back(std::make_unique<Copy>(std::forward<Arguments>(arguments)...));
  }
  void step() { copies_[static_cast<std::size_t>(calls_++ / steps_in_turn) % copies_.size()]->step(); }
  [[nodiscard]] std::int64_t most_steps() const {
    std::int64_t most = 0;
    for (const auto& copy : copies_) most = std::max(most, copy->steps);
    return most;
  }
  void catch_up(std::int64_t steps) {
    for (const auto& copy : copies_) {
      while (copy->steps < steps) copy->step();
    }
  }
  [[nodiscard]] std::size_t count() const { return copies_.size(); }
  [[nodiscard]] const Form& operator[](std::size_t copy) const { return copies_[copy]->form; }

 private:
  struct Copy {
    template <class... Arguments>
    explicit Copy(Arguments&&... arguments) : form(std::forward<Arguments>(arguments)...) {}
    void step() {
      form.step();
      ++steps;
    }
    Form form;
    std::int64_t steps = 0;
  };
  static constexpr std::int64_t steps_in_turn = 8;

  std::vector<std::unique_ptr<Copy>> copies_;
  std::int64_t calls_ = 0;
};

/// A halo that MPI carries from GPU memory, or none where it can't. Collective. UCX remembers its memory, so it is kept as long as what
/// figures send.
[[nodiscard]] std::shared_ptr<void> gpu_aware_halo(const Context& context) {
  if (on_host || context.size() == 1) return nullptr;
  const auto ranks = process_grid(context);
  const Grid<3> grid(context,
                     {.cells = {ranks[0], ranks[1], ranks[2]}, .ranks = {ranks[0], ranks[1], ranks[2]}});
  const auto make = [&] {
    return HaloExchange(heat::Space(), grid, {.transport = Transport::mpi_direct},
                        grid.allocate<double>("probe", 1));
  };
  try {
    return std::make_shared<decltype(make())>(make());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return nullptr;
  }
}

/// Calls `add` with each way of computing and sending that a form by hand has, and what to add to its name. With a single rank, which
/// has nothing to send, all are the same.
template <class Add>
void for_each_way(const Context& context, bool mpi_takes_gpu_memory, const Add& add) {
  using Meanwhile = heat::ByHand::Meanwhile;
  for (const bool is_direct : {false, true}) {
    if (is_direct && !mpi_takes_gpu_memory) continue;
    const std::string messages = is_direct ? ", GPU-aware MPI" : "";
    add(is_direct, Meanwhile::inner_cells, messages);
    if (context.size() > 1) add(is_direct, Meanwhile::nothing, messages + ", no overlap");
  }
}

/// What ranks take that compute all cells and then meet, without an exchange. Heat that rises steadily along an axis stays as it is.
class ComputeAndMeet {
 public:
  ComputeAndMeet(MPI_Comm comm, int n)
      : comm_(comm), n_(n), u_("u", n + 2, n + 2, n + 2), v_("v", n + 2, n + 2, n + 2) {
    fill(u_);
    Kokkos::deep_copy(v_, u_);
  }

  void step() {
    heat::conduct(space_, {1, 1, 1}, {n_ + 1, n_ + 1, n_ + 1}, u_, v_);
    space_.fence();
    MPI_Barrier(comm_);
    std::swap(u_, v_);
  }
  /// Collective. \throws Error{verification}
  void check() {
    const heat::Field filled("filled", n_ + 2, n_ + 2, n_ + 2);
    fill(filled);
    const auto inner = std::pair(1, n_ + 1);
    Kokkos::deep_copy(Kokkos::subview(v_, inner, inner, inner), 0.0);
    step();
    require_equal(u_, filled, n_);
  }

  // Public only because nvcc wants the functions of its kernels so.
  void fill(const heat::Field& field) const {
    Kokkos::parallel_for(
        "bench::fill", heat::cells(space_, {0, 0, 0}, {n_ + 2, n_ + 2, n_ + 2}),
        KOKKOS_LAMBDA(int i, int j, int k) { field(i, j, k) = i; });
    space_.fence();
  }

 private:
  MPI_Comm comm_;
  int n_;
  heat::Space space_;
  heat::Field u_, v_;
};

/// Forms by hand, by name, and ours.
template <class ByHand, class WithSelvage>
class StepTrial {
 public:
  explicit StepTrial(const Context& context) : gpu_aware_halo_(bench::gpu_aware_halo(context)) {}
  [[nodiscard]] virtual std::vector<Contender> contenders() {
    const auto check = [this] { check_all(); };
    std::vector<Contender> all{{"selvage", [this] { with_selvage_.step(); }, check}};
    for (auto& [name, form] : by_hand_) all.push_back({name, [&form] { form.step(); }, check});
    return all;
  }

 protected:
  [[nodiscard]] bool mpi_takes_gpu_memory() const { return gpu_aware_halo_ != nullptr; }
  template <class... Arguments>
  void add_by_hand(const std::string& name, Arguments&&... arguments) {
    by_hand_[name].add(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void add_with_selvage(Arguments&&... arguments) {
    with_selvage_.add(std::forward<Arguments>(arguments)...);
  }
  /// \throws Error{verification}
  virtual void require_same(const ByHand& by_hand, const WithSelvage& with_selvage) const = 0;
  ~StepTrial() = default;

 private:
  void check_all() {
    std::int64_t steps = with_selvage_.most_steps();
    for (const auto& [name, form] : by_hand_) steps = std::max(steps, form.most_steps());
    with_selvage_.catch_up(steps);
    for (auto& [name, form] : by_hand_) form.catch_up(steps);
    Kokkos::fence("bench::stepped");
    for (const auto& [name, form] : by_hand_) {
      for (std::size_t copy = 0; copy < form.count(); ++copy) require_same(form[copy], with_selvage_[copy]);
    }
  }

  std::shared_ptr<void> gpu_aware_halo_;
  std::map<std::string, Copies<ByHand>> by_hand_;
  Copies<WithSelvage> with_selvage_;
};

class HeatTrial final : public StepTrial<heat::ByHand, heat::WithSelvage> {
 public:
  HeatTrial(const Context& context, int n)
      : StepTrial(context), n_(n), has_neighbours_(context.size() > 1), floor_(context.comm(), n) {
    const std::array cells{n, n, n};
    const int copies = n < 128 ? 1 : 4;
    for (int copy = 0; copy < copies; ++copy) {
      // Who allocates first gets other pages.
      if (copy % 2 == 1) add_with_selvage(context, cells, process_grid(context));
      for_each_way(context, mpi_takes_gpu_memory(),
                   [&](bool is_direct, auto meanwhile, const std::string& way) {
                     using Messages = heat::ByHand::Messages;
                     add_by_hand("by hand" + way, context.comm(), cells, process_grid(context),
                                 is_direct ? Messages::direct : Messages::staged, meanwhile);
                   });
      if (copy % 2 == 0) add_with_selvage(context, cells, process_grid(context));
    }
  }

  [[nodiscard]] std::vector<Contender> contenders() override {
    auto all = StepTrial::contenders();
    if (has_neighbours_)
      all.push_back({"computation, MPI_Barrier", [this] { floor_.step(); }, [this] { floor_.check(); }});
    return all;
  }

 private:
  void require_same(const heat::ByHand& by_hand, const heat::WithSelvage& with_selvage) const override {
    require_equal(by_hand.heat(), with_selvage.heat(), n_);
  }

  int n_;
  bool has_neighbours_;
  ComputeAndMeet floor_;
};

class MixtureTrial final : public StepTrial<MixtureByHand, MixtureWithSelvage> {
 public:
  MixtureTrial(const Context& context, int n) : StepTrial(context), n_(n) {
    using Way = MixtureByHand::Way;
    for_each_way(context, mpi_takes_gpu_memory(),
                 [&](bool is_direct, auto meanwhile, const std::string& way) {
                   const auto messages = is_direct ? Messages::direct : Messages::staged;
                   add_by_hand("by hand, 26 messages" + way, context.comm(), n, process_grid(context),
                               Way::all_at_once, messages, meanwhile);
                   add_by_hand("by hand, axis by axis" + way, context.comm(), n, process_grid(context),
                               Way::axis_by_axis, messages, meanwhile);
                 });
    add_with_selvage(context, n, process_grid(context));
  }

 private:
  void require_same(const MixtureByHand& by_hand, const MixtureWithSelvage& with_selvage) const override {
    for (int s = 0; s < substances; ++s)
      require_equal(by_hand.mixture().of[s], with_selvage.mixture().of[s], n_);
  }

  int n_;
};

/// Ours beside each form by hand: 100 is as fast.
[[nodiscard]] std::map<std::string, double> speeds(const Times& times) {
  std::map<std::string, double> beside;
  for (const auto& [form, time] : times) {
    if (form.starts_with("by hand"))
      beside[fmt::format("speed beside {}, %", form)] = 100 * time / times.at("selvage");
  }
  return beside;
}

/// \param name  before the number of cells
template <class TrialOf>
void register_steps(const Context& context, MPI_Comm comm, const std::string& name, int n) {
  register_figure(fmt::format("{}/{}/{}", name, n, ranks_text(context.machine())), comm, rounds, [=] {
    const auto trial = std::make_shared<TrialOf>(context, n);
    return Figure{
        .contenders = trial->contenders(), .derive = speeds, .keeps = trial, .keeps_to_the_end = !on_host};
  });
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    if (context.size() == 8) return register_steps<MixtureTrial>(context, comm, "mixture", 32);
    for (const int n : {8, 16, 32, 64, 128, 256}) register_steps<HeatTrial>(context, comm, "heat", n);
  });
}
