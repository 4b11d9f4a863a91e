#include <selvage/counted.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

namespace selvage::topo {
namespace {

/// Rows are senders. \param cell  what stands for a pair; empty where nothing was measured
void append_matrix(std::string& text, int size, const std::string& title, const char* who,
                   const std::function<std::string(int from, int to)>& cell) {
  text += fmt::format("\n{}, from each row's {} to each column's\n     ", title, who);
  for (int to = 0; to < size; ++to) text += fmt::format("{:>9}", to);
  for (int from = 0; from < size; ++from) {
    text += fmt::format("\n{:>5}", from);
    for (int to = 0; to < size; ++to) {
      const std::string figure = from == to ? "" : cell(from, to);
      text += fmt::format("{:>9}", figure.empty() ? "-" : figure);
    }
  }
  text += '\n';
}

std::string as_figure(double value) {
  return fmt::format("{:.3g}", value);
}

/// 64 KB where the number is whole.
std::string as_size(std::size_t bytes) {
  for (const auto& [unit, name] :
       {std::pair(std::size_t{1} << 20, "MB"), std::pair(std::size_t{1} << 10, "KB")}) {
    if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
  }
  return fmt::format("{} B", bytes);
}

void append_ranks(std::string& text, const Probes& probes) {
  const auto matrix = [&](const std::string& title, const std::function<double(const ProbedPair&)>& figure) {
    append_matrix(text, probes.rank_count(), title, "rank", [&](int from, int to) {
      const int pair = from * (probes.rank_count() - 1) + (to < from ? to : to - 1);
      return as_figure(figure(probes.pairs[static_cast<std::size_t>(pair)]));
    });
  };
  for (std::size_t i = 0; i < probes.latency_bytes.size(); ++i)
    matrix(fmt::format("us, {}", as_size(probes.latency_bytes[i])),
           [i](const ProbedPair& pair) { return pair.latency_us[i]; });
  for (std::size_t i = 0; i < probes.bandwidth_bytes.size(); ++i)
    matrix(fmt::format("GB/s, {}, one pair at a time", as_size(probes.bandwidth_bytes[i])),
           [i](const ProbedPair& pair) { return pair.gb_per_s[i]; });
  matrix("the last, all ranks at once, each with one other",
         [](const ProbedPair& pair) { return pair.gb_per_s_together; });
}

void append_gpus(std::string& text, const GpuProbes& probes, const std::vector<std::size_t>& latency_bytes) {
  const auto size = static_cast<int>(probes.gpus.size());
  text += fmt::format("\n{}, by stores and copies\n", counted(probes.gpus.size(), "GPU"));
  for (int gpu = 0; gpu < size; ++gpu) {
    const ProbedGpu& named = probes.gpus[static_cast<std::size_t>(gpu)];
    text += fmt::format("{:>5}  {} {} {}\n", gpu, named.host, named.pci_bus_id, named.uuid);
  }
  const auto matrix = [&](const std::string& title,
                          const std::function<double(const ProbedGpuPair&)>& figure) {
    append_matrix(text, size, title, "GPU", [&](int from, int to) -> std::string {
      for (const ProbedGpuPair& pair : probes.pairs) {
        if (pair.from == from && pair.to == to) return figure(pair) > 0 ? as_figure(figure(pair)) : "";
      }
      return "";
    });
  };
  const auto entry = [](const std::vector<double>& figures, std::size_t i) {
    return figures.empty() ? 0 : figures[i];
  };
  for (std::size_t i = 0; i < latency_bytes.size(); ++i)
    matrix(fmt::format("us, a put of {} and its flag between kernels", as_size(latency_bytes[i])),
           [=](const ProbedGpuPair& pair) { return entry(pair.put_us, i); });
  for (std::size_t i = 0; i < probes.bandwidth_bytes.size(); ++i) {
    const std::string bytes = as_size(probes.bandwidth_bytes[i]);
    matrix(fmt::format("GB/s, {}, stores by all multiprocessors", bytes),
           [=](const ProbedGpuPair& pair) { return entry(pair.store_gb_per_s, i); });
    matrix(fmt::format("GB/s, {}, a copy engine", bytes),
           [=](const ProbedGpuPair& pair) { return entry(pair.copy_gb_per_s, i); });
  }
  matrix("the last, all GPUs of the host at once, each with one other",
         [](const ProbedGpuPair& pair) { return pair.copy_gb_per_s_together; });
}

}  // namespace

std::string describe(const Probes& probes) {
  std::string text = fmt::format("{}, host memory, by MPI\n", counted(probes.rank_count(), "rank"));
  for (int rank = 0; rank < probes.rank_count(); ++rank)
    text += fmt::format("{:>5}  {}\n", rank, probes.hosts[static_cast<std::size_t>(rank)]);
  if (!probes.pairs.empty()) append_ranks(text, probes);
  if (probes.gpus.is_known()) {
    append_gpus(text, probes.gpus.value(), probes.latency_bytes);
  } else {
    text += fmt::format("\nGPUs: {}\n", probes.gpus.reason());
  }
  return text;
}

}  // namespace selvage::topo
