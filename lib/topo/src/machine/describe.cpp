#include "describe_lines.hpp"
#include "machine/detect/logical_hosts.hpp"
#include "text/cpu_list.hpp"

#include <selvage/counted.hpp>
#include <selvage/topo/machine.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace selvage::topo {
namespace {

template <typename T>
std::string number_line(const char* label, const Figure<T>& figure) {
  return line(label, figure, [](const T& value) { return fmt::to_string(value); });
}

std::string l3_line(const PhysicalHost& host) {
  return line("L3 cache", host.l3_bytes, [&](std::uint64_t bytes) {
    return host.l3_caches.is_known()
               ? fmt::format("{} in {}", bytes_text(bytes), counted(host.l3_caches.value(), "cache"))
               : bytes_text(bytes);
  });
}

std::string host_text(const Machine& machine, std::size_t index) {
  const PhysicalHost& host = machine.physical_hosts()[index];
  std::string text =
      fmt::format("\nPhysical host {}: {}, {}\n", index, host.name, counted(host.ranks.size(), "rank"));
  text += number_line("boot id", host.boot_id);
  text += number_line("processor", host.processor);
  text += number_line("packages", host.packages);
  text += number_line("cores", host.cores);
  text += number_line("hardware threads", host.cpus);
  text += line("usable threads", host.usable_cpus, format_cpu_list);
  text += number_line("NUMA nodes", host.numa_nodes);
  text += l3_line(host);
  text += line("memory", host.memory_bytes, bytes_text);
  text += line("switches", host.switches,
               [](const auto& names) { return fmt::format("{}", fmt::join(names, " > ")); });
  text += describe_gpus(host);
  return text;
}

template <typename T, typename Text>
std::string cell(const Figure<T>& figure, Text text) {
  return figure.is_known() ? text(figure.value()) : "?";
}

std::string rank_row(const RankPlace& place, int rank) {
  const auto number = [](const auto& value) { return fmt::to_string(value); };
  const bool has_gpu = place.gpu_pci_bus_id.is_known();
  return fmt::format(
      "{:>4}  {:>4}  {:>8}  {:>7}  {:>5}  {:>5}  {:<12}  {:<12}  {}\n", rank, place.host, place.physical_host,
      place.rank_in_host, cell(place.cores, number), cell(place.numa_nodes, format_cpu_list),
      has_gpu ? place.gpu_pci_bus_id.value() : std::string("-"),
      place.cpu_quota.is_known() ? fmt::format("{:g}", place.cpu_quota.value()) : std::string("-"),
      cell(place.cpus, format_cpu_list));
}

// A question mark in a column is explained once per different reason, with the first rank that has it.
class UnknownNotes {
 public:
  template <typename T>
  void add(const char* column, const Figure<T>& figure, int rank) {
    if (figure.is_known()) return;
    const std::string note = fmt::format("{} unknown: {}", column, figure.reason());
    if (std::ranges::find(notes_, note) != notes_.end()) return;
    notes_.push_back(note);
    text_ += fmt::format("{} (first on rank {})\n", note, rank);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::vector<std::string> notes_;
  std::string text_;
};

std::string rank_table(const Machine& machine) {
  std::string text =
      fmt::format("\n{:>4}  {:>4}  {:>8}  {:>7}  {:>5}  {:>5}  {:<12}  {:<12}  {}\n", "rank", "host",
                  "physical", "in host", "cores", "NUMA", "GPU", "CPU quota", "hardware threads");
  UnknownNotes notes;
  for (int rank = 0; rank < machine.rank_count(); ++rank) {
    const RankPlace& place = machine.place(rank);
    text += rank_row(place, rank);
    notes.add("cores", place.cores, rank);
    notes.add("NUMA", place.numa_nodes, rank);
    notes.add("hardware threads", place.cpus, rank);
    notes.add("GPU", place.gpu_pci_bus_id, rank);
    notes.add("CPU quota", place.cpu_quota, rank);
  }
  return text + notes.text();
}

std::string oversubscription_text(const Machine& machine) {
  std::string text;
  for (std::size_t index = 0; index < machine.physical_hosts().size(); ++index) {
    const PhysicalHost& host = machine.physical_hosts()[index];
    if (!machine.ranks_exceed_cores(host.ranks.front())) continue;
    text += fmt::format("Physical host {}: its {} may exceed the processors they can use, so waits yield\n",
                        index, counted(host.ranks.size(), "rank"));
  }
  return text;
}

}  // namespace

std::string describe(const Machine& machine) {
  std::string text = fmt::format(
      "{} on {} ({} physical), {}\n", counted(machine.rank_count(), "rank"),
      counted(machine.host_count(), "host"), machine.physical_hosts().size(),
      machine.mpi_library().empty() ? "pretended: it was read from a file" : machine.mpi_library());
  if (machine.logical_hosts_setting().is_known()) {
    text += fmt::format("{}={}: hosts are pretended\n", logical_hosts_variable,
                        machine.logical_hosts_setting().value());
  }
  for (std::size_t index = 0; index < machine.physical_hosts().size(); ++index)
    text += host_text(machine, index);
  return text + rank_table(machine) + oversubscription_text(machine);
}

}  // namespace selvage::topo
