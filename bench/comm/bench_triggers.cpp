// What a running kernel sends: each rank's kernel fills a message, sends it to the next rank, and waits for the one from the rank before.
// <r> counts ranks or GPUs.
//
// triggers/put/<bytes>/<r>rank: us per step
//   triggers: an operation registered beforehand, which the kernel fires by one store (Triggers)
//   command queue: a whole descriptor, which the kernel writes into a ring (CommandQueue)
//   mpi: the kernel ends, and the host sends; GPUs stage through pinned host memory

#include "../support/figure.hpp"
#include "../support/graph.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "sent_words.hpp"

#include <selvage/comm/trigger.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Words = Kokkos::View<std::uint64_t*, Space::memory_space>;
constexpr int rounds = 31;
/// Long beside the time in which the threads of the contender before fall asleep.
constexpr double batch_seconds = 20e-3;
/// Messages of two steps may be underway: who has waited for the second has finished the first.
constexpr std::uint64_t sets = 2;
constexpr std::uint64_t words_per_line = 16;

/// What lies in a window: a line per set with the word that says how many messages have come, then the messages.
struct Layout {
  std::uint64_t* window;
  std::uint64_t message_words;
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t* arrived(std::uint64_t set) const {
    return window + set * words_per_line;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t* message(std::uint64_t set) const {
    return window + sets * words_per_line + set * message_words;
  }
  [[nodiscard]] std::uint64_t offset(const std::uint64_t* word) const {
    return static_cast<std::uint64_t>(word - window) * sizeof(std::uint64_t);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return (sets * words_per_line + sets * message_words) * sizeof(std::uint64_t);
  }
};

/// A step of one team, from 0. Sends from `out`, a message per set.
struct Step {
  Words out;
  Layout layout;
  int rank;
  std::uint64_t number;

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t set() const { return number % sets; }
  /// Of the set's messages: begins with 1.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t epoch() const { return 1 + number / sets; }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t* message() const {
    return out.data() + set() * layout.message_words;
  }
  KOKKOS_FUNCTION void fill(const Team& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(layout.message_words)),
                         [&](int i) { message()[i] = word_of(rank, number, static_cast<std::uint64_t>(i)); });
  }
};

struct StepByTrigger {
  Step step;
  TriggerPort port;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto id = static_cast<std::uint32_t>(step.set());
    if (step.epoch() > 1) {
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        static_cast<void>(port.wait_complete({id, step.epoch() - 1}));
      });
      team.team_barrier();
    }
    step.fill(team);
    port.fire_team(team, {id, step.epoch()});
    static_cast<void>(port.wait_until(team, step.layout.arrived(step.set()), step.epoch()));
  }
};

struct StepByQueue {
  Step step;
  CommandPort port;
  int target;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const CommandPort::Ring ring = port.ring(0);
    static_cast<void>(ring.quiet(team));
    step.fill(team);
    static_cast<void>(ring.put_signal(team, step.layout.message(step.set()), step.message(),
                                      step.layout.message_words * sizeof(std::uint64_t),
                                      step.layout.arrived(step.set()), step.epoch(), target));
    static_cast<void>(ring.wait_until(team, step.layout.arrived(step.set()), step.epoch()));
  }
};

struct FillStep {
  Step step;
  KOKKOS_FUNCTION void operator()(const Team& team) const { step.fill(team); }
};

