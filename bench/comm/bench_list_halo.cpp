// Halos of lists: ours against what molecular dynamics codes write, interleaved in one run. <r> counts ranks or GPUs.
//
// list/gather/<entries>/<r>rank: a third of each rank's particles to the rank before and the rank after it on a ring,
// three doubles each
//
// list/scatter_add/<entries>/<r>rank: as many back, added
//
// list/rebuild/<entries>/<r>rank: by other particles each time; without options it finds out who sends, or neighbours are named

#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "plain_lists.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = PlainLists::Space;
using Vectors = PlainLists::Vectors;
using Integers = Kokkos::View<int*, Space>;
constexpr int rounds = 31;

/// Each rank's lists, and everyone who fills ghosts by them.
class ListTrial {
 public:
  ListTrial(const Context& context, int entries)
      : context_(context),
        owned_(3 * entries / 2),
        ids_{Integers("bench::ids", entries), Integers("bench::other ids", entries)},
        ranks_("bench::ranks", entries),
        x_("bench::x", owned_ + entries),
        force_("bench::force", owned_ + entries) {
    make_lists(entries);
    std::map<int, std::int64_t> received;
    for (const auto& [rank, ids] : sent_) received[rank] = static_cast<std::int64_t>(ids.size());
    const auto plain = [&](Messages messages) {
      return std::make_shared<PlainLists>(context_.comm(), messages, owned_, sent_, received);
    };
    plain_.emplace_back("packed, MPI_Isend", plain(Messages::staged));
    add("selvage", {});
    add("peer", {.neighbours = {}, .transport = Transport::peer});
    add("mpi_staged", {.neighbours = {}, .transport = Transport::mpi_staged});
    if (!on_host && make_halo({.transport = Transport::mpi_direct}))
      plain_.emplace_back("packed, GPU-aware MPI_Isend", plain(Messages::direct));
    named_ = make_halo({.neighbours = std::vector<int>{before(), after()}});
  }
  ListTrial(const ListTrial&) = delete;
  ListTrial& operator=(const ListTrial&) = delete;

  [[nodiscard]] std::vector<Contender> gathers() {
    return all_of(
        [this](ListHalo& halo) { halo.gather(Space(), x_); }, [this](PlainLists& plain) { plain.gather(x_); },
        [this](const std::string& name, const std::function<void()>& run) { verify_gather(name, 0, run); });
  }
  [[nodiscard]] std::vector<Contender> scatters() {
    return all_of(
        [this](ListHalo& halo) { halo.scatter_add(Space(), force_); },
        [this](PlainLists& plain) { plain.scatter_add(force_); },
        [this](const std::string& name, const std::function<void()>& run) { verify_scatter(name, run); });
  }
  /// What a rebuild leaves is what fills ghosts.
  [[nodiscard]] std::vector<Contender> rebuilds() {
    std::vector<Contender> all;
    for (const auto& [name, halo] : {halos_.front(), std::pair(std::string("neighbours named"), named_)}) {
      const auto turn = std::make_shared<int>(0);
      const auto run = [this, halo = halo, turn] {
        *turn = 1 - *turn;
        halo->rebuild(Space(), owned_, ids_[*turn], ranks_);
      };
      // By both lists: a rebuild that did nothing would leave those of before.
      all.push_back({name, run, [this, name = name, halo = halo, run, turn] {
                       for (int time = 0; time < 2; ++time) {
                         run();
                         verify_gather(name, *turn, [&] { halo->gather(Space(), x_); });
                       }
                     }});
    }
    return all;
  }

 private:
  /// Each of ours, then those written by hand. \param verify  given a name and what to run
  template <class Ours, class Plain, class Verify>
  [[nodiscard]] std::vector<Contender> all_of(const Ours& ours, const Plain& plain, const Verify& verify) {
    std::vector<Contender> all;
    const auto add_one = [&](const std::string& name, const std::function<void()>& run) {
      all.push_back({name, run, [=] { verify(name, run); }});
    };
    for (const auto& [name, halo] : halos_) add_one(name, [ours, halo = halo] { ours(*halo); });
    for (const auto& [name, lists] : plain_) add_one(name, [plain, lists = lists] { plain(*lists); });
    // Of the bytes a rank sends: three doubles for each entry.
    if (on_host) all.push_back(copy_floor(3 * sizeof(double) * ranks_.extent(0)));
    return all;
  }

  [[nodiscard]] int after() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int before() const { return (context_.rank() + context_.size() - 1) % context_.size(); }

  /// Every third particle to each side: of all ranks alike, for the rank before and then for the one after it.
  static int id_of(int entry, int entries, int list) {
    const int half = entries / 2;
    return entry % half * 3 + (entry < half ? 0 : 1) + list;
  }

