#include <selvage/agreement.hpp>
#include <selvage/environment.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/silence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace selvage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds poll_interval{50};
constexpr int report_tag = 0x5e1f;
constexpr int verdict_tag = 0x5e20;
/// What a rank that listens has for taking a message.
constexpr std::chrono::milliseconds time_to_take{500};
/// What ranks have for coming once one of them has waited in vain: all who are well are waiting, too.
constexpr std::chrono::milliseconds roll_call{2000};
/// What rank 0 has, beyond the others' patience, for its verdict.
constexpr std::chrono::milliseconds time_to_decide{2000};

/// How a rank's work ended, or, as a verdict, how everybody's did. Sent as bytes between ranks of one
/// program.
struct Outcome {
  std::int32_t failed = 0;
  std::int32_t rank_missing = 0;  ///< somebody never came, so not everybody will raise this
  std::int32_t kind = 0;
  std::int32_t native_code = 0;
  std::int32_t rank = 0;
  std::int32_t unused = 0;
  std::int64_t patience_ms = 0;  ///< how long the sender of a report waits for the others
  std::uint64_t agreement = 0;   ///< the number of its name: others may be in another one
  std::array<char, 984> text =
      {};  ///< the error, or the name; null-terminated, and 1 KiB in all goes eagerly

  [[nodiscard]] bool waited_in_vain() const {
    return failed != 0 && kind == static_cast<std::int32_t>(ErrorKind::timeout);
  }
  void say(std::string_view words) {
    text = {};
    words.copy(text.data(), text.size() - 1);
  }
};
static_assert(std::is_trivially_copyable_v<Outcome> && sizeof(Outcome) == 1024);

Outcome failure(ErrorKind kind, int native_code, int rank, std::string_view text) {
  Outcome outcome{
      .failed = 1, .kind = static_cast<std::int32_t>(kind), .native_code = native_code, .rank = rank};
  outcome.say(text);
  return outcome;
}

/// \param prefix  of what exceptions say that are no Errors
Outcome outcome_of(const std::function<void()>& work, int rank, const std::string& prefix) {
  try {
    work();
  } catch (const Error& error) {
    return failure(error.kind(), error.native_code(), rank, error.message());
  } catch (const std::exception& error) {
    return failure(ErrorKind::unsupported, 0, rank, prefix + std::string(text_of_standard(error)));
  } catch (...) {
    return failure(ErrorKind::unsupported, 0, rank, prefix + std::string(text_of_other));
  }
  return {.rank = rank};
}

[[noreturn]] void raise(const Outcome& outcome) {
  const auto kind = static_cast<ErrorKind>(outcome.kind);
  if (outcome.rank_missing) throw IncompleteError(kind, outcome.text.data(), outcome.native_code);
  throw AgreedError(kind, outcome.text.data(), outcome.native_code, outcome.rank);
}

/// Whether a text speaks of that rank, and not of one whose number begins alike.
bool speaks_of(std::string_view text, int rank) {
  const std::string name = fmt::format("rank {}", rank);
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

/// One outcome on its way to ranks of which some may have stopped: a blocking send to those could wait forever.
class Sending {
 public:
  Sending(MPI_Comm comm, const Outcome& outcome, int tag)
      : comm_(comm), tag_(tag), outcome_(std::make_unique<Outcome>(outcome)) {}

  void start(int target) {
    requests_.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(outcome_.get(), sizeof(Outcome), MPI_BYTE, target, tag_, comm_, &requests_.back()),
              "MPI_Isend of an outcome");
  }

  /// MPI still reads what isn't taken in time, so that is left behind.
  void finish() {
    const auto deadline = Clock::now() + time_to_take;
    int done = 0;
    while (true) {
      check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall while ranks agree");
      if (done) return;
      if (Clock::now() >= deadline) break;
      std::this_thread::sleep_for(poll_interval);
    }
    static_cast<void>(outcome_.release());
  }

 private:
  MPI_Comm comm_;
  int tag_;
  std::unique_ptr<Outcome> outcome_;
  std::vector<MPI_Request> requests_;
};

