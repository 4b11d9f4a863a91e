#include <selvage/agreement.hpp>
#include <selvage/silence.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace selvage;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_world() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

TEST(Agreement, ReturnsWhereEveryRankSucceeds) {
  bool ran = false;
  together(MPI_COMM_WORLD, "test", [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(Agreement, RaisesTheErrorOfOneRankOnAll) {
  const int last = ranks_of_world() - 1;
  try {
    together(MPI_COMM_WORLD, "test", [&] {
      if (rank_of_world() == last) throw Error(ErrorKind::io, "only here", 28);
    });
    FAIL() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.message(), "only here");
    EXPECT_EQ(error.native_code(), 28);
    EXPECT_EQ(error.first_rank(), last);
  }
}

TEST(Agreement, TakesTheLowestOfSeveralFailingRanks) {
  const int first = ranks_of_world() > 1 ? 1 : 0;
  try {
    together(MPI_COMM_WORLD, "test", [&] {
      if (rank_of_world() >= first) throw Error(ErrorKind::input, "rank " + std::to_string(rank_of_world()));
    });
    FAIL() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.message(), "rank " + std::to_string(first));
  }
}

TEST(Agreement, CarriesOtherExceptionsToo) {
  const auto message = [](const auto& error) -> std::string {
    try {
      together(MPI_COMM_WORLD, "test", [&] {
        if (rank_of_world() == 0) throw error;
      });
    } catch (const AgreedError& agreed) {
      return agreed.message();
    }
    return "no error";
  };
  EXPECT_EQ(message(std::runtime_error("out of luck")), "out of luck");
  EXPECT_EQ(message(std::bad_alloc()), "not enough memory");
  // As std::thread says it.
  EXPECT_EQ(message(std::system_error(EAGAIN, std::system_category())),
            "no thread can be started: too many, or too little memory (ulimit -u, ulimit -v)");
}

TEST(Agreement, KeepsWorkingAfterAFailure) {
  for (int i = 0; i < 100; ++i) {
    const bool fails = i % 3 == 0;
    const auto work = [&] {
      if (fails && rank_of_world() == i % ranks_of_world()) throw Error(ErrorKind::io, std::to_string(i));
    };
    if (fails) {
      EXPECT_THROW(together(MPI_COMM_WORLD, "test", work), AgreedError);
    } else {
      EXPECT_NO_THROW(together(MPI_COMM_WORLD, "test", work));
    }
  }
}

/// A counter that ranks of one host see without MPI's help.
class SharedCounter {
 public:
  SharedCounter() {
    const MPI_Aint bytes = rank_of_world() == 0 ? sizeof(int) : 0;
    void* own = nullptr;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&own), &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&count_));
    if (rank_of_world() == 0) std::atomic_ref(*count_).store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedCounter() { MPI_Win_free(&window_); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  void add() { std::atomic_ref(*count_).fetch_add(1); }
  [[nodiscard]] int value() const { return std::atomic_ref(*count_).load(); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  int* count_ = nullptr;
};

/// Runs an agreement of all ranks but one, which takes no messages until the others have ended. All use a communicator
/// that is then given up.
template <class Work>
void agree_without(int missing, Work&& work) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  SharedCounter ended;
  if (rank_of_world() != missing) {
    work(comm);
    ended.add();
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ended.value() < ranks_of_world() - 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the others wait for this rank";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

using Together = void (*)(MPI_Comm, std::string_view, const std::function<void()>&, std::int64_t);

/// \param told  what rank 0 prints
void expect_named(int missing, Together agree = together, const std::string& told = "") {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  agree_without(missing, [&](MPI_Comm comm) {
    testing::internal::CaptureStderr();
    try {
      agree(
          comm, "planning", [] {}, 100);
      ADD_FAILURE() << "no error";
    } catch (const AgreedError&) {
      ADD_FAILURE() << "not everybody knows";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::timeout);
      // Rank 0, which decides, has longer.
      EXPECT_EQ(error.message(), "planning: rank " + std::to_string(missing) + " did not come within " +
                                     (missing == 0 ? "4100 ms" : "100 ms"));
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), rank_of_world() == 0 ? told : "");
  });
}

