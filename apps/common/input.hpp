#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace selvage::app {

/// A value given on the command line for an input key.
struct Override {
  std::string key;               ///< e.g. "grid.cells"
  std::string text;              ///< a TOML value, or bare text that is then taken as a string
  std::string origin = "--set";  ///< what messages cite: "--set" or the flag, e.g. "--steps"
};

/// One input value. Lists hold scalars of one type; a whole-number list read as real numbers is converted.
struct Value;
using ValueList = std::vector<Value>;
struct Value : std::variant<bool, std::int64_t, double, std::string, ValueList> {
  using variant::variant;
};

/// The value as TOML would write it, e.g. `[64, 64]`.
[[nodiscard]] std::string to_text(const Value& value);

/// What a number must satisfy besides being finite.
template <class T>
struct Limits {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
  bool above_least = false;  ///< `least` itself is refused too
};

/// What a list must satisfy: each element, and the number of elements.
template <class T>
struct ListLimits {
  Limits<T> each = {};
  std::size_t least_length = 0;
  std::size_t most_length = std::numeric_limits<std::size_t>::max();
};

/// The typed, checked view of one TOML file and the command line's overrides.
///
/// Each read names the key, its default and its limits, and makes the key known; after the last read
/// reject_unknown() reports what nobody asked for. Every error is Error{input} and starts with where the
/// value comes from: `inputs/jacobi/a.toml:7: grid.cells ...` or `--set: grid.cells ...`. Nothing here is
/// collective: all ranks parse the same text and so raise the same error.
///
///     const auto cells = input.list<std::int64_t>("grid.cells", {64, 64}, {.each = {.least = 1},
///     .least_length = 2}); const double tolerance = input.get<double>("run.tolerance", 0.0, {.least = 0.0});
///     const std::string type = input.choice("physics.type", "fp64", {"fp32", "fp64"});
///     input.reject_unknown();
class Input {
 public:
  /// An empty input: every read gives its default.
  Input() = default;

  /// \param text       a TOML document; tables and dotted keys only, no arrays of tables
  /// \param file_name  what messages cite
  /// \throws Error{input} with file:line:column and the parser's reason; also for a malformed override key
  [[nodiscard]] static Input parse(std::string_view text, std::string file_name,
                                   std::span<const Override> overrides = {});

  /// Reads one number, switch or text. T: bool, int, std::int64_t, float, double, std::string.
  /// \throws Error{input} for a wrong type, NaN, infinity, or a number outside `limits`
  template <class T>
  [[nodiscard]] T get(std::string_view key, T fallback, const Limits<T>& limits = {});
  [[nodiscard]] bool get_bool(std::string_view key, bool fallback);
  [[nodiscard]] std::string get_text(std::string_view key, std::string fallback);

  /// Like get(), for a key that has no default. \throws Error{input} when it is absent
  template <class T>
  [[nodiscard]] T require(std::string_view key, const Limits<T>& limits = {});

  /// Reads a list. T: bool, int, std::int64_t, double, std::string (limits apply to numbers).
  template <class T>
  [[nodiscard]] std::vector<T> list(std::string_view key, std::vector<T> fallback,
                                    const ListLimits<T>& limits = {});

  /// Reads a text that must be one of `choices`; otherwise the message lists them and suggests the closest.
  [[nodiscard]] std::string choice(std::string_view key, std::string fallback,
                                   std::span<const std::string> choices);
  [[nodiscard]] std::string choice(std::string_view key, std::string fallback,
                                   std::initializer_list<std::string> choices);

  /// Whether the file or the command line gives the key.
  [[nodiscard]] bool has(std::string_view key) const;

  /// Throws Error{input} "<where>: <key> <why>": for what only several values together can decide.
  /// \param why  e.g. "gives axis 0 only 3 cells for 4 ranks"
  [[noreturn]] void reject(std::string_view key, std::string_view why) const;

  /// Throws Error{input} for the first key that no read has asked for, with the closest known key.
  void reject_unknown() const;

  /// A value as used.
  struct Resolved {
    Value value;
    std::string origin;  ///< "default", "inputs/a.toml:7", "--set" or a flag
  };
  /// Every key read so far, with the value as used.
  [[nodiscard]] const std::map<std::string, Resolved, std::less<>>& resolved() const { return resolved_; }

 private:
  struct Entry {
    Value value = {};
    std::string origin;
    std::string raw = {};       ///< an override as typed, so that `--set a.name=12` can be a text
    std::string odd_type = {};  ///< what the value is when it is none of Value's types, e.g. "a date"
    std::size_t order = 0;      ///< of appearance, to report the first unknown key
  };

  [[nodiscard]] const Entry* find(std::string_view key) const;
  void remember(std::string_view key, Value value);
  [[noreturn]] void expect(std::string_view key, std::string_view expected) const;

  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, Resolved, std::less<>> resolved_;
};

}  // namespace selvage::app
