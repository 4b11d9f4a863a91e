#include "common/kokkos_settings.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using app::testing_support::error_message;

std::string refusal(const std::string& argument) {
  return error_message(ErrorKind::usage, [&] { app::require_kokkos_settings(std::vector{argument}); });
}

TEST(KokkosSettings, TakeWhatKokkosTakes) {
  for (const char* const argument :
       {"--kokkos-num-threads=4", "--kokkos-device-id=0", "--kokkos-map-device-id-by=mpi_rank",
        "--kokkos-disable-warnings", "--kokkos-print-configuration=TRUE", "--kokkos-tune-internals=no",
        "--kokkos-tools-libs=/a/library.so", "--kokkos-of-another-version=x"}) {
    EXPECT_NO_THROW(app::require_kokkos_settings(std::vector<std::string>{argument})) << argument;
  }
}

TEST(KokkosSettings, RefuseWhatKokkosEndsTheProcessFor) {
  EXPECT_EQ(refusal("--kokkos-num-threads=abc"),
            "--kokkos-num-threads is 'abc'; it takes a whole number from 1 on");
  EXPECT_EQ(refusal("--kokkos-num-threads=0"),
            "--kokkos-num-threads is '0'; it takes a whole number from 1 on");
  EXPECT_EQ(refusal("--kokkos-num-threads=99999999999999"),
            "--kokkos-num-threads is '99999999999999'; it takes a whole number from 1 on");
  EXPECT_EQ(refusal("--kokkos-num-threads"), "--kokkos-num-threads needs a value: a whole number from 1 on");
  EXPECT_EQ(refusal("--kokkos-device-id=-1"),
            "--kokkos-device-id is '-1'; it takes a whole number from 0 on");
  EXPECT_EQ(refusal("--kokkos-map-device-id-by=host"),
            "--kokkos-map-device-id-by is 'host'; it takes mpi_rank or random");
  EXPECT_EQ(refusal("--kokkos-disable-warnings=maybe"),
            "--kokkos-disable-warnings is 'maybe'; it takes true or false");
}

TEST(KokkosSettings, RefuseBadVariablesToo) {
  setenv("KOKKOS_NUM_THREADS", "many", 1);
  const std::string message = error_message(ErrorKind::input, [] { app::require_kokkos_settings({}); });
  unsetenv("KOKKOS_NUM_THREADS");
  EXPECT_EQ(message, "KOKKOS_NUM_THREADS is 'many'; it takes a whole number from 1 on");
}

}  // namespace
