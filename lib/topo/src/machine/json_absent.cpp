#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>
#include <selvage/topo/probe.hpp>
#include <selvage/topo/rank_files.hpp>

#include <fmt/format.h>

namespace selvage::topo {
namespace {

[[noreturn]] void refuse_to_read(std::string_view name) {
  throw Error(ErrorKind::unsupported,
              fmt::format("{}: JSON can't be read: built without nlohmann-json", name));
}

[[noreturn]] void refuse_to_write(std::string_view what) {
  throw Error(ErrorKind::unsupported,
              fmt::format("{} can't be written as JSON: built without nlohmann-json", what));
}

}  // namespace

std::string to_json(const Machine&) {
  refuse_to_write("a machine");
}

Machine machine_from_json(std::string_view, const std::string& name) {
  refuse_to_read(name);
}

std::string to_json(const Probes&) {
  refuse_to_write("a probe");
}

Probes probes_from_json(std::string_view, const std::string& name) {
  refuse_to_read(name);
}

Probes read_probes(const std::string& path) {
  refuse_to_read(path);
}

PlacementPlan plan_from_json(std::string_view, const std::string& name) {
  refuse_to_read(name);
}

}  // namespace selvage::topo
