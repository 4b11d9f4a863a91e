#include "runtime.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

/// Prints what failed on this rank, each message by one write so that ranks don't interleave within it.
class RankFailures : public testing::EmptyTestEventListener {
 public:
  explicit RankFailures(int rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::string place =
        result.file_name() ? std::string(result.file_name()) + ":" + std::to_string(result.line_number())
                           : "";
    const std::string text = "[rank " + std::to_string(rank_) + "] " + test_ + " failed: " + place + "\n" +
                             result.message() + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

 private:
  int rank_;
  std::string test_ = "outside any test";
};

/// Rank 0 shows the progress; a rank that fails says so itself.
void listen(int rank) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new RankFailures(rank));
}

/// The job fails when any rank does. Collective.
int worst_of_all_ranks(int exit_code) {
  int worst = exit_code;
  MPI_Allreduce(&exit_code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  // For what several requests report MPICH takes those of these communicators, whatever that of the requests is.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int exit_code = 0;
  {
    const selvage::test::Runtime runtime(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    listen(rank);
    exit_code = worst_of_all_ranks(RUN_ALL_TESTS());
    // A filter with a mistyped name would pass without a test.
    if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) exit_code = EXIT_FAILURE;
  }
  MPI_Finalize();
  return exit_code;
}
