#pragma once

#include <string_view>

namespace selvage::detail {

enum class CollectiveKind { allreduce, reduce_scatter, all_gather, reduce, broadcast };

/// As its class is called.
[[nodiscard]] std::string_view to_string(CollectiveKind kind);

/// Whose elements a collective moves where. Elements are cut into a part per rank (part_of()), on which that rank works:
/// it takes that part of some ranks' elements, combines them, and gives the result to some.
struct Flow {
  CollectiveKind kind = CollectiveKind::allreduce;
  int root = 0;  ///< of reduce and broadcast

  /// Else a part comes from one rank, source(), and stays as it is.
  [[nodiscard]] bool combines() const {
    return kind != CollectiveKind::all_gather && kind != CollectiveKind::broadcast;
  }
  [[nodiscard]] int source(int worker) const { return kind == CollectiveKind::broadcast ? root : worker; }
  [[nodiscard]] bool takes(int worker, int from) const { return combines() || from == source(worker); }
  [[nodiscard]] bool gives(int worker, int to) const {
    if (kind == CollectiveKind::reduce_scatter) return to == worker;
    return kind != CollectiveKind::reduce || to == root;
  }
};

}  // namespace selvage::detail
