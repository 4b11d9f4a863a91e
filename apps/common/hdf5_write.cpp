#include "common/checksum_blocks.hpp"
#include "common/hdf5_file.hpp"
#include "common/hdf5_gather.hpp"
#include "common/hdf5_objects.hpp"

#include <selvage/agreement.hpp>
#include <selvage/atomic_file.hpp>
#include <selvage/file_descriptor.hpp>
#include <selvage/silence.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>

namespace selvage::app {
namespace {

void check_array(const ArrayBlock& array) {
  const std::size_t axes = array.extent.size();
  bool fits = axes >= 1 && axes <= 3 && array.box.begin.size() == axes && array.box.end.size() == axes;
  for (std::size_t axis = 0; fits && axis < axes; ++axis) {
    const std::int64_t begin = array.box.begin[axis];
    const std::int64_t end = array.box.end[axis];
    fits = array.extent[axis] > 0 && begin >= 0 && begin <= end && end <= array.extent[axis];
  }
  if (fits) return;
  throw Error(ErrorKind::usage,
              fmt::format("array {}: this rank's box is no part of an array of 1 to 3 axes", array.name));
}

/// What the file will need, with room for HDF5's own records.
std::uint64_t file_bytes(std::span<const ArrayBlock> arrays) {
  std::uint64_t bytes = 16 << 10;
  for (const auto& array : arrays) {
    std::uint64_t array_bytes = bytes_of(array.type);
    for (const std::int64_t cells : array.extent) array_bytes *= static_cast<std::uint64_t>(cells);
    bytes +=
        array_bytes + (4 << 10) + sizeof(std::uint64_t) * ChecksumBlocks(array.extent, array.type).count();
  }
  return bytes;
}

/// A whole array's checksums, of what all ranks have of it. Collective.
std::vector<std::int64_t> checksums_of(MPI_Comm comm, const ArrayBlock& array) {
  const ChecksumBlocks blocks(array.extent, array.type);
  std::vector<std::uint64_t> sums(blocks.count());
  blocks.add(array.box, array.type, array.data.get(), sums);
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, comm),
      "MPI_Allreduce of checksums");
  return {sums.begin(), sums.end()};
}

/// Writes one file in steps that all ranks take together: none goes on, or stays behind, alone.
///
/// Room on the disk is made sure of before MPI-IO touches it, and held while it writes: Open MPI 4.1's OMPIO,
/// seen on a full disk, either loses the data without an error or leaves the ranks waiting for each other.
/// Where the file system can't reserve (NFS before 4.2), only the free space is compared, and another writer
/// may still use it up.
class FileWriter {
 public:
  FileWriter(MPI_Comm comm, const std::string& path, bool parallel, std::span<const ArrayBlock> arrays)
      : comm_(comm),
        path_(path),
        partial_(partial_path(path)),
        parallel_(parallel),
        arrays_(arrays.begin(), arrays.end()) {
    check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    opens_ = parallel || rank_ == 0;
  }

  void write(const Attributes& attributes, const ListAttributes& lists) {
    try {
      step([&] { reserve(); });
      hdf5_step([this] { add_up(); });
      hdf5_step([this, attributes, lists] { create(attributes, lists); });
      step([&] { hold_reserve(); });
      for (std::size_t i = 0; i < arrays_.size(); ++i) hdf5_step([this, i] { write_array(arrays_[i], i); });
      hdf5_step([this] { close(); });
      step([&] { publish(); });
    } catch (const AgreedError&) {
      if (is_left_by_all()) {
        discard();
      } else {
        abandon();
      }
      throw;
    } catch (const Error&) {
      // A rank is missing.
      abandon();
      throw;
    }
  }

  /// Whether a thread of this rank, given up in a step, still uses this.
  [[nodiscard]] bool is_in_use() const { return in_use_; }

 private:
  void step(const std::function<void()>& work) {
    together_telling(comm_, "writing " + path_, work, io_timeout_ms());
  }

