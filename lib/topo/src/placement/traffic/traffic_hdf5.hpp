#pragma once

#include <selvage/topo/traffic.hpp>

#include <string>

namespace selvage::topo {

/// \throws Error{input} that names the file and the attribute or dataset
[[nodiscard]] Traffic read_traffic_hdf5(const std::string& path);

/// \throws Error{io}
void write_traffic_hdf5(const std::string& path, const Traffic& traffic);

}  // namespace selvage::topo
