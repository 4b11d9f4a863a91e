#pragma once

#include "named_enum.hpp"
#include "text_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace selvage::topo {

using Json = nlohmann::ordered_json;

/// A place in a JSON document that knows its path, so that every complaint can name it.
class JsonValue {
 public:
  /// \param path  what errors call it, such as the file's name
  JsonValue(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{} {}", path_, what));
  }

  /// \throws Error{input} when this is no object, or has no such member
  [[nodiscard]] JsonValue at(const char* key) const {
    if (!json_->is_object()) fail("is not a JSON object");
    const auto found = json_->find(key);
    if (found == json_->end()) fail(fmt::format("has no '{}'", key));
    return {*found, fmt::format("{}: {}", path_, key)};
  }

  /// \throws Error{input} when this is no list
  [[nodiscard]] std::vector<JsonValue> items() const {
    if (!json_->is_array()) fail("is not a list");
    std::vector<JsonValue> all;
    for (std::size_t i = 0; i < json_->size(); ++i)
      all.emplace_back((*json_)[i], fmt::format("{}[{}]", path_, i));
    return all;
  }

  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] bool has(const char* key) const { return json_->is_object() && json_->contains(key); }

  [[nodiscard]] std::string text() const {
    if (!json_->is_string()) fail("is not text");
    return json_->get<std::string>();
  }
  [[nodiscard]] std::uint64_t natural() const {
    if (!json_->is_number_unsigned()) fail("is not a whole number of at least 0");
    return json_->get<std::uint64_t>();
  }
  [[nodiscard]] int integer() const {
    if (natural() > INT_MAX) fail("is too large");
    return json_->get<int>();
  }
  /// Lists of processors are long, and every rank reads every other one's: paths are made on failure only.
  [[nodiscard]] std::vector<int> integers() const {
    if (!json_->is_array()) fail("is not a list");
    std::vector<int> all;
    for (std::size_t i = 0; i < json_->size(); ++i) {
      const Json& item = (*json_)[i];
      const bool is_integer = item.is_number_unsigned() && item.get<std::uint64_t>() <= INT_MAX;
      all.push_back(is_integer ? item.get<int>()
                               : JsonValue(item, fmt::format("{}[{}]", path_, i)).integer());
    }
    return all;
  }
  [[nodiscard]] double finite() const {
    if (!json_->is_number() || !std::isfinite(json_->get<double>()) || json_->get<double>() < 0)
      fail("is not a number of at least 0");
    return json_->get<double>();
  }

 private:
  const Json* json_;
  std::string path_;
};

inline void read(const JsonValue& from, std::string& to) {
  to = from.text();
}
inline void read(const JsonValue& from, std::uint64_t& to) {
  to = from.natural();
}
inline void read(const JsonValue& from, int& to) {
  to = from.integer();
}
inline void read(const JsonValue& from, std::vector<int>& to) {
  to = from.integers();
}
inline void read(const JsonValue& from, double& to) {
  to = from.finite();
}

template <NamedEnum Enum>
void read(const JsonValue& from, Enum& to) {
  static constexpr auto names = names_of(Enum{});
  const auto found = std::ranges::find(names, from.text());
  if (found == names.end()) from.fail(fmt::format("is '{}', which has no meaning here", shown(from.text())));
  to = static_cast<Enum>(found - names.begin());
}

}  // namespace selvage::topo
