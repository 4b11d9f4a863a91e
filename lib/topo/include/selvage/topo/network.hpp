#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::topo {

/// One direction of a cable.
struct Link {
  std::string name;
  std::uint32_t capacity = 1;  ///< in units of what one host can send
};

/// How a network chooses among equally short paths.
enum class Routing {
  fixed,     ///< one path per pair, known beforehand
  adaptive,  ///< all of them, in equal shares
};

/// The links that a message between two hosts passes, in order.
using Path = std::vector<int>;

/// The links between hosts and the paths over them. Immutable.
class Network {
 public:
  virtual ~Network() = default;

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  /// How many hosts can be joined; those of a job are some of them.
  [[nodiscard]] int endpoint_count() const { return endpoints_; }
  /// The paths that share the bytes from one endpoint to another one in equal parts, at least one.
  [[nodiscard]] std::vector<Path> paths(int from, int to, Routing routing) const {
    std::vector<Path> found;
    find_paths(from, to, routing, found);
    return found;
  }
  /// The same in place of what `paths` holds, whose memory serves the paths of many pairs.
  virtual void find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const = 0;

 protected:
  explicit Network(int endpoints) : endpoints_(endpoints) {}

  /// Appends one link. \return its number
  int add_link(std::string name, std::uint32_t capacity = 1) {
    links_.push_back({std::move(name), capacity});
    return static_cast<int>(links_.size()) - 1;
  }

 private:
  int endpoints_;
  std::vector<Link> links_;
};

}  // namespace selvage::topo