  /// A step that waits for other ranks in MPI, and whose failures HDF5 tells: they lack the path. One that takes too long goes
  /// on in a thread, so the work refers to nothing but this.
  void hdf5_step(const std::function<void()>& work) {
    const auto with_path = [this, work] {
      const struct End {
        std::atomic<bool>& in_use;
        ~End() { in_use = false; }
      } end{in_use_};
      try {
        work();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::io) throw;
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path_, error.message()));
      }
    };
    in_use_ = true;
    together_bounded(comm_, "writing " + path_, with_path, io_timeout_ms());
  }

  /// Whether no rank's thread is left in a step. Collective.
  [[nodiscard]] bool is_left_by_all() {
    try {
      step([&] {
        if (in_use_) throw Error(ErrorKind::io, "still being written");
      });
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void reserve() const {
    for (const auto& array : arrays_) check_array(array);
    if (opens_) require_descriptors();
    if (rank_ == 0) reserve_file(partial_, file_bytes(arrays_));
  }

  /// MPI-IO opens several files on each rank. Where one rank alone can't, Open MPI 4.1 lets the others wait for it.
  void require_descriptors() const {
    std::array<FileDescriptor, 6> spare;
    for (FileDescriptor& each : spare) {
      each = FileDescriptor("/dev/null", O_RDONLY);
      if (each.number() < 0) throw_io_error("cannot write", path_, errno);
    }
  }

  void add_up() {
    for (const auto& array : arrays_) checksums_.push_back(checksums_of(comm_, array));
  }

  /// Once more, since HDF5 has emptied the file in between.
  void hold_reserve() const {
    if (rank_ == 0) hold_room(partial_, file_bytes(arrays_));
  }

  void create(const Attributes& attributes, const ListAttributes& lists) {
    if (!opens_) return;
    silence_hdf5();
    const Hdf5Handle access = parallel_ ? parallel_access(comm_) : serial_access();
    const hid_t file = H5Fcreate(partial_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id());
    file_ = Hdf5Handle(check_hdf5(file, "H5Fcreate"), H5Fclose);
    for (const auto& [name, value] : attributes) write_attribute(file_.id(), name, value);
    for (const auto& [name, values] : lists) write_attribute(file_.id(), name, values);
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      datasets_.push_back(create_dataset(file_.id(), arrays_[i]));
      write_attribute(datasets_[i].id(), checksums_name, checksums_[i]);
      write_attribute(datasets_[i].id(), checksum_block_name,
                      ChecksumBlocks(arrays_[i].extent, arrays_[i].type).block());
    }
  }

  void write_array(const ArrayBlock& array, std::size_t i) const {
    if (parallel_) {
      write_box_together(datasets_[i].id(), array);
    } else {
      write_gathered(comm_, array, opens_ ? datasets_[i].id() : H5I_INVALID_HID);
    }
  }

  void close() {
    for (auto& dataset : datasets_) check_hdf5(dataset.reset(), "H5Dclose");
    if (file_.valid()) check_hdf5(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "H5Fflush");
    check_hdf5(file_.reset(), "H5Fclose");
  }

  void publish() const {
    if (rank_ == 0) publish_file(path_);
  }

  void discard() {
    datasets_.clear();
    file_.reset();
    if (rank_ == 0) unlink(partial_.c_str());
  }

  /// Nothing collective may follow, closing the file included.
  void abandon() {
    if (!in_use_) {
      for (auto& dataset : datasets_) dataset.release();
      file_.release();
    }
    if (rank_ == 0) unlink(partial_.c_str());
  }

  MPI_Comm comm_;
  std::string path_;
  std::string partial_;
  bool parallel_;
  std::vector<ArrayBlock> arrays_;
  std::atomic<bool> in_use_ = false;  ///< cleared by the thread of a step
  bool opens_ = false;
  int rank_ = 0;
  Hdf5Handle file_;
  std::vector<Hdf5Handle> datasets_;
  std::vector<std::vector<std::int64_t>> checksums_;  ///< by array
};

}  // namespace

void write_hdf5(MPI_Comm comm, const std::string& path, std::span<const ArrayBlock> arrays,
                const Attributes& attributes, WriteMode mode, const ListAttributes& lists) {
  const bool parallel = mode == WriteMode::parallel || (mode == WriteMode::automatic && hdf5_is_parallel());
  auto writer = std::make_unique<FileWriter>(comm, path, parallel, arrays);
  try {
    writer->write(attributes, lists);
  } catch (const Error&) {
    if (writer->is_in_use()) static_cast<void>(writer.release());
    throw;
  }
}

std::string describe_hdf5() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  check_hdf5(H5get_libversion(&major, &minor, &release), "H5get_libversion");
  const char* form = hdf5_is_parallel() ? "parallel" : "serial, gathered on rank 0";
  return fmt::format("{}.{}.{}, {}", major, minor, release, form);
}

}  // namespace selvage::app