/// Messages of one tag that are expected, one of each source.
class Receiving {
 public:
  Receiving(MPI_Comm comm, int tag, const std::vector<int>& sources, Clock::time_point deadline)
      : sources_(sources),
        deadline_(deadline),
        taken_(sources.size()),
        outcomes_(std::make_unique<Outcome[]>(sources.size())),
        requests_(sources.size(), MPI_REQUEST_NULL),
        places_(sources.size()) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      check_mpi(MPI_Irecv(&outcomes_[i], sizeof(Outcome), MPI_BYTE, sources[i], tag, comm, &requests_[i]),
                "MPI_Irecv of an outcome");
    }
  }

  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;
  /// After an error of MPI it may still write what was expected, so that is left behind.
  ~Receiving() {
    if (std::ranges::any_of(requests_, [](MPI_Request request) { return request != MPI_REQUEST_NULL; }))
      static_cast<void>(outcomes_.release());
  }

  /// Waits until then at most, or until the deadline, which a sender's patience, where it is told, may make earlier.
  bool has_all_by(Clock::time_point time) {
    while (true) {
      int found = 0;
      check_mpi(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &found, places_.data(),
                             MPI_STATUSES_IGNORE),
                "MPI_Testsome while ranks agree");
      if (found == MPI_UNDEFINED) return true;
      for (int i = 0; i < found; ++i) keep(static_cast<std::size_t>(places_[static_cast<std::size_t>(i)]));
      if (found == 0 && Clock::now() >= std::min(time, deadline_)) return false;
      if (found == 0) std::this_thread::sleep_for(poll_interval);
    }
  }

  /// The first source that nothing has come of.
  [[nodiscard]] int first_missing() const {
    const auto place = std::ranges::find_if(taken_, [](const auto& outcome) { return !outcome; });
    return sources_[static_cast<std::size_t>(place - taken_.begin())];
  }

  /// What has come by the deadline.
  std::vector<std::optional<Outcome>> take() {
    if (!has_all_by(deadline_)) give_up();
    return taken_;
  }

 private:
  void keep(std::size_t place) {
    taken_[place] = outcomes_[place];
    if (const auto patience_ms = outcomes_[place].patience_ms; patience_ms > 0)
      deadline_ = std::min(deadline_, Clock::now() + std::chrono::milliseconds(patience_ms));
  }

  void give_up() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      check_mpi(MPI_Cancel(&request), "MPI_Cancel of a message that never came");
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for a cancelled receive");
    }
  }

  std::vector<int> sources_;
  Clock::time_point deadline_;
  std::vector<std::optional<Outcome>> taken_;
  std::unique_ptr<Outcome[]> outcomes_;
  std::vector<MPI_Request> requests_;
  std::vector<int> places_;
};

struct Agreement {
  MPI_Comm comm;
  std::string_view what;
  std::int64_t timeout_ms;
  bool tells = false;  ///< the user, who is late
  bool names = false;  ///< the rank that has failed, and the work
  int rank = 0;
  int ranks = 1;

  /// What a rank tells rank 0 of itself.
  [[nodiscard]] Outcome report(const std::function<void()>& work) const {
    Outcome own = outcome_of(work, rank, names ? fmt::format("{}: ", what) : "");
    own.agreement = std::hash<std::string_view>{}(what);
    own.patience_ms = own.waited_in_vain() ? roll_call.count() : timeout_ms;
    if (!own.failed) own.say(what);
    return own;
  }

  [[nodiscard]] Outcome incomplete(int other_rank, std::string_view text) const {
    Outcome outcome = failure(ErrorKind::timeout, 0, other_rank, text);
    outcome.rank_missing = 1;
    return outcome;
  }

  /// \param patience_ms  how long it was waited for
  [[nodiscard]] Outcome late(int late_rank, std::int64_t patience_ms) const {
    return incomplete(late_rank,
                      fmt::format("{}: rank {} did not come within {} ms", what, late_rank, patience_ms));
  }

