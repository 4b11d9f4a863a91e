#include "allreduce_table_file.hpp"

#include "runtime/context_state.hpp"
#include "runtime/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace selvage::detail {
namespace {

constexpr const char* table_name = "allreduce.json";

std::string ranks_per_host(const topo::Machine& machine) {
  const auto count = [](const topo::LogicalHost& host) { return host.ranks.size(); };
  const auto [least, most] = std::ranges::minmax(machine.hosts(), {}, count);
  const std::string pretended = machine.logical_hosts_setting().is_known() ? " pretended" : "";
  return count(least) == count(most) ? fmt::format("{}{}", count(least), pretended)
                                     : fmt::format("{} to {}{}", count(least), count(most), pretended);
}

}  // namespace

std::optional<SettingsPath> allreduce_table_path() {
  return settings_path(allreduce_table_variable, table_name);
}

AllreduceAdvice LoadedAllreduceTable::advise(const AllreduceJob& job, std::int64_t bytes) const {
  return table ? table->advise(job, bytes) : AllreduceAdvice{.why = remark};
}

namespace {

LoadedAllreduceTable load(ContextState& context, std::string_view operation) {
  const SettingsText file = read_settings(
      context, allreduce_table_variable, table_name,
      [](const std::string& path) { return AllreduceTable::read(path).to_text(); }, operation);
  LoadedAllreduceTable loaded{.table = std::nullopt, .remark = file.remark};
  if (!file.text.empty()) loaded.table = AllreduceTable::parse(file.text, file.path);
  return loaded;
}

}  // namespace

const LoadedAllreduceTable& allreduce_table(ContextState& context, std::string_view operation) {
  return context.kept<LoadedAllreduceTable>(
      "allreduce table", [&] { return std::make_shared<LoadedAllreduceTable>(load(context, operation)); });
}

namespace {

/// As which type it was measured: the sign makes no difference.
ElementType measured_as(ElementType type) {
  switch (type) {
    case ElementType::uint32:
      return ElementType::int32;
    case ElementType::uint64:
      return ElementType::int64;
    default:
      return type;
  }
}

}  // namespace

bool ranks_share_cores(const topo::Machine& machine) {
  for (int rank = 0; rank < machine.rank_count(); ++rank) {
    if (machine.ranks_exceed_cores(rank)) return true;
  }
  return false;
}

AllreduceJob allreduce_job(const topo::Machine& machine, bool on_host, ElementType type) {
  return {.machine = topo::hardware_signature(machine),
          .ranks = machine.rank_count(),
          .ranks_per_host = ranks_per_host(machine),
          .ranks_share_cores = ranks_share_cores(machine),
          .memory = on_host ? "host" : "gpu",
          .type = std::string(to_string(measured_as(type)))};
}

}  // namespace selvage::detail
