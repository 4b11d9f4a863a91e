#pragma once

#include <selvage/error.hpp>
#include <selvage/topo/figure.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace selvage::topo {

// Values as bytes and back, for messages between the ranks of one job, which are one program: no byte order, no version.
// A struct says once what it consists of, for both ways:
//
//     void fields(auto& bytes, IsA<GpuFabric> auto& fabric) { bytes(fabric.cluster, fabric.clique); }

template <typename T, typename Struct>
concept IsA = std::same_as<std::remove_const_t<T>, Struct>;

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class ByteWriter {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }

  [[nodiscard]] std::vector<std::uint8_t> take() && { return std::move(bytes_); }

 private:
  template <Plain T>
  void put(const T& value) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const T& item : list) put(item);
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  void put(const Figure<T>& figure) {
    put(figure.source());
    put(figure.reason());
    put(figure.is_known());
    if (figure.is_known()) put(figure.value());
  }
  template <typename Struct>
  void put(const Struct& value) {
    fields(*this, value);
  }

  std::vector<std::uint8_t> bytes_;
};

/// \throws Error{input} where the bytes end too early
class ByteReader {
 public:
  ByteReader(const std::uint8_t* begin, const std::uint8_t* end) : next_(begin), end_(end) {}

  template <typename... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }

 private:
  const std::uint8_t* advance(std::size_t count) {
    if (count > static_cast<std::size_t>(end_ - next_))
      throw Error(ErrorKind::input, "another rank's message ends too early");
    next_ += count;
    return next_ - count;
  }
  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, advance(sizeof value), sizeof value);
  }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    const std::uint8_t* first = advance(size);
    text.assign(first, first + size);
  }
  template <typename T>
  void get(std::vector<T>& list) {
    std::size_t size = 0;
    get(size);
    list.clear();
    // One by one, so that a damaged size ends with the bytes, not with the memory.
    for (std::size_t i = 0; i < size; ++i) get(list.emplace_back());
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool has_value = false;
    get(has_value);
    value.reset();
    if (has_value) get(value.emplace());
  }
  template <typename T>
  void get(Figure<T>& figure) {
    Source source = Source::none;
    std::string reason;
    std::optional<T> value;
    (*this)(source, reason, value);
    figure = value ? Figure<T>::known(std::move(*value), source) : Figure<T>::unknown(std::move(reason));
  }
  template <typename Struct>
  void get(Struct& value) {
    fields(*this, value);
  }

  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace selvage::topo