  /// Rank 0 hears everybody.
  [[nodiscard]] Outcome decide(const Outcome& own) const {
    std::vector<int> others;
    for (int other = 1; other < ranks; ++other) others.push_back(other);
    const auto begin = Clock::now();
    Receiving receiving(comm, report_tag, others, begin + std::chrono::milliseconds(own.patience_ms));
    // Who has failed says that.
    if (tells && !own.failed) tell_of_late(receiving, begin);
    std::vector<std::optional<Outcome>> reports = receiving.take();
    reports.insert(reports.begin(), own);
    return verdict_on(reports);
  }

  void tell_of_late(Receiving& reports, Clock::time_point begin) const {
    const std::int64_t silence = silence_ms(timeout_ms);
    const auto time = begin + std::chrono::milliseconds(silence);
    if (reports.has_all_by(time) || Clock::now() < time) return;
    fmt::print(stderr, "selvage: {}: rank {} has not come after {} ms, given up after {} ms\n", what,
               reports.first_missing(), silence, timeout_ms);
  }

  /// The lowest rank's failure. Having waited in vain counts least, since it mostly follows from something else.
  [[nodiscard]] Outcome verdict_on(const std::vector<std::optional<Outcome>>& reports) const {
    std::optional<Outcome> failed;
    std::optional<Outcome> waited;
    int failures = 0;
    std::optional<int> missing;
    std::optional<int> not_waiting;
    std::optional<Outcome> elsewhere;
    std::int64_t least_patience_ms = timeout_ms;
    for (int each = 0; each < ranks; ++each) {
      const auto& report = reports[static_cast<std::size_t>(each)];
      if (!report) {
        if (!missing) missing = each;
        continue;
      }
      least_patience_ms = std::min(least_patience_ms, report->patience_ms);
      if (!report->waited_in_vain() && !not_waiting) not_waiting = each;
      auto& place = report->waited_in_vain() ? waited : failed;
      if (report->failed) ++failures;
      if (report->failed && !place) place = report;
      if (report->agreement != reports.front()->agreement && !elsewhere) elsewhere = report;
    }
    if (failed || waited) {
      Outcome verdict = failed ? *failed : *waited;
      if (failed && names && failures < ranks) verdict.say(naming_rank(verdict.text.data(), verdict.rank));
      if (!failed && missing) add_missing(verdict, *missing);
      if (!failed && !missing && not_waiting) add_late(verdict, *not_waiting);
      verdict.rank_missing = missing || elsewhere;
      return verdict;
    }
    if (missing) return late(*missing, least_patience_ms);
    if (elsewhere) {
      return incomplete(elsewhere->rank, fmt::format("{}: rank {} waits elsewhere: {}", what, elsewhere->rank,
                                                     elsewhere->text.data()));
    }
    return {};
  }

  /// Who has waited in vain needn't have waited for the rank that doesn't come.
  static void add_missing(Outcome& waited, int missing) {
    const std::string text = waited.text.data();
    if (!speaks_of(text, missing)) waited.say(fmt::format("{}, and rank {} does not answer", text, missing));
  }

  /// Nor need it name the rank that comes after all.
  static void add_late(Outcome& waited, int late_rank) {
    const std::string text = waited.text.data();
    if (!speaks_of(text, late_rank)) waited.say(fmt::format("{}, and rank {} came later", text, late_rank));
  }

  void announce(const Outcome& verdict) const {
    Sending sending(comm, verdict, verdict_tag);
    for (int target = 1; target < ranks; ++target) sending.start(target);
    sending.finish();
  }

  /// The other ranks report and wait for the verdict, longer than rank 0 waits for them: it may have waited in vain
  /// itself before it begins to.
  [[nodiscard]] Outcome ask(const Outcome& own) const {
    Sending sending(comm, own, report_tag);
    sending.start(0);
    std::chrono::milliseconds patience = std::chrono::milliseconds(own.patience_ms) + time_to_decide;
    if (!own.waited_in_vain()) patience += roll_call;
    const auto verdict = Receiving(comm, verdict_tag, {0}, Clock::now() + patience).take().front();
    sending.finish();
    if (verdict) return *verdict;
    if (!own.failed) return late(0, patience.count());
    Outcome alone = own;
    alone.rank_missing = 1;
    if (own.waited_in_vain()) add_missing(alone, 0);
    return alone;
  }
};

