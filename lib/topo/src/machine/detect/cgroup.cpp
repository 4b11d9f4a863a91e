#include "cgroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <string>

namespace selvage::topo {
namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

// cgroup v2: "max 100000" or "150000 100000".
double quota_v2(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  std::string quota_us;
  double period_us = 0;
  if (!(file >> quota_us >> period_us) || quota_us == "max" || period_us <= 0) return unlimited;
  return std::strtod(quota_us.c_str(), nullptr) / period_us;
}

// cgroup v1: -1 stands for no limit.
double quota_v1(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota_us = 0;
  double period_us = 0;
  if (!(quota_file >> quota_us) || !(period_file >> period_us) || quota_us <= 0 || period_us <= 0)
    return unlimited;
  return quota_us / period_us;
}

// A container often mounts its own group as the root while /proc shows the path outside: missing steps are
// skipped.
template <typename Quota>
double least_quota(const fs::path& mount, fs::path group, Quota quota) {
  double least = quota(mount);
  for (; group.has_relative_path(); group = group.parent_path()) {
    least = std::min(least, quota(mount / group.relative_path()));
  }
  return least;
}

bool lists_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

// One line is "number:controllers:path"; version 2 has number 0 and no controllers.
double quota_of_line(const std::string& line, const fs::path& mount) {
  const auto first = line.find(':');
  const auto second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return unlimited;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const fs::path group = line.substr(second + 1);
  if (controllers.empty()) {
    return std::min(least_quota(mount, group, quota_v2), least_quota(mount / "unified", group, quota_v2));
  }
  if (!lists_cpu(controllers)) return unlimited;
  return std::min(least_quota(mount / controllers, group, quota_v1),
                  least_quota(mount / "cpu", group, quota_v1));
}

}  // namespace

Figure<double> cpu_quota(const fs::path& membership, const fs::path& mount) {
  std::ifstream file(membership);
  if (!file) return Figure<double>::unknown(fmt::format("cannot read {}", membership.string()));
  double least = unlimited;
  try {
    for (std::string line; std::getline(file, line);) least = std::min(least, quota_of_line(line, mount));
  } catch (const std::exception& error) {
    return Figure<double>::unknown(error.what());
  }
  if (least == unlimited) return Figure<double>::unknown("unlimited");
  return Figure<double>::known(least, Source::kernel);
}

}  // namespace selvage::topo
