#include "records.hpp"

#include <istream>
#include <string_view>

namespace selvage::topo {

Figure<std::string> processor_model(std::istream& cpu_info) {
  constexpr std::string_view blanks = " \t";
  for (std::string line; std::getline(cpu_info, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(blanks, colon + 1);
    if (begin == std::string::npos) continue;
    const auto end = line.find_last_not_of(blanks);
    return Figure<std::string>::known(line.substr(begin, end - begin + 1), Source::kernel);
  }
  return Figure<std::string>::unknown("/proc/cpuinfo has no model name");
}

}  // namespace selvage::topo