TEST(Agreement, TellsTheUserOfALateRankWhereAsked) {
  expect_named(1, together_telling,
               "selvage: planning: rank 1 has not come after 33 ms, given up after 100 ms\n");
}

TEST(Agreement, NamesTheRankThatDoesNotCome) {
  expect_named(1);
}

TEST(Agreement, NamesRankZeroIfThatDoesNotCome) {
  expect_named(0);
}

/// The message of the incomplete agreement that `agree` is, and that it took less than 20 s.
template <class Agree>
std::string incomplete_message(Agree&& agree) {
  const auto start = std::chrono::steady_clock::now();
  std::string message = "no error";
  try {
    agree();
  } catch (const IncompleteError& error) {
    message = error.message();
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  return message;
}

constexpr std::int64_t long_ms = 60'000;
/// Less than a healthy rank waits, and more than it is without a core on a busy machine.
constexpr std::int64_t brief_ms = 3000;

TEST(Agreement, CallsTheRollOfRanksThatWaitedInVain) {
  if (ranks_of_world() < 4) GTEST_SKIP() << "needs ranks that wait for each other";
  agree_without(3, [](MPI_Comm comm) {
    const auto wait = [] {
      throw Error(ErrorKind::timeout, "waited for rank " + std::to_string(rank_of_world() + 1));
    };
    EXPECT_EQ(incomplete_message([&] { together(comm, "planning", wait, long_ms); }),
              "waited for rank 1, and rank 3 does not answer");
  });
}

TEST(Agreement, NamesTheRankThatComesLater) {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  const int last = ranks_of_world() - 1;
  const auto wait = [&] {
    if (rank_of_world() != last) throw Error(ErrorKind::timeout, "the sum was not done");
  };
  try {
    together(MPI_COMM_WORLD, "planning", wait, long_ms);
    FAIL() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.message(), "the sum was not done, and rank " + std::to_string(last) + " came later");
  }
}

TEST(Agreement, AddsRankZeroToWhatWasWaitedForInVain) {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  agree_without(0, [](MPI_Comm comm) {
    const auto wait = [] { throw Error(ErrorKind::timeout, "waited for rank 7"); };
    EXPECT_EQ(incomplete_message([&] { together(comm, "planning", wait, long_ms); }),
              "waited for rank 7, and rank 0 does not answer");
  });
}

TEST(Agreement, NamesTheSameRankInDifferentAgreements) {
  if (ranks_of_world() < 4) GTEST_SKIP() << "needs ranks on both sides, and one that is missing";
  agree_without(2, [](MPI_Comm comm) {
    const auto wait = [] { throw Error(ErrorKind::timeout, "the sum was not done"); };
    const auto agree = [&] {
      if (rank_of_world() == 1) return together(comm, "a sum", wait, long_ms);
      together(
          comm, "a file", [] {}, long_ms);
    };
    EXPECT_EQ(incomplete_message(agree), "the sum was not done, and rank 2 does not answer");
  });
}

TEST(Agreement, IsNotReachedInDifferentAgreements) {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto agree = [&] {
    together(
        comm, rank_of_world() == 1 ? "a sum" : "a file", [] {}, long_ms);
  };
  EXPECT_EQ(incomplete_message(agree), "a file: rank 1 waits elsewhere: a sum");
  MPI_Comm_free(&comm);
}

