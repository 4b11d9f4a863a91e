#include "writer.hpp"

#include <dlfcn.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace selvage::profile {
namespace {

/// An HDF5 identifier and the call that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t), const char* what) : id_(id), close_(closer) {
    if (id < 0) throw std::runtime_error(std::string("HDF5 can't ") + what);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  void close() {
    if (close_(std::exchange(id_, H5I_INVALID_HID)) < 0) throw std::runtime_error("HDF5 can't close");
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check(herr_t status, const char* what) {
  if (status < 0) throw std::runtime_error(std::string("HDF5 can't ") + what);
}

/// HDF5 prints its errors by itself unless it is told not to; the process may have its own setting.
class Silence {
 public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The variable in which HDF5 keeps a type. A program that is linked with this same HDF5 may hold its variables (by a
/// copy relocation), and the library fills those: the writer, which looks into its own libraries first, finds them
/// unfilled.
hid_t type_in(hid_t own, const char* variable) {
  // Not by H5Iis_valid, which says no of all types of the library's own.
  if (H5Tget_class(own) != H5T_NO_CLASS) return own;
  const void* const held = dlsym(dlopen(nullptr, RTLD_LAZY), variable);
  return held == nullptr ? own : *static_cast<const hid_t*>(held);
}

hid_t integer() {
  return type_in(H5T_NATIVE_INT, "H5T_NATIVE_INT_g");
}
hid_t counter() {
  return type_in(H5T_NATIVE_UINT64, "H5T_NATIVE_UINT64_g");
}
hid_t real() {
  return type_in(H5T_NATIVE_DOUBLE, "H5T_NATIVE_DOUBLE_g");
}
hid_t text_type() {
  return type_in(H5T_C_S1, "H5T_C_S1_g");
}

void write_attribute(hid_t file, const char* name, hid_t type, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
  const Handle attribute(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  check(H5Awrite(attribute, type, value), name);
}

void write_attributes(hid_t file, const Totals& totals) {
  const int version = 1;
  const int complete = totals.complete ? 1 : 0;
  const Handle text(H5Tcopy(text_type()), H5Tclose, "make a text type");
  check(H5Tset_size(text, std::strlen(totals.mpi_library) + 1), "size a text type");
  write_attribute(file, "selvage_traffic_version", integer(), &version);
  write_attribute(file, "ranks", integer(), &totals.ranks);
  write_attribute(file, "library", text, totals.mpi_library);
  write_attribute(file, "seconds", real(), &totals.seconds);
  write_attribute(file, "communication_seconds", real(), &totals.communication_seconds);
  write_attribute(file, "complete", integer(), &complete);
}

hid_t create_matrix(hid_t file, const char* name, hsize_t ranks) {
  const hsize_t extent[2] = {ranks, ranks};
  const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose, "make a matrix");
  return H5Dcreate2(file, name, counter(), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

void write_row(hid_t matrix, hsize_t row, hsize_t ranks, const std::uint64_t* values) {
  const hsize_t start[2] = {row, 0};
  const hsize_t count[2] = {1, ranks};
  const Handle in_file(H5Dget_space(matrix), H5Sclose, "describe a matrix");
  const Handle in_memory(H5Screate_simple(1, &ranks, nullptr), H5Sclose, "describe a row");
  check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, nullptr, count, nullptr), "select a row");
  check(H5Dwrite(matrix, counter(), in_memory, in_file, H5P_DEFAULT, values), "write a row");
}

void write_histogram(hid_t file, const char* name, const std::uint64_t* bins) {
  const hsize_t extent = histogram_bins;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "make a histogram");
  const Handle data(H5Dcreate2(file, name, counter(), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                    name);
  check(H5Dwrite(data, counter(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bins), name);
}

void write_matrices(hid_t file, int ranks, FetchRows fetch, void* context) {
  const auto length = static_cast<std::size_t>(ranks);
  const auto matrix = [&](const char* name) { return create_matrix(file, name, length); };
  // In the order of a part's rows.
  const Handle matrices[memories * quantities] = {
      {matrix("host/bytes"), H5Dclose, "make host/bytes"},
      {matrix("host/messages"), H5Dclose, "make host/messages"},
      {matrix("device/bytes"), H5Dclose, "make device/bytes"},
      {matrix("device/messages"), H5Dclose, "make device/messages"}};
  std::vector<std::uint64_t> values(memories * quantities * length);
  for (int sender = 0; sender < ranks; ++sender) {
    fetch(context, sender, values.data());
    for (int i = 0; i < memories * quantities; ++i) {
      write_row(matrices[i], static_cast<hsize_t>(sender), length, values.data() + i * length);
    }
  }
}

void write_file(const std::string& path, const Totals& totals, FetchRows fetch, void* context) {
  const Silence silence;
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create the file");
  write_attributes(file, totals);
  for (const char* group : {"host", "device"}) {
    const Handle made(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, group);
  }
  write_histogram(file, "host/histogram", totals.histograms[0]);
  write_histogram(file, "device/histogram", totals.histograms[1]);
  write_matrices(file, totals.ranks, fetch, context);
  file.close();
}

}  // namespace

bool selvage_profile_write(const char* path, const Totals& totals, FetchRows fetch, void* context,
                           Failure& failure) {
  const std::string aside = std::string(path) + ".writing" + std::to_string(getpid());
  try {
    // A rename would put a file in the place of a device.
    struct stat facts {};
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) throw std::runtime_error("it is no regular file");
    write_file(aside, totals, fetch, context);
    if (std::rename(aside.c_str(), path) != 0) throw std::runtime_error(std::strerror(errno));
    return true;
  } catch (const std::exception& error) {
    unlink(aside.c_str());
    std::snprintf(failure.text, sizeof failure.text, "%s: %s", path, error.what());
    return false;
  }
}

}  // namespace selvage::profile
