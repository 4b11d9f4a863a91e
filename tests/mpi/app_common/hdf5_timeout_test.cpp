#include "common/hdf5_objects.hpp"
#include "hdf5_arrays.hpp"
#include "limits.hpp"
#include "shared_directory.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using namespace app::testing_support;

std::atomic<bool> holds_next_call = false;
std::atomic<bool> is_held = false;
std::atomic<int> threads_in_call = 0;
std::atomic<int> most_threads_in_call = 0;

void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Holds one call until is_held is false, as a lost message would, and counts threads.
void pass_through_call() {
  most_threads_in_call = std::max(most_threads_in_call.load(), ++threads_in_call);
  if (holds_next_call.exchange(false)) {
    while (is_held) nap();
  }
}

auto count_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// The file was left open for a thread that has ended since. HDF5 would close it when MPI has ended.
void close_what_was_left() {
  for (const unsigned kind : {H5F_OBJ_DATASET, H5F_OBJ_FILE}) {
    std::vector<hid_t> ids(static_cast<std::size_t>(H5Fget_obj_count(H5F_OBJ_ALL, kind)));
    H5Fget_obj_ids(H5F_OBJ_ALL, kind, ids.size(), ids.data());
    for (const hid_t id : ids) H5Oclose(id);
  }
}

/// One rank of several is late in the midst of writing, past the limit, and then comes.
void expect_file_left_to_threads(WriteMode mode) {
  const World world;
  const SharedDirectory dir;
  const std::string path = dir / "f.h5";
  const auto threads = count_threads();
  setenv("SELVAGE_IO_TIMEOUT_MS", std::to_string(test::limit_ms(500)).c_str(), 1);
  const bool is_late = world.rank == world.ranks - 1;
  is_held = holds_next_call = is_late;
  most_threads_in_call = 0;
  const ArrayBox own = slab({12}, 0, world.rank, world.ranks);
  std::weak_ptr<const double> values;
  try {
    const auto shared = shared_values(box_values<double>({12}, own));
    values = shared;
    const auto array = array_block("u", {12}, own, shared);
    write_hdf5(MPI_COMM_WORLD, path, std::span(&array, 1), {}, mode);
    ADD_FAILURE() << "nobody waited in vain";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::timeout) << error.what();
    EXPECT_NE(error.message().find("writing " + path), std::string::npos) << error.message();
  }
  if (is_late) {
    EXPECT_FALSE(values.expired()) << "freed while a thread may still read them";
  }
  is_held = false;
  while (count_threads() > threads) nap();
  // Of gathered values rank 0 sends none.
  EXPECT_LE(most_threads_in_call, 1);
  if (is_late) {
    EXPECT_EQ(most_threads_in_call, 1);
  }
  unsetenv("SELVAGE_IO_TIMEOUT_MS");
  close_what_was_left();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(std::filesystem::exists(path));
  write_whole<double>(path, {12}, 0, mode);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Hdf5Timeout, LeavesTheFileToTheThreadsThatStillWrite) {
  if (World().ranks == 1 || !hdf5_is_parallel()) GTEST_SKIP() << "nobody waits for another rank";
  expect_file_left_to_threads(WriteMode::parallel);
}

TEST(Hdf5Timeout, LeavesValuesToTheThreadsThatStillSend) {
  if (World().ranks == 1) GTEST_SKIP() << "nobody waits for another rank";
  expect_file_left_to_threads(WriteMode::gathered);
}

}  // namespace

extern "C" int MPI_File_set_view(MPI_File file, MPI_Offset place, MPI_Datatype element, MPI_Datatype type,
                                 const char* representation, MPI_Info info) {
  pass_through_call();
  const int result = PMPI_File_set_view(file, place, element, type, representation, info);
  --threads_in_call;
  return result;
}

extern "C" int MPI_Send(const void* values, int count, MPI_Datatype type, int target, int tag,
                        MPI_Comm comm) {
  pass_through_call();
  const int result = PMPI_Send(values, count, type, target, tag, comm);
  --threads_in_call;
  return result;
}
