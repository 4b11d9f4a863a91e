#include "collectives/allreduce_table.hpp"

#include "collectives/allreduce_table_file.hpp"
#include "space.hpp"
#include "temporary_directory.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>

namespace selvage::test {
namespace {

using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;

constexpr const char* variable = "SELVAGE_ALLREDUCE_TABLE";

/// The table exists on rank 0 only, as on a disk that the other ranks don't see; they name a file that isn't there.
class AllreduceTables : public testing::Test {
 protected:
  AllreduceTables() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) directory_.emplace();
  }
  ~AllreduceTables() override { MPI_Barrier(MPI_COMM_WORLD); }

  [[nodiscard]] std::string path() const { return rank_ == 0 ? *directory_ / "table.json" : "absent"; }
  /// Rows of 64 and 4096 bytes of fp32, for this very job.
  void write_table(const std::string& best) const {
    const Context context(MPI_COMM_WORLD);
    if (rank_ != 0) return;
    detail::AllreduceTable table;
    const auto job = detail::allreduce_job(context.machine(), on_host, detail::ElementType::fp32);
    const auto row = [&](std::int64_t bytes) {
      return detail::AllreduceRow{.bytes = bytes,
                                  .best = best,
                                  .median_us = {{best, 1.5}},
                                  .operation = "sum",
                                  .version = "0.1.0",
                                  .date = "2026-01-02"};
    };
    table.merge(job, {row(64), row(4096)});
    write_text(path(), table.to_text());
  }

  /// What an allreduce of `bytes` says; the same on all ranks.
  template <class T = float>
  static std::string explained(const Context& context, std::int64_t bytes,
                               const AllreduceOptions& options = {}) {
    const Kokkos::View<T*, Space> view("gradients", static_cast<std::size_t>(bytes) / sizeof(T));
    Kokkos::deep_copy(view, T(1));
    Allreduce allreduce(Space(), context, view, options);
    allreduce.run(Space());
    Space().fence();
    T first = 0;
    Kokkos::deep_copy(first, Kokkos::subview(view, 0));
    EXPECT_EQ(first, static_cast<T>(context.size()));
    const std::string text = allreduce.explain();
    EXPECT_TRUE(same_everywhere(text)) << text;
    return text;
  }
  template <class T = float>
  static std::string explained(std::int64_t bytes, const AllreduceOptions& options = {}) {
    return explained<T>(Context(MPI_COMM_WORLD), bytes, options);
  }
  static void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  int rank_ = 0;
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(AllreduceTables, ChangeTheChoice) {
  const ScopedVariable off(variable, "off");
  EXPECT_EQ(explained(1024).find("mpi ("), std::string::npos)
      << "the built-in rule says the same as the table";
  write_table("mpi");
  const ScopedVariable named(variable, path().c_str());
  const std::string text = explained(1024);
  expect_in("mpi (row of 64 bytes in ", text);
  expect_in("table.json: mpi took 1.5 us on 2026-01-02", text);
}

TEST_F(AllreduceTables, LeaveOtherSizesAndTypesToTheBuiltInRule) {
  write_table("mpi");
  const ScopedVariable named(variable, path().c_str());
  const Context context(MPI_COMM_WORLD);
  for (const std::int64_t bytes : {32, 8192}) {
    const std::string text = explained(context, bytes);
    EXPECT_EQ(text.find("mpi ("), std::string::npos) << text;
    expect_in("has rows from 64 to 4096 bytes", text);
  }
  expect_in("has nothing for fp64 in", explained<double>(context, 1024));
}

TEST_F(AllreduceTables, GiveWayToWhatIsForced) {
  write_table("mpi");
  const ScopedVariable named(variable, path().c_str());
  expect_in("mpi (forced by the option algorithm)",
            explained(1 << 20, {.algorithm = AllreduceAlgorithm::mpi}));
  const ScopedVariable forced("SELVAGE_ALLREDUCE", "mpi");
  expect_in("mpi (forced by SELVAGE_ALLREDUCE)", explained(1024));
}

TEST_F(AllreduceTables, AreNotOfKernelsThatMayTakeAPartOfAGpuOnly) {
  write_table("mpi");
  const ScopedVariable named(variable, path().c_str());
  const std::string text = explained(1024, {.max_blocks = 8});
  EXPECT_EQ(text.find("row") != std::string::npos, on_host) << text;
}

TEST_F(AllreduceTables, AreReadOncePerContext) {
  write_table("mpi");
  const ScopedVariable named(variable, path().c_str());
  const Context context(MPI_COMM_WORLD);
  expect_in("mpi (row", explained(context, 1024));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) write_text(path(), "no longer a table");
  expect_in("mpi (row", explained(context, 1024));
}

TEST_F(AllreduceTables, PassOverAnAlgorithmThatIsNotPossible) {
  write_table("telepathy");
  const ScopedVariable named(variable, path().c_str());
  expect_in("not telepathy: this version doesn't have it", explained(1024));
}

TEST_F(AllreduceTables, AreAnErrorOnEveryRankWhereTheVariableNamesABrokenOne) {
  if (rank_ == 0) write_text(path(), "{\"format\": 7}");
  const ScopedVariable named(variable, path().c_str());
  const Context context(MPI_COMM_WORLD);
  const std::string message = message_on_all_ranks(ErrorKind::input, [&] { explained(context, 1024); });
  expect_in("table.json: the file.format must be a text, but is 7 (SELVAGE_ALLREDUCE_TABLE names it)",
            message);
  // The context goes on: what is forced needs no table.
  expect_in("forced", explained(context, 1024, {.algorithm = AllreduceAlgorithm::mpi}));
}

TEST_F(AllreduceTables, AreAnErrorOnEveryRankWhereTheVariableNamesNone) {
  const ScopedVariable named(variable, path().c_str());
  const std::string message = message_on_all_ranks(ErrorKind::input, [&] { explained(1024); });
  expect_in("table.json: No such file or directory", message);
}

TEST_F(AllreduceTables, AreLookedForInTheConfigurationOfTheUser) {
  const ScopedVariable unnamed(variable, "");
  const ScopedVariable home("XDG_CONFIG_HOME", rank_ == 0 ? directory_->path().c_str() : "/absent");
  EXPECT_EQ(explained(1024).find("table"), std::string::npos) << "nothing is there yet";
  if (rank_ == 0) std::filesystem::create_directory(*directory_ / "selvage");
  write_table("mpi");
  if (rank_ == 0) std::filesystem::rename(path(), *directory_ / "selvage/allreduce.json");
  expect_in("mpi (row of 64 bytes in ", explained(1024));
  // Nobody has asked for this one: it is no error.
  if (rank_ == 0) write_text(*directory_ / "selvage/allreduce.json", "{}");
  expect_in("left alone: allreduce table ", explained(1024));
}

}  // namespace
}  // namespace selvage::test
