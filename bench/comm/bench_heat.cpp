// A step of a real code: heat conduction with messages by hand and with Selvage (examples/heat). <r> counts ranks or GPUs.
//
// heat/<n>/<r>rank: us per step of n^3 cells per rank, in doubles. The speed-up is that of each round, in which both forms run next to
// each other.
#include "../../examples/heat/by_hand.hpp"
#include "../../examples/heat/with_selvage.hpp"
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 61;

class HeatTrial {
 public:
  HeatTrial(const Context& context, int n)
      : context_(context),
        n_(n),
        by_hand_(context.comm(), {n, n, n}, dims()),
        with_selvage_(context, {n, n, n}, dims()) {}
  HeatTrial(const HeatTrial&) = delete;
  HeatTrial& operator=(const HeatTrial&) = delete;

  [[nodiscard]] std::vector<Contender> contenders() {
    // Each has made as many steps as the other by the time of a check.
    const auto check = [this] { check_both(); };
    return {{"selvage",
             [this] {
               with_selvage_.step();
               ++selvage_steps_;
             },
             check},
            {"by hand",
             [this] {
               by_hand_.step();
               ++hand_steps_;
             },
             check}};
  }

 private:
  [[nodiscard]] std::array<int, 3> dims() const {
    std::array<int, 3> ranks{0, 0, 0};
    MPI_Dims_create(context_.size(), 3, ranks.data());
    return ranks;
  }

  void check_both() {
    for (; selvage_steps_ < hand_steps_; ++selvage_steps_) with_selvage_.step();
    for (; hand_steps_ < selvage_steps_; ++hand_steps_) by_hand_.step();
    Kokkos::fence("bench::stepped");
    const auto one = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), by_hand_.heat());
    const auto other = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), with_selvage_.heat());
    for (int i = 1; i <= n_; ++i) {
      for (int j = 1; j <= n_; ++j) {
        for (int k = 1; k <= n_; ++k) {
          if (one(i, j, k) != other(i, j, k))
            throw Error(ErrorKind::verification, fmt::format("cell {} {} {} differs", i, j, k));
        }
      }
    }
  }

  Context context_;
  int n_;
  heat::ByHand by_hand_;
  heat::WithSelvage with_selvage_;
  std::int64_t hand_steps_ = 0;
  std::int64_t selvage_steps_ = 0;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const int n : {8, 16, 32, 64, 128, 256}) {
      register_figure(fmt::format("heat/{}/{}", n, ranks_text(context.machine())), comm, rounds, [=] {
        const auto trial = std::make_shared<HeatTrial>(context, n);
        return Figure{.contenders = trial->contenders(),
                      .derive =
                          [](const Times& times) {
                            return Times{{"speed-up, %", 100 * times.at("by hand") / times.at("selvage")}};
                          },
                      .keeps = trial};
      });
    }
  });
}
