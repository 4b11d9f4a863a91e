#pragma once

#include <map>
#include <string>
#include <vector>

namespace selvage::bench {

/// One figure, as docs/benchmarking.md describes it.
struct Record {
  std::string name;
  double value = 0;
  std::string unit;
  std::string better = "lower";
  double floor = 0;  ///< what no design can pass, in the same unit; 0: not known
  std::map<std::string, double> peers;
  std::string choice;       ///< which of our forms the value is
  std::string algorithm;    ///< of a collective operation; empty: not one
  double bus_gb_per_s = 0;  ///< its bus bandwidth at the value, in 10^9 bytes per second
  bool verified = false;
  int repetitions = 0;
  double spread = 0;
};

/// Writes records as a JSON array, each with the commit and the machine's hardware.
/// \throws Error{io}
void write_records(const std::string& path, const std::vector<Record>& records);

}  // namespace selvage::bench
