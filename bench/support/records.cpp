#include "records.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <fstream>

namespace selvage::bench {
namespace {

std::string hardware() {
  if (const auto given = environment_text("SELVAGE_HARDWARE")) return *given;
  std::ifstream cpu_info("/proc/cpuinfo");
  for (std::string line; std::getline(cpu_info, line);) {
    if (!line.starts_with("model name")) continue;
    return fmt::format("{}x{}", sysconf(_SC_NPROCESSORS_ONLN), line.substr(line.find(':') + 2));
  }
  return fmt::format("{}xCPU", sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

void write_records(const std::string& path, const std::vector<Record>& records) {
  nlohmann::json all = nlohmann::json::array();
  for (const Record& record : records) {
    nlohmann::json json{{"name", record.name},         {"value", record.value},
                        {"unit", record.unit},         {"better", record.better},
                        {"peers", record.peers},       {"choice", record.choice},
                        {"verified", record.verified}, {"commit", SELVAGE_COMMIT},
                        {"hardware", hardware()},      {"repetitions", record.repetitions},
                        {"spread", record.spread}};
    if (record.floor > 0) json["floor"] = record.floor;
    if (!record.algorithm.empty()) json["algorithm"] = record.algorithm;
    if (record.bus_gb_per_s > 0) json["bus_GB/s"] = record.bus_gb_per_s;
    all.push_back(std::move(json));
  }
  std::ofstream file(path);
  file << all.dump(2) << '\n';
  file.close();
  if (!file) throw Error(ErrorKind::io, fmt::format("cannot write {}", path));
}

}  // namespace selvage::bench
