#include "gpu_facts.hpp"

namespace selvage::bench {

std::map<std::string, std::string> gpu_facts() {
  return {};
}

}  // namespace selvage::bench
