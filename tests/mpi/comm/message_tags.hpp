#pragma once

#include "runtime/context_state.hpp"

#include <selvage/comm/context.hpp>

#include <mpi.h>

namespace selvage::test {

inline int largest_tag() {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : 32767;
}

/// Leaves as many tags as a few objects need.
inline void take_all_tags_but(const Context& context, int left) {
  const int next = context.state()->take_tags(1) + 1;
  static_cast<void>(context.state()->take_tags(largest_tag() - next - left));
}

}  // namespace selvage::test
