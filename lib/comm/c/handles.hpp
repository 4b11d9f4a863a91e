#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>
#include <selvage/selvage.h>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace selvage::c {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
using DeviceSpace = Kokkos::DefaultExecutionSpace;
inline constexpr bool has_device = !std::is_same_v<HostSpace, DeviceSpace>;

/// A Context and the instance that everything made from it runs on.
struct Place {
  Context context;
  HostSpace host;
  std::optional<DeviceSpace> device;  ///< where arrays lie in a GPU's memory

  /// Calls function(space), which returns nothing.
  template <class Function>
  void on_space(const Function& function) const {
    if constexpr (has_device) {
      if (device) return function(*device);
    }
    function(host);
  }
};

/// What selvage_message() says from now on, in this thread.
void keep_message(std::string_view message) noexcept;
[[nodiscard]] selvage_status status_of(ErrorKind kind) noexcept;
/// \throws Error{usage} for one that there is not
[[nodiscard]] ReduceOperation operation_of(selvage_operation operation);

/// Runs a call of the interface: no exception leaves it.
template <class Function>
selvage_status guarded(const Function& function) noexcept {
  try {
    function();
    return SELVAGE_SUCCESS;
  } catch (const Error& error) {
    keep_message(error.what());
    return status_of(error.kind());
  } catch (const std::exception& error) {
    keep_message(error.what());
    return SELVAGE_OTHER;
  }
}

/// \throws Error{usage} for a null pointer
/// \param what  what it should point to, with its article
template <class T>
T& required(T* pointer, std::string_view what) {
  if (pointer == nullptr) throw Error(ErrorKind::usage, std::string(what) + " is NULL");
  return *pointer;
}

/// Calls function(T{}) with the type of the elements that a halo or a list combines. \throws Error{usage} for any other
template <class Function>
void with_number(selvage_type type, const Function& function) {
  switch (type) {
    case SELVAGE_FLOAT:
      return function(float{});
    case SELVAGE_DOUBLE:
      return function(double{});
    case SELVAGE_INT32:
      return function(std::int32_t{});
    case SELVAGE_INT64:
      return function(std::int64_t{});
    default:
      throw Error(
          ErrorKind::usage,
          "halos and lists combine elements of the types SELVAGE_FLOAT, SELVAGE_DOUBLE, SELVAGE_INT32 and "
          "SELVAGE_INT64; this is selvage_type " +
              std::to_string(static_cast<int>(type)));
  }
}

/// The value of a text that may be NULL. \throws Error{input} as `parse`
template <class Parse>
[[nodiscard]] auto optional_of(const char* text, const Parse& parse) -> std::optional<decltype(parse(text))> {
  if (text == nullptr) return std::nullopt;
  return parse(text);
}

}  // namespace selvage::c

struct selvage_context {
  selvage::c::Place place;
};
