#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace selvage::topo {

/// Who said so: the origin of a figure in a Machine.
enum class Source {
  none,         ///< nobody: the figure is unknown
  hwloc,        ///< the hwloc library's view of this host
  nvml,         ///< NVIDIA's management library
  mpi,          ///< the MPI library
  kernel,       ///< the operating system: scheduler affinity, /proc, /sys
  environment,  ///< an environment variable
  caller,       ///< an argument of detect()
  file,         ///< a file that was read in place of a look at the machine
  probe,        ///< measured
};

[[nodiscard]] std::string_view to_string(Source source);

/// A value together with its origin, or the reason why there is none.
///
/// Detection never fails because something can't be found out; it says what is missing and why instead.
template <typename T>
class Figure {
 public:
  Figure() = default;

  [[nodiscard]] static Figure known(T value, Source source) {
    Figure figure;
    figure.value_ = std::move(value);
    figure.source_ = source;
    figure.reason_.clear();
    return figure;
  }

  /// \param reason  why it is unknown, as half a sentence: "built without hwloc"
  [[nodiscard]] static Figure unknown(std::string reason) {
    Figure figure;
    figure.reason_ = std::move(reason);
    return figure;
  }

  [[nodiscard]] bool is_known() const { return value_.has_value(); }
  /// \throws std::bad_optional_access when unknown
  [[nodiscard]] const T& value() const { return value_.value(); }
  [[nodiscard]] T value_or(T fallback) const { return value_.value_or(std::move(fallback)); }
  /// Source::none when unknown.
  [[nodiscard]] Source source() const { return source_; }
  /// Why it is unknown; empty when known.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  friend bool operator==(const Figure&, const Figure&) = default;

 private:
  std::optional<T> value_;
  Source source_ = Source::none;
  std::string reason_ = "not looked for";
};

}  // namespace selvage::topo
