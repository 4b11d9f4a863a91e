#include "hdf5_handle.hpp"
#include "traffic_hdf5.hpp"

#include <selvage/special_file.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace selvage::topo {
namespace {

/// One file that is being written.
class Writer {
 public:
  explicit Writer(std::string path) : path_(std::move(path)) {
    file_ = Hdf5Id(check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "the file"),
                   H5Fclose);
  }

  void attribute(const char* name, hid_t type, const void* value) {
    const Hdf5Id space(check(H5Screate(H5S_SCALAR), name), H5Sclose);
    const Hdf5Id id(check(H5Acreate2(file_.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), name),
                    H5Aclose);
    check(H5Awrite(id.get(), type, value), name);
  }

  void text_attribute(const char* name, const std::string& text) {
    const Hdf5Id type(check(H5Tcopy(H5T_C_S1), name), H5Tclose);
    check(H5Tset_size(type.get(), text.size() + 1), name);
    attribute(name, type.get(), text.c_str());
  }

  void group(const char* name) {
    const Hdf5Id id(check(H5Gcreate2(file_.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name),
                    H5Gclose);
  }

  void histogram(const char* name, const std::vector<std::uint64_t>& counts) {
    const hsize_t size = counts.size();
    const Hdf5Id space(check(H5Screate_simple(1, &size, nullptr), name), H5Sclose);
    const Hdf5Id data = dataset(name, space.get(), H5P_DEFAULT);
    check(H5Dwrite(data.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts.data()), name);
  }

  /// Row by row, so that no dense matrix is ever in memory.
  void matrix(const char* name, const Traffic& traffic, std::uint64_t (*value)(const TrafficEntry&));

  void close() { check(file_.close(), "the file"); }

 private:
  Hdf5Id dataset(const char* name, hid_t space, hid_t properties) {
    return {check(H5Dcreate2(file_.get(), name, H5T_STD_U64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                  name),
            H5Dclose};
  }

  template <typename Result>
  Result check(Result result, const char* what) const {
    if (result < 0) throw Error(ErrorKind::io, fmt::format("cannot write {}: HDF5 refuses {}", path_, what));
    return result;
  }

  std::string path_;
  Hdf5Id file_;
};

void Writer::matrix(const char* name, const Traffic& traffic, std::uint64_t (*value)(const TrafficEntry&)) {
  const auto ranks = static_cast<hsize_t>(traffic.rank_count());
  const std::array<hsize_t, 2> size = {ranks, ranks};
  const Hdf5Id space(check(H5Screate_simple(2, size.data(), nullptr), name), H5Sclose);
  const Hdf5Id properties(check(H5Pcreate(H5P_DATASET_CREATE), name), H5Pclose);
  const std::array<hsize_t, 2> chunk = {std::min<hsize_t>(ranks, 64), std::min<hsize_t>(ranks, 1024)};
  if (ranks > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
    // Nearly all is zero: a matrix of 4096 ranks takes some 100 KB instead of 128 MB.
    check(H5Pset_chunk(properties.get(), 2, chunk.data()), name);
    check(H5Pset_deflate(properties.get(), 1), name);
  }
  const Hdf5Id data = dataset(name, space.get(), properties.get());
  std::vector<std::uint64_t> rows(chunk[0] * ranks);
  for (hsize_t first = 0; first < ranks; first += chunk[0]) {
    const std::array<hsize_t, 2> start = {first, 0};
    const std::array<hsize_t, 2> count = {std::min(chunk[0], ranks - first), ranks};
    std::fill(rows.begin(), rows.end(), 0);
    for (hsize_t row = 0; row < count[0]; ++row) {
      for (const TrafficEntry& entry : traffic.sent_by(static_cast<int>(first + row))) {
        rows[row * ranks + static_cast<hsize_t>(entry.to)] = value(entry);
      }
    }
    const Hdf5Id memory(check(H5Screate_simple(2, count.data(), nullptr), name), H5Sclose);
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          name);
    check(H5Dwrite(data.get(), H5T_NATIVE_UINT64, memory.get(), space.get(), H5P_DEFAULT, rows.data()), name);
  }
}

void write_all(const std::string& path, const Traffic& traffic) {
  Writer writer(path);
  const int version = 1;
  const int ranks = traffic.rank_count();
  const TrafficFacts& facts = traffic.facts();
  const int complete = facts.is_incomplete ? 0 : 1;
  writer.attribute("selvage_traffic_version", H5T_NATIVE_INT, &version);
  writer.attribute("ranks", H5T_NATIVE_INT, &ranks);
  writer.attribute("complete", H5T_NATIVE_INT, &complete);
  if (facts.mpi_library) writer.text_attribute("library", *facts.mpi_library);
  if (facts.seconds) writer.attribute("seconds", H5T_NATIVE_DOUBLE, &*facts.seconds);
  if (facts.communication_seconds) {
    writer.attribute("communication_seconds", H5T_NATIVE_DOUBLE, &*facts.communication_seconds);
  }
  writer.group("host");
  writer.group("device");
  writer.matrix("host/bytes", traffic, [](const TrafficEntry& entry) { return entry.host.bytes; });
  writer.matrix("host/messages", traffic, [](const TrafficEntry& entry) { return entry.host.messages; });
  writer.matrix("device/bytes", traffic, [](const TrafficEntry& entry) { return entry.device.bytes; });
  writer.matrix("device/messages", traffic, [](const TrafficEntry& entry) { return entry.device.messages; });
  if (!facts.host_histogram.empty()) writer.histogram("host/histogram", facts.host_histogram);
  if (!facts.device_histogram.empty()) writer.histogram("device/histogram", facts.device_histogram);
  writer.close();
}

}  // namespace

void write_traffic_hdf5(const std::string& path, const Traffic& traffic) {
  if (is_special_file(path))
    throw Error(ErrorKind::io, fmt::format("cannot write {}: it is no regular file", path));
  const QuietHdf5 quiet;
  const std::string partial = path + ".partial";
  try {
    write_all(partial, traffic);
  } catch (...) {
    (void)std::remove(partial.c_str());
    throw;
  }
  if (std::rename(partial.c_str(), path.c_str()) == 0) return;
  (void)std::remove(partial.c_str());
  throw Error(ErrorKind::io, fmt::format("cannot write {}", path));
}

bool has_hdf5() {
  return true;
}

}  // namespace selvage::topo