void agree(Agreement agreement, const std::function<void()>& work) {
  check_mpi(MPI_Comm_rank(agreement.comm, &agreement.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(agreement.comm, &agreement.ranks), "MPI_Comm_size");
  const Outcome own = agreement.report(work);
  Outcome verdict;
  if (agreement.rank == 0) {
    verdict = agreement.decide(own);
    agreement.announce(verdict);
  } else {
    verdict = agreement.ask(own);
  }
  if (verdict.failed) raise(verdict);
}

/// Gives up work that is not done in time. Its thread is left behind, with a copy of `work`: this is how a job ends.
/// \param says_so  whether this rank tells the user what takes long
void run_until(const std::function<void()>& work, std::string_view what, std::int64_t timeout_ms,
               bool says_so) {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (provided < MPI_THREAD_MULTIPLE) return work();
  std::packaged_task<void()> task(work);
  std::future<void> end = task.get_future();
  std::thread worker(std::move(task));
  const std::chrono::milliseconds limit(timeout_ms);
  const auto deadline = Clock::now() + limit;
  const std::chrono::milliseconds silence(silence_ms(timeout_ms));
  if (says_so && end.wait_for(silence) == std::future_status::timeout) {
    fmt::print(stderr, "selvage: {}: not done after {} ms, given up after {} ms\n", what, silence.count(),
               timeout_ms);
  }
  if (end.wait_until(deadline) == std::future_status::timeout) {
    worker.detach();
    throw Error(ErrorKind::timeout, fmt::format("{}: not done within {} ms", what, timeout_ms));
  }
  worker.join();
  end.get();
}

constexpr std::size_t most_text_bytes = std::size_t{256} << 20;

}  // namespace

std::string_view text_of_standard(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "not enough memory";
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "no thread can be started: too many, or too little memory (ulimit -u, ulimit -v)";
  return error.what();
}

std::string naming_rank(const std::string& message, int rank) {
  return speaks_of(message, rank) ? message : fmt::format("{} (on rank {})", message, rank);
}

std::int64_t agreement_timeout_ms() {
  return environment_integer("SELVAGE_TIMEOUT_MS", 30'000, 1, 86'400'000);
}

std::int64_t io_timeout_ms() {
  return environment_integer("SELVAGE_IO_TIMEOUT_MS", 120'000, 1, 86'400'000);
}

void together(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
              std::int64_t timeout_ms) {
  agree({.comm = comm, .what = what, .timeout_ms = timeout_ms}, work);
}

void together_naming(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                     std::int64_t timeout_ms) {
  agree({.comm = comm, .what = what, .timeout_ms = timeout_ms, .names = true}, work);
}

void together_telling(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                      std::int64_t timeout_ms) {
  agree({.comm = comm, .what = what, .timeout_ms = timeout_ms, .tells = true}, work);
}

void together_bounded(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                      std::int64_t timeout_ms) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  together_telling(
      comm, what, [&] { run_until(work, what, timeout_ms, rank == 0); }, timeout_ms);
}

std::string read_text_everywhere(MPI_Comm comm, const std::string& path) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const auto text = std::make_shared<std::string>();
  together(comm, "reading " + path, [&] {
    if (rank == 0) *text = read_text_file(path, most_text_bytes);
  });
  together_bounded(comm, "sharing " + path, [comm, text] {
    std::int64_t bytes = static_cast<std::int64_t>(text->size());
    check_mpi(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, comm), "MPI_Bcast of a file's length");
    text->resize(static_cast<std::size_t>(bytes));
    check_mpi(MPI_Bcast(text->data(), static_cast<int>(bytes), MPI_CHAR, 0, comm), "MPI_Bcast of a file");
  });
  return std::move(*text);
}

}  // namespace selvage