  void make_lists(int entries) {
    const auto ranks = Kokkos::create_mirror_view(ranks_);
    for (int entry = 0; entry < entries; ++entry) {
      ranks(entry) = entry < entries / 2 ? before() : after();
      sent_[ranks(entry)].push_back(id_of(entry, entries, 0));
    }
    Kokkos::deep_copy(ranks_, ranks);
    for (int list = 0; list < 2; ++list) {
      const auto ids = Kokkos::create_mirror_view(ids_[list]);
      for (int entry = 0; entry < entries; ++entry) ids(entry) = id_of(entry, entries, list);
      Kokkos::deep_copy(ids_[list], ids);
    }
  }

  /// \return none where these ranks can't do that
  [[nodiscard]] std::shared_ptr<ListHalo> make_halo(const ListHalo::Options& options) const {
    try {
      return std::make_shared<ListHalo>(Space(), context_, owned_, ids_[0], ranks_, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      return nullptr;
    }
  }

  void add(const std::string& name, const ListHalo::Options& options) {
    if (auto halo = make_halo(options)) halos_.emplace_back(name, std::move(halo));
  }

  static double value_of(int rank, int id, int component) { return rank * 1e6 + id * 3 + component; }

  /// The neighbours' lists are this rank's own, for other ranks. \param list  which of the two is built
  void verify_gather(const std::string& name, int list, const std::function<void()>& run) const {
    const auto x = Kokkos::create_mirror_view(x_);
    for (int i = 0; i < static_cast<int>(x.extent(0)); ++i) {
      for (int c = 0; c < 3; ++c) x(i, c) = i < owned_ ? value_of(context_.rank(), i, c) : -1;
    }
    Kokkos::deep_copy(x_, x);
    MPI_Barrier(context_.comm());
    run();
    Kokkos::fence("bench::gathered");
    Kokkos::deep_copy(x, x_);
    std::int64_t ghost = owned_;
    for (const auto& [rank, unused] : sent_) {
      const int entries = static_cast<int>(ranks_.extent(0));
      for (int entry = 0; entry < entries; ++entry) {
        const int to = (entry < entries / 2 ? rank + context_.size() - 1 : rank + 1) % context_.size();
        if (to != context_.rank()) continue;
        const int id = id_of(entry, entries, list);
        for (int c = 0; c < 3; ++c) require(x(ghost, c) == value_of(rank, id, c), name, "ghost", ghost);
        ++ghost;
      }
    }
    MPI_Barrier(context_.comm());
  }

  void verify_scatter(const std::string& name, const std::function<void()>& run) const {
    const auto force = Kokkos::create_mirror_view(force_);
    for (int i = 0; i < static_cast<int>(force.extent(0)); ++i) {
      for (int c = 0; c < 3; ++c) force(i, c) = i < owned_ ? i : 7 + c;
    }
    Kokkos::deep_copy(force_, force);
    MPI_Barrier(context_.comm());
    run();
    Kokkos::fence("bench::added");
    Kokkos::deep_copy(force, force_);
    for (int i = 0; i < owned_; ++i) {
      for (int c = 0; c < 3; ++c) require(force(i, c) == i + (i % 3 < 2 ? 7 + c : 0), name, "sum", i);
    }
    MPI_Barrier(context_.comm());
  }

  static void require(bool is_right, const std::string& name, const char* what, std::int64_t place) {
    if (!is_right)
      throw Error(ErrorKind::verification, fmt::format("{} leaves {} {} wrong", name, what, place));
  }

  Context context_;
  int owned_;
  std::array<Integers, 2> ids_;  ///< two lists of other particles, for the same ranks
  Integers ranks_;
  Vectors x_;
  Vectors force_;
  std::map<int, std::vector<int>> sent_;
  std::vector<std::pair<std::string, std::shared_ptr<PlainLists>>> plain_;
  std::vector<std::pair<std::string, std::shared_ptr<ListHalo>>> halos_;
  std::shared_ptr<ListHalo> named_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const int entries : {64, 1024, 16384, 262144}) {
      for (const char* operation : {"gather", "scatter_add", "rebuild"}) {
        const std::string name =
            fmt::format("list/{}/{}/{}", operation, entries, ranks_text(context.machine()));
        register_figure(name, comm, rounds, [=] {
          const auto trial = std::make_shared<ListTrial>(context, entries);
          const std::string_view what = operation;
          return Figure{.contenders = what == "gather"        ? trial->gathers()
                                      : what == "scatter_add" ? trial->scatters()
                                                              : trial->rebuilds(),
                        .keeps = trial,
                        .keeps_to_the_end = true};
        });
      }
    }
  });
}
