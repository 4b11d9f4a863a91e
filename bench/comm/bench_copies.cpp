// What a proxy copies on one way and on several: ranks 0, 2, ... put to ranks 1, 3, ..., each form of SELVAGE_COPY_PATHS
// in turn. <r> counts ranks or GPUs. On hosts both ways are the same cores' loads and stores, and only the bits count.
//
// copies/put/<bytes>/<r>gpu: GB/s
//   auto: by several ways where that was measured to be faster
//   direct, staged: straight, or through page-locked host memory, alone
//   static, dynamic: both, a tenth of the bytes staged, or by which way is done sooner

#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"

#include <selvage/comm/trigger.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Words = Kokkos::View<std::uint64_t*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
constexpr int rounds = 11;

/// One team puts what lies in its window to the same place of the target's, and waits until it is there.
struct Put {
  CommandPort port;
  std::byte* window;
  std::uint64_t bytes;
  int target;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const CommandPort::Ring ring = port.ring(0);
    if (ring.put_nbi(team, window, window, bytes, target)) static_cast<void>(ring.quiet(team));
  }
};

KOKKOS_FUNCTION std::uint64_t word_of(std::uint64_t seed, std::uint64_t i) {
  return (i + 1) * 0x9e3779b97f4a7c15U + seed;
}
struct Fill {
  Words words;
  std::uint64_t seed;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { words(i) = word_of(seed, i); }
};
struct CountWrong {
  Words words;
  std::uint64_t seed;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    if (words(i) != word_of(seed, i)) ++wrong;
  }
};

/// Copies of one size, by every form.
class CopyTrial {
 public:
  CopyTrial(const Context& context, std::size_t bytes) : context_(context), window_(space_, context, bytes) {
    require_copies();
    for (const auto& [name, paths] :
         {std::pair{"auto", "auto"}, std::pair{"direct", "direct"}, std::pair{"staged", "static:1"},
          std::pair{"static", "static:0.1"}, std::pair{"dynamic", "dynamic"}})
      add(name, paths);
  }
  CopyTrial(const CopyTrial&) = delete;
  CopyTrial& operator=(const CopyTrial&) = delete;

  [[nodiscard]] Figure figure() const {
    const auto rates = [bytes = static_cast<double>(window_.bytes())](const Times& times) {
      std::map<std::string, double> all;
      for (const auto& [name, seconds] : times) all[name + ", GB/s"] = bytes / seconds * 1e-9;
      return all;
    };
    return {.contenders = contenders_, .derive = rates};
  }

 private:
  /// The rank that this one puts to; none for those that are put to.
  [[nodiscard]] bool puts() const { return context_.rank() % 2 == 0 && target() < context_.size(); }
  [[nodiscard]] int target() const { return context_.rank() + 1; }
  [[nodiscard]] Words words() const {
    return Words(reinterpret_cast<std::uint64_t*>(window_.data()), window_.bytes() / sizeof(std::uint64_t));
  }

  void require_copies() const {
    if (context_.size() < 2) throw Error(ErrorKind::usage, "copies are timed between two ranks or more");
    if (puts() && !window_.maps(target())) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("ranks {} and {} don't map each other's memory: nothing is copied between them",
                              context_.rank(), target()));
    }
  }

  /// A queue's copies go as the environment says when it is made.
  void add(const char* name, const char* paths) {
    setenv("SELVAGE_COPY_PATHS", paths, 1);
    setenv("SELVAGE_COPY_SPLIT_BYTES", "1", 1);
    queues_.push_back(std::make_shared<CommandQueue>(space_, context_, window_, CommandQueue::Options{}));
    if (!queues_.back()->has_threads())
      throw Error(ErrorKind::unsupported, "copies are timed with threads that serve kernels");
    const auto run = [this, port = queues_.back()->device()] {
      if (!puts()) return;
      Kokkos::parallel_for("bench::put", Kokkos::TeamPolicy<Space>(space_, 1, 1),
                           Put{port, window_.data(), window_.bytes(), target()});
    };
    contenders_.push_back({name, run, [this, name = std::string(name), run] { verify(name, run); }});
  }

  /// Each form copies words that nobody had before.
  void verify(const std::string& name, const std::function<void()>& run) {
    const std::uint64_t seed = ++seed_ * 1'000'000;
    const std::uint64_t count = words().extent(0);
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<std::uint64_t>> all(space_, 0, count);
    Kokkos::parallel_for("bench::fill", all, Fill{words(), seed + context_.rank()});
    Kokkos::fence("bench::filled");
    MPI_Barrier(context_.comm());
    run();
    Kokkos::fence("bench::arrived");
    MPI_Barrier(context_.comm());
    const bool is_target = context_.rank() % 2 == 1;
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("bench::count", all,
                            CountWrong{words(), seed + context_.rank() - (is_target ? 1 : 0)}, wrong);
    if (wrong > 0) {
      throw Error(ErrorKind::verification, fmt::format("{} leaves {} of {} words wrong", name, wrong, count));
    }
    for (const auto& queue : queues_) queue->check();
  }

  Context context_;
  Space space_;
  Window window_;
  std::vector<std::shared_ptr<CommandQueue>> queues_;
  std::vector<Contender> contenders_;
  std::uint64_t seed_ = 0;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const std::size_t megabytes : {1, 4, 16, 64, 256}) {
      const std::size_t bytes = megabytes << 20;
      const std::string name = fmt::format("copies/put/{}/{}", bytes, ranks_text(context.machine()));
      register_figure(name, comm, rounds, [=] {
        const auto trial = std::make_shared<CopyTrial>(context, bytes);
        Figure figure = trial->figure();
        figure.keeps = trial;
        return figure;
      });
    }
  });
}
