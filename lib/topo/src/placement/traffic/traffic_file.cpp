#include "text/text_file.hpp"
#include "traffic_hdf5.hpp"

#include <selvage/read_text_file.hpp>
#include <selvage/topo/traffic_file.hpp>

namespace selvage::topo {

Traffic read_traffic(const std::string& path) {
  if (path.ends_with(".csv")) return traffic_from_csv(read_text_file(path), path);
  return read_traffic_hdf5(path);
}

void write_traffic(const std::string& path, const Traffic& traffic) {
  if (path.ends_with(".csv")) {
    write_text_file(path, traffic_to_csv(traffic));
  } else {
    write_traffic_hdf5(path, traffic);
  }
}

}  // namespace selvage::topo
