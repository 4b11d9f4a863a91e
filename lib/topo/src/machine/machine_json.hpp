#pragma once

#include "names.hpp"
#include "text/json_value.hpp"

#include <selvage/topo/machine.hpp>

#include <concepts>
#include <optional>
#include <type_traits>

namespace selvage::topo {

// The parts of a machine as JSON and back, for files and for messages between ranks. A figure is
// {"value": ..., "source": "hwloc"} or {"value": null, "unknown": "the reason"}.

[[nodiscard]] Json json_of(const Core& core);
[[nodiscard]] Json json_of(const Gpu& gpu);
[[nodiscard]] Json json_of(const NvLink& link);
[[nodiscard]] Json json_of(const GpuFabric& fabric);
[[nodiscard]] Json json_of(const GpuPair& pair);

void read(const JsonValue& from, Core& to);
void read(const JsonValue& from, Gpu& to);
void read(const JsonValue& from, NvLink& to);
void read(const JsonValue& from, GpuFabric& to);
void read(const JsonValue& from, GpuPair& to);

template <typename T>
requires(std::is_arithmetic_v<T> || std::same_as<T, std::string>) [[nodiscard]] Json json_of(const T& value) {
  return value;
}

template <NamedEnum Enum>
[[nodiscard]] Json json_of(const Enum& value) {
  return to_string(value);
}

template <typename T>
[[nodiscard]] Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <typename T>
[[nodiscard]] Json json_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& item : list) json.push_back(json_of(item));
  return json;
}

template <typename T>
[[nodiscard]] Json json_of(const Figure<T>& figure) {
  if (!figure.is_known()) return {{"value", nullptr}, {"unknown", figure.reason()}};
  return {{"value", json_of(figure.value())}, {"source", to_string(figure.source())}};
}

template <typename T>
void read(const JsonValue& from, std::optional<T>& to) {
  to.reset();
  if (!from.is_null()) read(from, to.emplace());
}

template <typename T>
void read(const JsonValue& from, std::vector<T>& to) {
  to.clear();
  for (const JsonValue& item : from.items()) read(item, to.emplace_back());
}

template <typename T>
void read(const JsonValue& from, Figure<T>& to) {
  const JsonValue value = from.at("value");
  if (value.is_null()) {
    to = Figure<T>::unknown(from.at("unknown").text());
    return;
  }
  T known{};
  read(value, known);
  Source source = Source::none;
  read(from.at("source"), source);
  if (source == Source::none) from.fail("has a value but no source");
  to = Figure<T>::known(std::move(known), source);
}

/// Reads the member `key`.
template <typename T>
void read(const JsonValue& from, const char* key, T& to) {
  read(from.at(key), to);
}

}  // namespace selvage::topo
