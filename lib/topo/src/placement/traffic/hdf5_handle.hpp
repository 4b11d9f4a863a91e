#pragma once

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <hdf5.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace selvage::topo {

/// Owns an HDF5 identifier and the call that closes it.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close closing_call) : id_(id), close_(closing_call) {}
  ~Hdf5Id() { (void)close(); }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool is_valid() const { return id_ >= 0; }
  /// Negative when that failed, as where the disk is full.
  herr_t close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id >= 0 ? close_(id) : 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// HDF5 prints its error stack unless told not to; for as long as this lives, it does not. After an error it doesn't any
/// more: what is left of a damaged file it couldn't close at the program's end, and would print that over and over.
class QuietHdf5 {
 public:
  QuietHdf5() {
    (void)H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() {
    if (std::uncaught_exceptions() == 0) (void)H5Eset_auto2(H5E_DEFAULT, function_, data_);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace selvage::topo
