#pragma once

namespace selvage::topo {

/// An enumeration whose values' names are found beside its type: names_of(Enum) is an array of them, in their order.
template <typename T>
concept NamedEnum = requires(T value) {
  names_of(value);
};

}  // namespace selvage::topo