/// Messages of one size, and every way to send them.
class TriggerTrial {
 public:
  TriggerTrial(const Context& context, std::uint64_t bytes)
      : context_(context), message_words_(bytes / sizeof(std::uint64_t)) {
    add_triggers();
    add_queue();
    add_messages();
  }
  TriggerTrial(const TriggerTrial&) = delete;
  TriggerTrial& operator=(const TriggerTrial&) = delete;

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }

 private:
  using Received = std::function<const std::uint64_t*(std::uint64_t)>;  ///< of a set

  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }
  [[nodiscard]] Kokkos::TeamPolicy<Space> one_team() const { return {space_, 1, Kokkos::AUTO}; }

  [[nodiscard]] Step first_step() const {
    return {Words("out", sets * message_words_), {nullptr, message_words_}, context_.rank(), 0};
  }
  /// A window of its own for each way.
  [[nodiscard]] std::shared_ptr<Window> make_window(Step& step) const {
    auto window = std::make_shared<Window>(space_, context_, step.layout.bytes());
    step.layout.window = reinterpret_cast<std::uint64_t*>(window->data());
    return window;
  }

  void add_triggers() {
    auto step = std::make_shared<Step>(first_step());
    const std::shared_ptr<Window> window = make_window(*step);
    auto triggers = std::make_shared<Triggers>(space_, context_, Triggers::Options{.ids = sets});
    if (!triggers->has_thread())
      throw Error(ErrorKind::unsupported, "kernels are timed with threads that serve them");
    for (std::uint64_t set = 0; set < sets; ++set) {
      triggers->add_for_all_epochs(static_cast<std::uint32_t>(set),
                                   {.window = window.get(),
                                    .target = right(),
                                    .local = step->out.data() + set * message_words_,
                                    .bytes = message_words_ * sizeof(std::uint64_t),
                                    .offset = step->layout.offset(step->layout.message(set)),
                                    .arrival = step->layout.offset(step->layout.arrived(set))},
                                   1);
    }
    add(
        "triggers", step,
        [this, step, window, triggers] {
          Kokkos::parallel_for("bench::trigger", one_team(), StepByTrigger{*step, triggers->device()});
          space_.fence("bench::triggered");
        },
        [triggers] { triggers->check(); }, received_in(step));
  }

  void add_queue() {
    auto step = std::make_shared<Step>(first_step());
    const std::shared_ptr<Window> window = make_window(*step);
    auto queue = std::make_shared<CommandQueue>(space_, context_, *window, CommandQueue::Options{});
    add(
        "command queue", step,
        [this, step, window, queue] {
          Kokkos::parallel_for("bench::command", one_team(), StepByQueue{*step, queue->device(), right()});
          space_.fence("bench::commanded");
        },
        [queue] { queue->check(); }, received_in(step));
  }

  void add_messages() {
    auto step = std::make_shared<Step>(first_step());
    const Words in("in", sets * message_words_);
    const auto sent = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), step->out);
    const auto arrived = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), in);
    add(
        "mpi", step,
        [this, step, in, sent, arrived] {
          const std::uint64_t begin = step->set() * message_words_;
          const auto count = static_cast<int>(message_words_);
          const auto of_set = std::pair(begin, begin + message_words_);
          std::array<MPI_Request, 2> requests{};
          MPI_Irecv(arrived.data() + begin, count, MPI_UINT64_T, left(), 0, context_.comm(), &requests[0]);
          Kokkos::parallel_for("bench::fill", one_team(), FillStep{*step});
          if (!on_host)
            Kokkos::deep_copy(space_, Kokkos::subview(sent, of_set), Kokkos::subview(step->out, of_set));
          space_.fence("bench::filled");
          MPI_Isend(sent.data() + begin, count, MPI_UINT64_T, right(), 0, context_.comm(), &requests[1]);
          MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
          if (!on_host) {
            Kokkos::deep_copy(space_, Kokkos::subview(in, of_set), Kokkos::subview(arrived, of_set));
            space_.fence("bench::arrived");
          }
        },
        [] {}, [this, in](std::uint64_t set) { return in.data() + set * message_words_; });
  }

  [[nodiscard]] static Received received_in(const std::shared_ptr<Step>& step) {
    return [step](std::uint64_t set) { return step->layout.message(set); };
  }

  /// \param run  makes a step
  void add(const std::string& name, const std::shared_ptr<Step>& step, const std::function<void()>& run,
           const std::function<void()>& check, const Received& received) {
    const auto next = [step, run] {
      run();
      ++step->number;
    };
    contenders_.push_back({name, next, [this, name, step, next, check, received] {
                             for (std::uint64_t set = 0; set < sets; ++set)
                               verify(name, *step, next, received);
                             check();
                           }});
  }
  void verify(const std::string& name, const Step& step, const std::function<void()>& next,
              const Received& received) const {
    MPI_Barrier(context_.comm());
    const std::uint64_t number = step.number, set = step.set();
    next();
    MPI_Barrier(context_.comm());
    require_words(name, received(set), message_words_, left(), number);
  }

  Context context_;
  Space space_ = make_instance();
  std::uint64_t message_words_;
  std::vector<Contender> contenders_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const std::uint64_t bytes : {64, 1024, 8192, 65536}) {
      register_figure(
          fmt::format("triggers/put/{}/{}", bytes, ranks_text(context.machine())), comm, rounds, [=] {
            const auto trial = std::make_shared<TriggerTrial>(context, bytes);
            return Figure{.contenders = trial->contenders(), .batch_seconds = batch_seconds, .keeps = trial};
          });
    }
  });
}
