// Halos of lists: ours against what molecular dynamics codes write, interleaved in one run. <r> counts ranks or GPUs.
//
// list/gather/<entries>/<r>rank: a third of each rank's particles to the rank before and the rank after it on a ring,
// three doubles each
//
// list/scatter_add/<entries>/<r>rank: as many back, added
//
// list/rebuild/<entries>/<r>rank: the same lists once more; "found" finds out who sends, "named" knows the neighbours

#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "plain_lists.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

using Space = PlainLists::Space;
using Vectors = PlainLists::Vectors;
using Integers = Kokkos::View<int*, Space>;
constexpr int rounds = 31;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

/// Each rank's lists, and everyone who fills ghosts by them.
class ListTrial {
 public:
  ListTrial(const Context& context, int entries)
      : context_(context),
        owned_(3 * entries / 2),
        ids_("bench::ids", entries),
        ranks_("bench::ranks", entries),
        x_("bench::x", owned_ + entries),
        force_("bench::force", owned_ + entries) {
    make_lists(entries);
    std::map<int, std::int64_t> received;
    for (const auto& [rank, ids] : sent_) received[rank] = static_cast<std::int64_t>(ids.size());
    plain_ = std::make_unique<PlainLists>(context_.comm(), owned_, sent_, received);
    add("peer", {.neighbours = {}, .transport = Transport::peer});
    add("mpi_staged", {.neighbours = {}, .transport = Transport::mpi_staged});
    for (auto& [name, halo] : halos_) {
      gathers_.push_back({name, [this, &halo] { halo.gather(Space(), x_); }});
      scatters_.push_back({name, [this, &halo] { halo.scatter_add(Space(), force_); }});
    }
    gathers_.push_back({"plain", [this] { plain_->gather(x_); }});
    scatters_.push_back({"plain", [this] { plain_->scatter_add(force_); }});
    for (const Contender& contender : gathers_) verify_gather(contender);
    for (const Contender& contender : scatters_) verify_scatter(contender);
    std::vector<int> neighbours{before(), after()};
    named_ = std::make_unique<ListHalo>(Space(), context_, owned_, ids_, ranks_,
                                        ListOptions{.neighbours = neighbours});
    found_ = std::make_unique<ListHalo>(Space(), context_, owned_, ids_, ranks_);
  }

  [[nodiscard]] const std::vector<Contender>& gathers() const { return gathers_; }
  [[nodiscard]] const std::vector<Contender>& scatters() const { return scatters_; }
  [[nodiscard]] std::vector<Contender> rebuilds() const {
    return {{"named", [this] { named_->rebuild(Space(), owned_, ids_, ranks_); }},
            {"found", [this] { found_->rebuild(Space(), owned_, ids_, ranks_); }}};
  }

 private:
  [[nodiscard]] int after() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int before() const { return (context_.rank() + context_.size() - 1) % context_.size(); }

  /// Every third particle to each side.
  void make_lists(int entries) {
    const auto ids = Kokkos::create_mirror_view(ids_);
    const auto ranks = Kokkos::create_mirror_view(ranks_);
    for (int entry = 0; entry < entries; ++entry) {
      ids(entry) = entry % (entries / 2) * 3 + (entry < entries / 2 ? 0 : 1);
      ranks(entry) = entry < entries / 2 ? before() : after();
      sent_[ranks(entry)].push_back(ids(entry));
    }
    Kokkos::deep_copy(ids_, ids);
    Kokkos::deep_copy(ranks_, ranks);
  }

  /// What these ranks can't do isn't measured.
  void add(const std::string& name, const ListOptions& options) {
    try {
      halos_.emplace_back(name, ListHalo(Space(), context_, owned_, ids_, ranks_, options));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
    }
  }

  static double value_of(int rank, int id, int component) { return rank * 1e6 + id * 3 + component; }

