#pragma once

#include <selvage/topo/figure.hpp>

#include <filesystem>

namespace selvage::topo {

/// The processors' worth of time that control groups grant this process: the least quota from its group to
/// the root. Not collective; never throws. Reads cgroup v2 `cpu.max` and v1 `cpu.cfs_quota_us`.
/// \param membership  the process's groups, as /proc/self/cgroup lists them
/// \param mount  where control groups are mounted
[[nodiscard]] Figure<double> cpu_quota(const std::filesystem::path& membership = "/proc/self/cgroup",
                                       const std::filesystem::path& mount = "/sys/fs/cgroup");

}  // namespace selvage::topo
