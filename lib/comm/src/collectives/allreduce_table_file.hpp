#pragma once

#include "allreduce_table.hpp"

#include <selvage/comm/elements.hpp>
#include <selvage/environment.hpp>
#include <selvage/topo/machine.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace selvage::detail {

class ContextState;

inline constexpr const char* allreduce_table_variable = "SELVAGE_ALLREDUCE_TABLE";

/// Where a table may lie: see settings_path().
[[nodiscard]] std::optional<SettingsPath> allreduce_table_path();

/// The table of a Context, or why there is none.
struct LoadedAllreduceTable {
  std::optional<AllreduceTable> table;
  std::string remark;  ///< what is wrong with the one in the default place; mostly empty

  [[nodiscard]] AllreduceAdvice advise(const AllreduceJob& job, std::int64_t bytes) const;
};
/// Read at the first call. Collective: rank 0 reads, and its environment counts; every rank gets the same.
/// \throws Error{input} on every rank for a file that SELVAGE_ALLREDUCE_TABLE names and that can't be read. One in the
///         default place that can't be read is left alone, with a remark
[[nodiscard]] const LoadedAllreduceTable& allreduce_table(ContextState& context, std::string_view operation);

/// Whether some host has fewer cores than ranks.
[[nodiscard]] bool ranks_share_cores(const topo::Machine& machine);

/// \param on_host  where the elements lie
[[nodiscard]] AllreduceJob allreduce_job(const topo::Machine& machine, bool on_host, ElementType type);

}  // namespace selvage::detail
