#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/topo/machine_files.hpp>

#include <fmt/format.h>

namespace selvage::topo {

Machine machine_from_file(const std::string& path) {
  const std::string text = read_text_file(path);
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text[begin] == '{') return machine_from_json(text, path);
  const auto hwloc = text.find("<topology");
  const auto nccl = text.find("<system");
  if (hwloc < nccl) return machine_from_hwloc_xml(text, path);
  if (nccl < hwloc) return machine_from_nccl_xml(text, path);
  throw Error(
      ErrorKind::input,
      fmt::format("{} is none of what selvage-topo show --json prints, hwloc's XML and NCCL's", path));
}

}  // namespace selvage::topo
