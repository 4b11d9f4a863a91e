#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// Reads a profile back, in the plainest way that HDF5 has.
class ProfileFile {
 public:
  explicit ProfileFile(const std::string& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
    if (file_ < 0) throw std::runtime_error("can't open " + path);
  }
  ~ProfileFile() { H5Fclose(file_); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  [[nodiscard]] std::vector<std::uint64_t> numbers(const char* name) const {
    const hid_t data = H5Dopen2(file_, name, H5P_DEFAULT);
    if (data < 0) throw std::runtime_error(std::string("there is no ") + name);
    const hid_t space = H5Dget_space(data);
    std::vector<std::uint64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(data);
    return values;
  }

  template <class Value>
  [[nodiscard]] Value attribute(const char* name, hid_t type) const {
    Value value{};
    const hid_t attribute = H5Aopen(file_, name, H5P_DEFAULT);
    if (attribute < 0 || H5Aread(attribute, type, &value) < 0) {
      throw std::runtime_error(std::string("there is no attribute ") + name);
    }
    H5Aclose(attribute);
    return value;
  }
  [[nodiscard]] int integer(const char* name) const { return attribute<int>(name, H5T_NATIVE_INT); }
  [[nodiscard]] double real(const char* name) const { return attribute<double>(name, H5T_NATIVE_DOUBLE); }
  [[nodiscard]] std::string text(const char* name) const {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, longest_text);
    const auto value = attribute<std::array<char, longest_text>>(name, type);
    H5Tclose(type);
    return value.data();
  }

 private:
  static constexpr std::size_t longest_text = 256;

  hid_t file_;
};
