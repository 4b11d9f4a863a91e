// Round trips of remote tasks around a ring of ranks: a payload goes to the next rank, is added to what that one has,
// and the caller learns that it was. All ranks call at once; <r> counts ranks or GPUs.
//
// tasks/add/<bytes>/<r>rank: us per round trip
//   function: RemoteTasks, run by a thread of the library's; hosts only
//   kernel, and in a graph: RemoteTasks, run by kernels that wait for them on the target's instance
//   mpi: a message to a rank that waits for it, runs the task and answers; GPUs stage it through host memory

#include "../support/figure.hpp"
#include "../support/graph.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"

#include <selvage/comm/remote_tasks.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Values = Kokkos::View<double*, Space::memory_space>;
constexpr int rounds = 31;
constexpr int trips_per_graph = 20;
/// Long beside the time in which the threads of the contender before fall asleep.
constexpr double batch_seconds = 20e-3;

/// The task.
struct Add {
  Values sums;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const TaskPort::Message& message) const {
    const auto* values = reinterpret_cast<const double*>(message.payload);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(message.bytes / sizeof(double))),
                         [&](int i) { sums(i) += values[i]; });
  }
};

/// The same without them.
struct AddReceived {
  Values sums, values;
  KOKKOS_FUNCTION void operator()(int i) const { sums(i) += values(i); }
};

/// What programs do without remote tasks.
class TaskByMessage {
 public:
  TaskByMessage(MPI_Comm comm, const Space& space, const Values& payload, const Values& sums, int left,
                int right)
      : comm_(comm),
        space_(space),
        payload_(payload),
        sums_(sums),
        received_("received", payload.extent(0)),
        sent_(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), payload)),
        arrived_(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), received_)),
        left_(left),
        right_(right) {}

  void run() {
    const int count = static_cast<int>(payload_.extent(0));
    if (!on_host) {
      Kokkos::deep_copy(space_, sent_, payload_);
      space_.fence("bench::payload");
    }
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(arrived_.data(), count, MPI_DOUBLE, left_, 0, comm_, &requests[0]);
    MPI_Irecv(nullptr, 0, MPI_BYTE, right_, 1, comm_, &requests[1]);
    MPI_Isend(sent_.data(), count, MPI_DOUBLE, right_, 0, comm_, &requests[2]);
    MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
    add(count);
    MPI_Isend(nullptr, 0, MPI_BYTE, left_, 1, comm_, &requests[3]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  using Staging = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Values()));

  void add(int count) {
    if (!on_host) Kokkos::deep_copy(space_, received_, arrived_);
    Kokkos::parallel_for("bench::add", Kokkos::RangePolicy<Space>(space_, 0, count),
                         AddReceived{sums_, received_});
    space_.fence("bench::added");
  }

  MPI_Comm comm_;
  Space space_;
  Values payload_, sums_, received_;
  Staging sent_, arrived_;
  int left_, right_;
};

/// Payloads of one size, and every way to have them added.
class TaskTrial {
 public:
  TaskTrial(MPI_Comm comm, const Context& context, std::size_t bytes)
      : context_(context),
        space_(make_instance()),
        payload_("payload", bytes / sizeof(double)),
        sums_("sums", bytes / sizeof(double)) {
    if (on_host) add_function();
    add_kernels();
    auto message = std::make_shared<TaskByMessage>(comm, space_, payload_, sums_, left(), right());
    add("mpi", [message] { message->run(); });
  }
  TaskTrial(const TaskTrial&) = delete;
  TaskTrial& operator=(const TaskTrial&) = delete;

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }

 private:
  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }

  std::shared_ptr<RemoteTasks> make_tasks() {
    tasks_.push_back(std::make_shared<RemoteTasks>(
        space_, context_, RemoteTasks::Options{.payload_bytes = payload_.span() * sizeof(double)}));
    if (!tasks_.back()->has_threads())
      throw Error(ErrorKind::unsupported, "remote tasks are timed with threads that serve them");
    return tasks_.back();
  }

  void add_function() {
    const auto tasks = make_tasks();
    tasks->add(0, [sums = sums_](const TaskPort::Message& message) {
      const auto* values = reinterpret_cast<const double*>(message.payload);
      for (std::size_t i = 0; i < message.bytes / sizeof(double); ++i) sums.data()[i] += values[i];
    });
    tasks->open();
    add("function", [this, tasks] {
      tasks->call(space_, right(), {}, payload_);
      tasks->wait(space_, right());
    });
  }

  void add_kernels() {
    const auto tasks = make_tasks();
    const auto trip = [this, tasks] {
      tasks->call(space_, right(), {}, payload_);
      tasks->serve(space_, left(), 1, Add{sums_});
      tasks->wait(space_, right());
    };
    add("kernel", trip);
    trip();  // what first launches allocate can't be captured
    space_.fence("bench::before capture");
    const auto graph = capture(space_, [trip] {
      for (int i = 0; i < trips_per_graph; ++i) trip();
    });
    if (graph) add("kernel, graph", graph, trips_per_graph);
  }

  void add(const std::string& name, const std::function<void()>& run, int units = 1) {
    contenders_.push_back({name, run, [this, name, run, units] { verify(name, run, units); }, units});
  }

  /// Every call adds the left rank's payload once.
  void verify(const std::string& name, const std::function<void()>& run, int units) {
    constexpr int calls = 3;
    const auto payload = Kokkos::create_mirror(payload_);
    const auto sums = Kokkos::create_mirror(sums_);
    const auto value = [](int rank, std::size_t i) { return rank * 1000 + static_cast<double>(i % 777); };
    for (std::size_t i = 0; i < payload.extent(0); ++i) payload(i) = value(context_.rank(), i);
    Kokkos::deep_copy(payload_, payload);
    Kokkos::deep_copy(sums_, -1.0);
    Kokkos::fence("bench::filled");
    MPI_Barrier(context_.comm());
    for (int call = 0; call < calls; ++call) run();
    Kokkos::fence("bench::added");
    MPI_Barrier(context_.comm());
    Kokkos::deep_copy(sums, sums_);
    for (std::size_t i = 0; i < sums.extent(0); ++i) {
      if (sums(i) == calls * units * value(left(), i) - 1) continue;
      throw Error(ErrorKind::verification, fmt::format("{} adds element {} wrongly", name, i));
    }
    for (const auto& tasks : tasks_) tasks->check();
  }

  Context context_;
  Space space_;
  Values payload_, sums_;
  std::vector<std::shared_ptr<RemoteTasks>> tasks_;
  std::vector<Contender> contenders_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const std::size_t bytes : {64, 1024, 8192, 65536}) {
      const std::string name = fmt::format("tasks/add/{}/{}", bytes, ranks_text(context.machine()));
      register_figure(name, comm, rounds, [=] {
        const auto trial = std::make_shared<TaskTrial>(comm, context, bytes);
        return Figure{.contenders = trial->contenders(), .batch_seconds = batch_seconds, .keeps = trial};
      });
    }
  });
}
