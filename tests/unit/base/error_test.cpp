#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <source_location>
#include <string>

namespace selvage::test {
namespace {

TEST(Error, SaysKindAndPlaceBesideItsMessage) {
  const Error error(ErrorKind::io, "cannot open a.h5", 2);
  const std::string line = std::to_string(std::source_location::current().line() - 1);
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.native_code(), 2);
  EXPECT_EQ(error.message(), "cannot open a.h5");
  EXPECT_EQ(error.what(), "cannot open a.h5 [io, error_test.cpp:" + line + "]");
}

TEST(Error, HasNoRankBeforeMpiRuns) {
  EXPECT_EQ(Error(ErrorKind::usage, "x").rank(), -1);
}

TEST(Error, NamesEveryKind) {
  EXPECT_EQ(to_string(ErrorKind::usage), "usage");
  EXPECT_EQ(to_string(ErrorKind::input), "input");
  EXPECT_EQ(to_string(ErrorKind::unsupported), "unsupported");
  EXPECT_EQ(to_string(ErrorKind::mpi), "mpi");
  EXPECT_EQ(to_string(ErrorKind::cuda), "cuda");
  EXPECT_EQ(to_string(ErrorKind::io), "io");
  EXPECT_EQ(to_string(ErrorKind::timeout), "timeout");
  EXPECT_EQ(to_string(ErrorKind::numeric), "numeric");
  EXPECT_EQ(to_string(ErrorKind::verification), "verification");
}

TEST(Error, IsNotThrownForMpiSuccess) {
  EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Isend"));
}

}  // namespace
}  // namespace selvage::test
