#pragma once

#include <selvage/topo/traffic.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace selvage::topo {

/// Reads traffic from a file: CSV where the name ends in .csv, otherwise HDF5. Both forms are in docs/topology.md.
/// \throws Error{input} that names the file and the line or dataset that is wrong; Error{unsupported} for HDF5 in a build
///         without it
[[nodiscard]] Traffic read_traffic(const std::string& path);

/// Writes traffic in the form that the name asks for. CSV keeps the matrices alone.
/// \throws Error{io}; Error{unsupported} for HDF5 in a build without it
void write_traffic(const std::string& path, const Traffic& traffic);

/// Traffic from CSV text with the header `from,to,host_bytes,host_messages,device_bytes,device_messages`.
/// \param name  what errors call it
/// \param ranks  how many ranks there are; without it, the highest rank that occurs tells
[[nodiscard]] Traffic traffic_from_csv(std::string_view text, const std::string& name,
                                       std::optional<int> ranks = std::nullopt);

/// CSV text; ends in a row of zeros where that is needed to tell the number of ranks.
[[nodiscard]] std::string traffic_to_csv(const Traffic& traffic);

/// Whether HDF5 files can be read and written.
[[nodiscard]] bool has_hdf5();

}  // namespace selvage::topo
