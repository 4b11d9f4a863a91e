#pragma once

#include "allreduce_table.hpp"
#include "collectives/algorithms/allreduce_algorithm.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

/// What decides whether an algorithm is possible, and which is best; the same on all ranks.
struct AllreduceFacts {
  Flow flow = {};
  int ranks = 1;
  std::int64_t bytes = 0;
  bool on_host = true;
  bool has_mapped_views = false;             ///< on hosts: the ranks map each other's elements
  bool ranks_share_cores = false;            ///< on some host there are fewer cores than ranks
  int max_blocks = 0;                        ///< see AllreduceOptions
  std::vector<std::vector<int>> hosts = {};  ///< the ranks of each
  std::vector<int> gpus = {};  ///< of each rank, the first rank that has the same; empty on hosts
  /// Why ranks of one host can't map each other's memory; empty when they can.
  std::string host_mapping_refusal = {};
  /// Why not every rank can map every other's memory; empty when all can.
  std::string mapping_refusal = {};
  /// Why hosts can't combine one after the other; empty when they can.
  std::string hierarchy_refusal = {};
  /// What a table says about this allreduce.
  AllreduceAdvice advice = {};
};

/// An algorithm: when it is possible, and how it is made. Making is collective.
struct AllreduceEntry {
  AllreduceAlgorithm algorithm;
  /// Whether it combines elements in rank order.
  bool (*is_ordered)(const AllreduceOptions&);
  /// Whether it makes other collectives too.
  bool is_for_all_kinds;
  std::string (*refuse)(const AllreduceFacts&, const AllreduceOptions&);
  std::unique_ptr<AllreduceRunner> (*make)(const AllreduceParts&);
};

/// All algorithms that are built in.
[[nodiscard]] std::span<const AllreduceEntry> allreduce_algorithms();

struct ChosenAllreduce {
  const AllreduceEntry* entry;
  std::string why;
};
/// What is forced, else the fastest possible one of the table's row, else what the built-in rule says.
/// \param forced_by  what forces the options' algorithm
/// \throws Error{unsupported}
[[nodiscard]] ChosenAllreduce choose_allreduce(const AllreduceFacts& facts, const AllreduceOptions& options,
                                               const std::string& forced_by);

}  // namespace selvage::detail
