#include "dragonfly.hpp"

#include <fmt/format.h>

namespace selvage::topo {

Dragonfly::Dragonfly(const DragonflyShape& shape) : Network(shape.hosts()), shape_(shape) {
  for (int host = 0; host < shape.hosts(); ++host) {
    add_link(fmt::format("host {} up", host));
    add_link(fmt::format("host {} down", host));
  }
  local_links_ = static_cast<int>(links().size());
  const int routers = shape.routers_per_group;
  for (int from = 0; from < routers * shape.groups; ++from) {
    // A link from each router to itself keeps the numbering simple; no path has it.
    for (int to = 0; to < routers; ++to) {
      add_link(fmt::format("router {} to {}", from, from / routers * routers + to));
    }
  }
  global_links_ = static_cast<int>(links().size());
  for (int from = 0; from < shape.groups; ++from) {
    for (int to = 0; to < shape.groups; ++to) {
      for (int cable = 0; cable < shape.cables_per_pair; ++cable) {
        add_link(fmt::format("group {} to {} cable {}", from, to, cable));
      }
    }
  }
}

std::uint32_t Dragonfly::level(int a, int b) const {
  if (a / shape_.hosts_per_router == b / shape_.hosts_per_router) return 1;
  return a / shape_.hosts_per_group() == b / shape_.hosts_per_group() ? 2 : 3;
}

int Dragonfly::gateway(int group, int other, int cable) const {
  const int routers = shape_.routers_per_group;
  return group * routers + (other + cable * (routers / 2 > 0 ? routers / 2 : 1)) % routers;
}

void Dragonfly::step(Path& path, int from_router, int to_router) const {
  if (from_router == to_router) return;
  const int routers = shape_.routers_per_group;
  path.push_back(local_links_ + from_router * routers + to_router % routers);
}

void Dragonfly::find_path(int from, int to, int cable, Path& path) const {
  const int from_router = from / shape_.hosts_per_router;
  const int to_router = to / shape_.hosts_per_router;
  const int from_group = from / shape_.hosts_per_group();
  const int to_group = to / shape_.hosts_per_group();
  path.assign(1, 2 * from);
  if (from_group == to_group) {
    step(path, from_router, to_router);
  } else {
    step(path, from_router, gateway(from_group, to_group, cable));
    path.push_back(global_links_ + (from_group * shape_.groups + to_group) * shape_.cables_per_pair + cable);
    step(path, gateway(to_group, from_group, cable), to_router);
  }
  path.push_back(2 * to + 1);
}

void Dragonfly::find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const {
  const int cables = shape_.cables_per_pair;
  const bool are_several = routing == Routing::adaptive && level(from, to) == 3;
  paths.resize(are_several ? static_cast<std::size_t>(cables) : 1);
  if (!are_several) return find_path(from, to, to % cables, paths.front());
  for (int cable = 0; cable < cables; ++cable) find_path(from, to, cable, paths[cable]);
}

}  // namespace selvage::topo
