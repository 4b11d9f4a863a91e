#include "allreduce_table_file.hpp"

#include "context_state.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace selvage::detail {
namespace {

std::string ranks_per_host(const topo::Machine& machine) {
  const auto count = [](const topo::LogicalHost& host) { return host.ranks.size(); };
  const auto [least, most] = std::ranges::minmax(machine.hosts(), {}, count);
  const std::string pretended = machine.logical_hosts_setting().is_known() ? " pretended" : "";
  return count(least) == count(most) ? fmt::format("{}{}", count(least), pretended)
                                     : fmt::format("{} to {}{}", count(least), count(most), pretended);
}

/// On rank 0. \return what all ranks shall read; an empty text where there is no table
std::string read_checked(const AllreduceTablePath& file, std::string& remark) {
  try {
    return AllreduceTable::read(file.path).to_text();
  } catch (const Error& error) {
    if (file.is_named)
      throw Error(error.kind(), fmt::format("{} ({} names it)", error.message(), allreduce_table_variable),
                  error.native_code());
    remark = fmt::format("left alone: {}", error.message());
    return {};
  }
}

}  // namespace

std::optional<AllreduceTablePath> allreduce_table_path() {
  if (const auto named = environment_text(allreduce_table_variable)) {
    if (*named == "off") return std::nullopt;
    return AllreduceTablePath{*named, true};
  }
  const std::string below = "selvage/allreduce.json";
  if (const auto config = environment_text("XDG_CONFIG_HOME"))
    return AllreduceTablePath{fmt::format("{}/{}", *config, below)};
  if (const auto home = environment_text("HOME"))
    return AllreduceTablePath{fmt::format("{}/.config/{}", *home, below)};
  return std::nullopt;
}

AllreduceAdvice LoadedAllreduceTable::advise(const AllreduceJob& job, std::int64_t bytes) const {
  return table ? table->advise(job, bytes) : AllreduceAdvice{.why = remark};
}

LoadedAllreduceTable load_allreduce_table(ContextState& context, std::string_view operation) {
  std::string path;
  std::string text;
  LoadedAllreduceTable loaded;
  context.all_or_none(operation, [&] {
    if (context.rank() != 0) return;
    const auto file = allreduce_table_path();
    std::error_code ignored;
    if (!file || (!file->is_named && !std::filesystem::exists(file->path, ignored))) return;
    path = file->path;
    text = read_checked(*file, loaded.remark);
  });
  path = context.broadcast(path, operation);
  text = context.broadcast(text, operation);
  loaded.remark = context.broadcast(loaded.remark, operation);
  if (!text.empty()) loaded.table = AllreduceTable::parse(text, path);
  return loaded;
}

AllreduceJob allreduce_job(const topo::Machine& machine, bool on_host, ElementType type) {
  bool share_cores = false;
  for (int rank = 0; rank < machine.rank_count(); ++rank)
    share_cores = share_cores || machine.ranks_exceed_cores(rank);
  return {.machine = topo::hardware_signature(machine),
          .ranks = machine.rank_count(),
          .ranks_per_host = ranks_per_host(machine),
          .ranks_share_cores = share_cores,
          .memory = on_host ? "host" : "gpu",
          .type = std::string(to_string(type))};
}

}  // namespace selvage::detail
