#include "traffic_hdf5.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic_file.hpp>

namespace selvage::topo {

Traffic read_traffic_hdf5(const std::string& path) {
  throw Error(ErrorKind::unsupported, "cannot read " + path + ": built without HDF5; CSV is possible");
}

void write_traffic_hdf5(const std::string& path, const Traffic&) {
  throw Error(ErrorKind::unsupported, "cannot write " + path + ": built without HDF5; CSV is possible");
}

bool has_hdf5() {
  return false;
}

}  // namespace selvage::topo