  /// The neighbours' lists are this rank's own, for other ranks.
  void verify_gather(const Contender& contender) const {
    const auto x = Kokkos::create_mirror_view(x_);
    for (int i = 0; i < static_cast<int>(x.extent(0)); ++i) {
      for (int c = 0; c < 3; ++c) x(i, c) = i < owned_ ? value_of(context_.rank(), i, c) : -1;
    }
    Kokkos::deep_copy(x_, x);
    MPI_Barrier(context_.comm());
    contender.run();
    Kokkos::fence("bench::gathered");
    Kokkos::deep_copy(x, x_);
    std::int64_t ghost = owned_;
    for (const auto& [rank, unused] : sent_) {
      const int half = static_cast<int>(ids_.extent(0)) / 2;
      for (int entry = 0; entry < 2 * half; ++entry) {
        const int to =
            entry < half ? (rank + context_.size() - 1) % context_.size() : (rank + 1) % context_.size();
        if (to != context_.rank()) continue;
        const int id = entry % half * 3 + (entry < half ? 0 : 1);
        for (int c = 0; c < 3; ++c)
          require(x(ghost, c) == value_of(rank, id, c), contender.name, "ghost", ghost);
        ++ghost;
      }
    }
    MPI_Barrier(context_.comm());
  }

  void verify_scatter(const Contender& contender) const {
    const auto force = Kokkos::create_mirror_view(force_);
    for (int i = 0; i < static_cast<int>(force.extent(0)); ++i) {
      for (int c = 0; c < 3; ++c) force(i, c) = i < owned_ ? i : 7 + c;
    }
    Kokkos::deep_copy(force_, force);
    MPI_Barrier(context_.comm());
    contender.run();
    Kokkos::fence("bench::added");
    Kokkos::deep_copy(force, force_);
    for (int i = 0; i < owned_; ++i) {
      for (int c = 0; c < 3; ++c)
        require(force(i, c) == i + (i % 3 < 2 ? 7 + c : 0), contender.name, "sum", i);
    }
    MPI_Barrier(context_.comm());
  }

  static void require(bool is_right, const std::string& name, const char* what, std::int64_t place) {
    if (!is_right)
      throw Error(ErrorKind::verification, fmt::format("{} leaves {} {} wrong", name, what, place));
  }

  Context context_;
  int owned_;
  Integers ids_;
  Integers ranks_;
  Vectors x_;
  Vectors force_;
  std::map<int, std::vector<int>> sent_;
  std::unique_ptr<PlainLists> plain_;
  std::vector<std::pair<std::string, ListHalo>> halos_;
  std::unique_ptr<ListHalo> named_;
  std::unique_ptr<ListHalo> found_;
  std::vector<Contender> gathers_;
  std::vector<Contender> scatters_;
};

/// One Google Benchmark per size and operation: its time is the first contender's, the counters are everyone else's.
Figure figure_of(const Context& context, const std::string& name, const std::vector<Contender>& contenders) {
  const Trial trial(context.comm(), contenders, rounds);
  Record record;
  record.name = name;
  record.unit = "us";
  record.choice = contenders.front().name;
  record.value = trial.median(record.choice) * 1e6;
  record.verified = true;
  record.repetitions = rounds;
  record.spread = trial.spread(record.choice);
  Figure figure{.seconds = trial.median(record.choice)};
  for (const Contender& contender : contenders) {
    record.peers[contender.name] = trial.median(contender.name) * 1e6;
    figure.counters[contender.name + "_us"] = record.peers[contender.name];
    figure.counters["speedup_over_" + contender.name] = trial.speedup(record.choice, contender.name);
  }
  figure.records = {record};
  return figure;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const selvage::Context context(comm);
    for (const int entries : {64, 1024, 16384, 262144}) {
      for (const char* operation : {"gather", "scatter_add", "rebuild"}) {
        const std::string name =
            fmt::format("list/{}/{}/{}{}", operation, entries, context.size(), on_host ? "rank" : "gpu");
        register_figure(name, records, [=] {
          const ListTrial trial(context, entries);
          const std::string_view what = operation;
          return figure_of(context, name,
                           what == "gather"        ? trial.gathers()
                           : what == "scatter_add" ? trial.scatters()
                                                   : trial.rebuilds());
        });
      }
    }
  });
}