TEST(Agreement, GoesOnWhereARankStopsBeforeTheVerdict) {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  SharedCounter reported;
  SharedCounter ended;
  const int last = ranks_of_world() - 1;
  const auto wait_for = [](const SharedCounter& counter, int value) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (counter.value() < value) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the others wait";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  if (rank_of_world() == last) {
    // Reports, and is gone by the time of the verdict; its patience is all that the others have for coming.
    EXPECT_THROW(together(
                     comm, "planning", [] {}, brief_ms),
                 IncompleteError);
    reported.add();
    wait_for(ended, last);
  } else {
    wait_for(reported, 1);
    EXPECT_NO_THROW(together(
        comm, "planning", [] {}, long_ms));
    ended.add();
  }
}

TEST(Agreement, GivesUpWorkThatWaitsWithoutABound) {
  if (ranks_of_world() < 3) GTEST_SKIP() << "needs ranks that wait and one that does not come";
  // Outlives the work that is left behind.
  static MPI_Comm barrier = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &barrier);
  agree_without(2, [](MPI_Comm comm) {
    const auto wait = [] { MPI_Barrier(barrier); };
    testing::internal::CaptureStderr();
    EXPECT_EQ(incomplete_message([&] { together_bounded(comm, "writing", wait, 100); }),
              "writing: not done within 100 ms, and rank 2 does not answer");
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said,
              rank_of_world() == 0 ? "selvage: writing: not done after 33 ms, given up after 100 ms\n" : "");
  });
  // What was left behind ends.
  if (rank_of_world() == 2) MPI_Barrier(barrier);
}

TEST(Agreement, TellsWhatIsWaitedForAfterFiveSecondsAtMost) {
  EXPECT_EQ(silence_ms(120'000), 5000);
  EXPECT_EQ(silence_ms(15'000), 5000);
  EXPECT_EQ(silence_ms(9'000), 3000);
}

TEST(Agreement, RaisesErrorsOfBoundedWork) {
  try {
    together_bounded(MPI_COMM_WORLD, "writing", [] { throw Error(ErrorKind::io, "a full disk", 28); });
    FAIL() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.message(), "a full disk");
    EXPECT_EQ(error.native_code(), 28);
  }
}

TEST(Agreement, RaisesItsOwnErrorWhereOthersNeverCome) {
  if (ranks_of_world() == 1) GTEST_SKIP() << "needs another rank";
  agree_without(0, [](MPI_Comm comm) {
    const auto work = [] { throw Error(ErrorKind::input, "bad"); };
    try {
      together(comm, "planning", work, 100);
      FAIL() << "no error";
    } catch (const AgreedError&) {
      FAIL() << "not everybody knows";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "bad");
    }
  });
}

TEST(Agreement, ReadsAFileEverywhere) {
  const std::string path = (std::filesystem::temp_directory_path() / "selvage-agreement-test.txt").string();
  const std::string text = "line\n" + std::string(100'000, 'x') + std::string("\0y", 2);
  if (rank_of_world() == 0) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_text_everywhere(MPI_COMM_WORLD, path), text);
  if (rank_of_world() == 0) std::filesystem::remove(path);
}

TEST(Agreement, RefusesAnAbsentFileAndADirectoryEverywhere) {
  for (const std::string path : {"/nonexistent/input.toml", "/"}) {
    const std::string reason = path == "/" ? "Is a directory" : "No such file or directory";
    try {
      (void)read_text_everywhere(MPI_COMM_WORLD, path);
      FAIL() << "no error";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_EQ(error.message(), "cannot read " + path + ": " + reason);
    }
  }
}

TEST(Agreement, TakesItsPatienceFromTheEnvironment) {
  setenv("SELVAGE_TIMEOUT_MS", "1234", 1);
  setenv("SELVAGE_IO_TIMEOUT_MS", "5678", 1);
  EXPECT_EQ(agreement_timeout_ms(), 1234);
  EXPECT_EQ(io_timeout_ms(), 5678);
  unsetenv("SELVAGE_TIMEOUT_MS");
  unsetenv("SELVAGE_IO_TIMEOUT_MS");
  EXPECT_EQ(agreement_timeout_ms(), 30'000);
  EXPECT_EQ(io_timeout_ms(), 120'000);
}

}  // namespace
