#pragma once

#include <selvage/error.hpp>

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace selvage::app {

/// Owns an HDF5 identifier and the call that closes it.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(std::exchange(other.close_, nullptr)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  /// Closes it now; negative when that failed, e.g. because the disk is full.
  herr_t reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id >= 0 && close_ != nullptr ? close_(id) : 0;
  }
  /// Forgets it without closing.
  void release() { id_ = H5I_INVALID_HID; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// HDF5's own account of the last failure: the innermost one, which names the cause.
[[nodiscard]] std::string hdf5_reason();

/// HDF5 prints its error stack on standard error unless told not to; our messages carry its reason.
void silence_hdf5();

/// Throws `kind` "<what>: <HDF5's reason>" for a negative result.
template <class Result>
Result check_hdf5(Result result, std::string_view what, ErrorKind kind = ErrorKind::io) {
  if (result < 0) throw Error(kind, std::string(what) + ": " + hdf5_reason());
  return result;
}

}  // namespace selvage::app
