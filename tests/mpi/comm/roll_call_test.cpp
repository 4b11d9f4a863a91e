#include "runtime/roll_call.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

namespace selvage::test {
namespace {

using std::chrono::milliseconds;

class RollCallTest : public testing::Test {
 protected:
  RollCallTest() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~RollCallTest() override {
    MPI_Barrier(comm_);
    MPI_Comm_free(&comm_);
  }
  [[nodiscard]] bool is_last() const { return rank_ == size_ - 1; }
  /// Until all ranks are here.
  void answer_until_all_come(detail::RollCall& calls) const {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &all);
    int done = 0;
    while (done == 0) {
      calls.answer();
      MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

TEST_F(RollCallTest, IsAnsweredByThoseWhoWait) {
  detail::RollCall calls(comm_, 10);
  if (rank_ == 0) {
    EXPECT_EQ(calls.silent(milliseconds(20'000)), std::vector<int>());
  }
  answer_until_all_come(calls);
}

TEST_F(RollCallTest, NamesWhoDoesSomethingElse) {
  detail::RollCall calls(comm_, 10);
  const std::vector<int> late = size_ > 1 ? std::vector{size_ - 1} : std::vector<int>();
  if (rank_ == 0) {
    EXPECT_EQ(calls.silent(milliseconds(300)), late);
  }
  if (!is_last() || size_ == 1) return answer_until_all_come(calls);
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &all);
  MPI_Wait(&all, MPI_STATUS_IGNORE);
}

/// Ranks run out of time one after the other, and whoever did so first no longer answers.
TEST_F(RollCallTest, CountsThoseWhoHaveAskedThemselves) {
  detail::RollCall calls(comm_, 10);
  std::this_thread::sleep_for(milliseconds(200 * rank_));
  const auto silent = calls.silent(milliseconds(rank_ == 0 ? 20'000 : 5));
  if (is_last()) {
    EXPECT_EQ(silent, std::vector<int>());
  }
  if (rank_ == 0) {
    EXPECT_EQ(silent, std::vector<int>()) << "the others ask later";
  }
}

/// A late answer to an earlier question tells nothing of now.
TEST_F(RollCallTest, ForgetsAnswersToEarlierQuestions) {
  detail::RollCall calls(comm_, 10);
  if (rank_ == 0) static_cast<void>(calls.silent(milliseconds(1)));
  MPI_Barrier(comm_);
  if (rank_ != 0) {
    for (int i = 0; i < 1000; ++i) calls.answer();
  }
  MPI_Barrier(comm_);
  calls.begin();
  if (rank_ == 0) {
    EXPECT_EQ(calls.silent(milliseconds(50)).size(), static_cast<std::size_t>(size_ - 1));
  }
  MPI_Barrier(comm_);
}

}  // namespace
}  // namespace selvage::test
