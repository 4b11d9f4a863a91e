// How fast service threads carry out the commands of a running kernel: 16 teams, each with a ring of its own, put 8 pieces each into the
// next rank's window, and wait until all have arrived. <r> counts ranks or GPUs.
//
// queues/put/<bytes>/<r>rank: us per step of 128 pieces of so many bytes
//   <n> threads: service threads among which the rings are divided; rings in host memory
//   <n> threads, rings on GPU: rings in GPU memory
//   mpi: the kernel ends, and the host sends each piece; GPUs stage through pinned host memory

#include "../support/figure.hpp"
#include "../support/graph.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "sent_words.hpp"

#include <selvage/comm/trigger.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Words = Kokkos::View<std::uint64_t*, Space::memory_space>;
constexpr int rounds = 31;
/// Long beside the time in which the threads of the contender before fall asleep.
constexpr double batch_seconds = 20e-3;
constexpr int teams = 16;
constexpr int pieces_per_team = 8;
constexpr int pieces = teams * pieces_per_team;

/// The elements of one step, and who sends them.
struct Step {
  Words out;
  std::uint64_t piece_words;
  int rank;
  std::uint64_t number;

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t first_word(int team) const {
    return static_cast<std::uint64_t>(team) * pieces_per_team * piece_words;
  }
  KOKKOS_FUNCTION void fill(const Team& team) const {
    const std::uint64_t first = first_word(team.league_rank());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(pieces_per_team * piece_words)),
                         [&](int i) {
                           const std::uint64_t word = first + static_cast<std::uint64_t>(i);
                           out(word) = word_of(rank, number, word);
                         });
  }
};

struct FillStep {
  Step step;
  KOKKOS_FUNCTION void operator()(const Team& team) const { step.fill(team); }
};

struct StepByQueue {
  Step step;
  CommandPort port;
  std::uint64_t* window;
  int target;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const CommandPort::Ring ring = port.ring(team.league_rank());
    step.fill(team);
    const std::uint64_t first = step.first_word(team.league_rank());
    for (std::uint64_t piece = 0; piece < pieces_per_team; ++piece) {
      const std::uint64_t word = first + piece * step.piece_words;
      static_cast<void>(ring.put_nbi(team, window + word, step.out.data() + word,
                                     step.piece_words * sizeof(std::uint64_t), target));
    }
    static_cast<void>(ring.quiet(team));
  }
};

/// Pieces of one size, and every way to send them.
class QueueTrial {
 public:
  QueueTrial(const Context& context, std::uint64_t bytes)
      : context_(context), piece_words_(bytes / sizeof(std::uint64_t)) {
    for (const int threads : {1, 2, 4}) {
      const std::string name = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
      add_queue(name, {.rings = teams, .service_threads = threads, .slots_on_device = false});
      if (!on_host)
        add_queue(name + ", rings on GPU",
                  {.rings = teams, .service_threads = threads, .slots_on_device = true});
    }
    add_messages();
  }
  QueueTrial(const QueueTrial&) = delete;
  QueueTrial& operator=(const QueueTrial&) = delete;

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }

 private:
  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }
  [[nodiscard]] std::uint64_t all_words() const { return pieces * piece_words_; }
  [[nodiscard]] Kokkos::TeamPolicy<Space> all_teams() const { return {space_, teams, Kokkos::AUTO}; }
  [[nodiscard]] std::shared_ptr<Step> first_step() const {
    return std::make_shared<Step>(Step{Words("out", all_words()), piece_words_, context_.rank(), 0});
  }

  void add_queue(const std::string& name, const CommandQueue::Options& options) {
    const auto step = first_step();
    const auto window = std::make_shared<Window>(space_, context_, all_words() * sizeof(std::uint64_t));
    const auto queue = std::make_shared<CommandQueue>(space_, context_, *window, options);
    if (!queue->has_threads())
      throw Error(ErrorKind::unsupported, "kernels are timed with threads that serve them");
    auto* const words = reinterpret_cast<std::uint64_t*>(window->data());
    add(
        name, step,
        [this, step, window, queue, words] {
          Kokkos::parallel_for("bench::queue", all_teams(),
                               StepByQueue{*step, queue->device(), words, right()});
          space_.fence("bench::queued");
        },
        [queue] { queue->check(); }, words);
  }

  void add_messages() {
    const auto step = first_step();
    const Words in("in", all_words());
    const auto sent = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), step->out);
    const auto arrived = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), in);
    add(
        "mpi", step,
        [this, step, in, sent, arrived] {
          std::vector<MPI_Request> requests;
          const auto count = static_cast<int>(piece_words_);
          for (int piece = 0; piece < pieces; ++piece)
            MPI_Irecv(arrived.data() + static_cast<std::uint64_t>(piece) * piece_words_, count, MPI_UINT64_T,
                      left(), 0, context_.comm(), &requests.emplace_back());
          Kokkos::parallel_for("bench::fill", all_teams(), FillStep{*step});
          if (!on_host) Kokkos::deep_copy(space_, sent, step->out);
          space_.fence("bench::filled");
          for (int piece = 0; piece < pieces; ++piece)
            MPI_Isend(sent.data() + static_cast<std::uint64_t>(piece) * piece_words_, count, MPI_UINT64_T,
                      right(), 0, context_.comm(), &requests.emplace_back());
          MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
          if (!on_host) {
            Kokkos::deep_copy(space_, in, arrived);
            space_.fence("bench::arrived");
          }
        },
        [] {}, in.data());
  }

  /// \param run  makes a step \param received  where the words of the rank before arrive
  void add(const std::string& name, const std::shared_ptr<Step>& step, const std::function<void()>& run,
           const std::function<void()>& check, const std::uint64_t* received) {
    const auto next = [step, run] {
      run();
      ++step->number;
    };
    contenders_.push_back({name, next, [this, name, step, next, check, received] {
                             verify(name, *step, next, received);
                             check();
                           }});
  }
  void verify(const std::string& name, const Step& step, const std::function<void()>& next,
              const std::uint64_t* received) const {
    MPI_Barrier(context_.comm());
    const std::uint64_t number = step.number;
    next();
    // Every rank has waited for what it put.
    MPI_Barrier(context_.comm());
    require_words(name, received, all_words(), left(), number);
  }

  Context context_;
  Space space_ = make_instance();
  std::uint64_t piece_words_;
  std::vector<Contender> contenders_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const std::uint64_t bytes : {8, 512, 8192, 65536}) {
      register_figure(
          fmt::format("queues/put/{}/{}", bytes, ranks_text(context.machine())), comm, rounds, [=] {
            const auto trial = std::make_shared<QueueTrial>(context, bytes);
            return Figure{.contenders = trial->contenders(), .batch_seconds = batch_seconds, .keeps = trial};
          });
    }
  });
}
