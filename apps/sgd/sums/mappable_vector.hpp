#pragma once

#include "sgd/model/space.hpp"

#include <selvage/comm/context.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

namespace selvage::sgd {

/// Zeros in the space's memory.
template <class T>
struct MappableVector {
  std::shared_ptr<void> owner;  ///< of shared memory: to be kept as long as the elements
  Vector<T> elements;
};

/// \param is_mapped  whether the other ranks of a host must be able to map them: what GPUs allocate can be, and for hosts
///                   there is the context's shared memory
/// \throws Error{io} where there is no shared memory left
template <class T>
[[nodiscard]] MappableVector<T> make_vector(const Context& context, const std::string& label,
                                            std::size_t count, bool is_mapped) {
  if (!on_host || !is_mapped) return {nullptr, Vector<T>(label, count)};
  void* const memory = context.allocate_shared(std::max(count * sizeof(T), std::size_t{1}));
  const auto give_back = [context](void* block) { context.deallocate_shared(block); };
  return {std::shared_ptr<void>(memory, give_back), Vector<T>(static_cast<T*>(memory), count)};
}

}  // namespace selvage::sgd
