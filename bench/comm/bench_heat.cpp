// A step of a real code: heat conduction with messages by hand and with Selvage (examples/heat). <r> counts ranks or GPUs.
//
// heat/<n>/<r>rank: us per step of n^3 cells per rank, in doubles. The speed-up is that of each round, in which both forms run next to
// each other.
// mixture/32/8rank: the same of three arrays on a periodic box, whose steps read 26 neighbouring cells (mixture.hpp). By hand in two
// ways; the speed-up is beside the faster of them.
#include "../../examples/heat/by_hand.hpp"
#include "../../examples/heat/with_selvage.hpp"
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "mixture.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
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

/// A form of the code, and how many steps it has made.
template <class Form>
struct Stepped {
  template <class... Arguments>
  explicit Stepped(Arguments&&... arguments) : form(std::forward<Arguments>(arguments)...) {}
  void step() {
    form.step();
    ++steps;
  }
  void catch_up(std::int64_t wanted) {
    while (steps < wanted) step();
  }
  Form form;
  std::int64_t steps = 0;
};

class HeatTrial {
 public:
  HeatTrial(const Context& context, int n)
      : n_(n),
        by_hand_(context.comm(), std::array{n, n, n}, process_grid(context)),
        with_selvage_(context, std::array{n, n, n}, process_grid(context)) {}

  [[nodiscard]] std::vector<Contender> contenders() {
    const auto check = [this] { check_both(); };
    return {{"selvage", [this] { with_selvage_.step(); }, check},
            {"by hand", [this] { by_hand_.step(); }, check}};
  }

 private:
  void check_both() {
    const std::int64_t steps = std::max(by_hand_.steps, with_selvage_.steps);
    by_hand_.catch_up(steps);
    with_selvage_.catch_up(steps);
    Kokkos::fence("bench::stepped");
    require_equal(by_hand_.form.heat(), with_selvage_.form.heat(), n_);
  }

  int n_;
  Stepped<heat::ByHand> by_hand_;
  Stepped<heat::WithSelvage> with_selvage_;
};

class MixtureTrial {
 public:
  MixtureTrial(const Context& context, int n)
      : n_(n),
        at_once_(context.comm(), n, process_grid(context), MixtureByHand::Way::all_at_once),
        by_axes_(context.comm(), n, process_grid(context), MixtureByHand::Way::axis_by_axis),
        with_selvage_(context, n, process_grid(context)) {}

  [[nodiscard]] std::vector<Contender> contenders() {
    const auto check = [this] { check_all(); };
    return {{"selvage", [this] { with_selvage_.step(); }, check},
            {"by hand, 26 messages", [this] { at_once_.step(); }, check},
            {"by hand, axis by axis", [this] { by_axes_.step(); }, check}};
  }

 private:
  void check_all() {
    const std::int64_t steps = std::max({at_once_.steps, by_axes_.steps, with_selvage_.steps});
    at_once_.catch_up(steps);
    by_axes_.catch_up(steps);
    with_selvage_.catch_up(steps);
    Kokkos::fence("bench::stepped");
    for (int s = 0; s < substances; ++s) {
      require_equal(at_once_.form.mixture().of[s], with_selvage_.form.mixture().of[s], n_);
      require_equal(by_axes_.form.mixture().of[s], with_selvage_.form.mixture().of[s], n_);
    }
  }

  int n_;
  Stepped<MixtureByHand> at_once_, by_axes_;
  Stepped<MixtureWithSelvage> with_selvage_;
};

/// \param name  before the number of cells
template <class TrialOf>
void register_steps(const Context& context, MPI_Comm comm, const std::string& name, int n) {
  register_figure(fmt::format("{}/{}/{}", name, n, ranks_text(context.machine())), comm, rounds, [=] {
    const auto trial = std::make_shared<TrialOf>(context, n);
    return Figure{.contenders = trial->contenders(),
                  .derive =
                      [](const Times& times) {
                        double by_hand = std::numeric_limits<double>::infinity();
                        for (const auto& [contender, time] : times) {
                          if (contender != "selvage") by_hand = std::min(by_hand, time);
                        }
                        return Times{{"speed-up, %", 100 * by_hand / times.at("selvage")}};
                      },
                  .keeps = trial};
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
