#include "md/state_files/h5md.hpp"

#include "common/rank_sums.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace selvage::md {
namespace {

constexpr const char* particles = "particles/all";

std::string element(const char* name) {
  return fmt::format("{}/{}", particles, name);
}

/// Arrays as write_hdf5() wants them, and the step and time that every element has to carry.
class Frame {
 public:
  Frame(MPI_Comm comm, const State& state, double time) : state_(state), time_(time) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    // One entry, and rank 0 writes it.
    single_ = {{0}, {rank == 0 ? 1 : 0}};
    edges_ = {{0}, {rank == 0 ? 3 : 0}};
    for (int axis = 0; axis < 3; ++axis) lengths_[axis] = state.domain.length(axis);
    const auto own = static_cast<double>(state.atoms());
    const auto counts = app::gather_everywhere(comm, "counting atoms for a file", std::span(&own, 1));
    first_ = static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.begin() + rank, 0.0));
    all_ = static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
    add<double>("position", 3, state.positions.data());
    add<double>("velocity", 3, state.velocities.data());
    add<std::int32_t>("image", 3, state.images.data());
    add<std::int64_t>("id", 1, state.ids.data());
    arrays_.push_back({element("box/edges"), app::ElementType::float64, {3}, edges_, lengths_});
  }

  [[nodiscard]] std::span<const app::ArrayBlock> arrays() const { return arrays_; }
  [[nodiscard]] std::int64_t all_atoms() const { return all_; }

 private:
  template <class T>
  void add(const char* name, std::int64_t components, const void* data) {
    std::vector<std::int64_t> extent{1, all_};
    app::ArrayBox own{{0, first_}, {1, first_ + state_.atoms()}};
    if (components > 1) {
      extent.push_back(components);
      own.begin.push_back(0);
      own.end.push_back(components);
    }
    arrays_.push_back({element(name) + "/value", app::element_type_of<T>(), extent, own, data});
    arrays_.push_back({element(name) + "/step", app::ElementType::int64, {1}, single_, &state_.step});
    arrays_.push_back({element(name) + "/time", app::ElementType::float64, {1}, single_, &time_});
  }

  const State& state_;
  double time_;
  std::int64_t first_ = 0;  ///< of this rank's atoms
  std::int64_t all_ = 0;
  double lengths_[3];
  app::ArrayBox single_;
  app::ArrayBox edges_;
  std::vector<app::ArrayBlock> arrays_;
};

/// One value per atom of the last frame, as doubles or whole numbers. \param extent  what one frame must have
template <class T>
std::vector<T> read_last_frame(const app::Hdf5Reader& file, const std::string& path, const std::string& array,
                               const std::vector<std::int64_t>& frame) {
  std::vector<std::int64_t> extent = file.extent(array);
  const bool fits = extent.size() == frame.size() + 1 && extent[0] > 0 &&
                    std::equal(frame.begin(), frame.end(), extent.begin() + 1);
  if (!fits) {
    throw Error(ErrorKind::input,
                fmt::format("{}: the array {} doesn't have frames of {} atoms", path, array, frame[0]));
  }
  app::ArrayBox box{std::vector<std::int64_t>(extent.size(), 0), extent};
  box.begin[0] = extent[0] - 1;
  const auto read_as = [&]<class Stored>(Stored) {
    std::vector<Stored> values(static_cast<std::size_t>(box.count()));
    file.read<Stored>(array, box, values);
    return std::vector<T>(values.begin(), values.end());
  };
  switch (file.type(array)) {
    case app::ElementType::float32:
      return read_as(float{});
    case app::ElementType::float64:
      return read_as(double{});
    case app::ElementType::int32:
      return read_as(std::int32_t{});
    default:
      return read_as(std::int64_t{});
  }
}

std::vector<Vec3<double>> vectors(const std::vector<double>& values) {
  std::vector<Vec3<double>> result;
  for (std::size_t i = 0; i < values.size(); i += 3)
    result.push_back({values[i], values[i + 1], values[i + 2]});
  return result;
}

Domain read_box(const app::Hdf5Reader& file, const std::string& path) {
  const std::string fixed = element("box/edges");
  std::vector<double> edges;
  if (file.has_array(fixed + "/value")) {
    edges = read_last_frame<double>(file, path, fixed + "/value", {3});
  } else {
    edges.resize(3);
    if (file.extent(fixed) != std::vector<std::int64_t>{3}) {
      throw Error(ErrorKind::input, fmt::format("{}: the box isn't an orthogonal one in 3D", path));
    }
    file.read<double>(fixed, {{0}, {3}}, edges);
  }
  Domain domain;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string lower = fmt::format("selvage_lower_{}", "xyz"[axis]);
    domain.lower[axis] = file.has_attribute(lower) ? file.real(lower) : 0;
    const std::string upper = fmt::format("selvage_upper_{}", "xyz"[axis]);
    domain.upper[axis] = file.has_attribute(upper) ? file.real(upper) : domain.lower[axis] + edges[axis];
  }
  return domain;
}

}  // namespace

std::int64_t write_h5md(MPI_Comm comm, const std::string& path, const State& state, double time,
                        const app::Attributes& description) {
  app::Attributes attributes = description;
  attributes["h5md/author/name"] = std::string("selvage");
  attributes["h5md/creator/name"] = std::string("selvage md");
  attributes["h5md/creator/version"] = std::string(SELVAGE_VERSION);
  attributes[element("box/dimension")] = std::int64_t{3};
  for (int axis = 0; axis < 3; ++axis) {
    attributes[fmt::format("selvage_lower_{}", "xyz"[axis])] = state.domain.lower[axis];
    attributes[fmt::format("selvage_upper_{}", "xyz"[axis])] = state.domain.upper[axis];
  }
  const app::ListAttributes lists{
      {"h5md/version", std::vector<std::int64_t>{1, 1}},
      {element("box/boundary"), std::vector<std::string>{"periodic", "periodic", "periodic"}}};
  const Frame frame(comm, state, time);
  app::write_hdf5(comm, path, frame.arrays(), attributes, app::WriteMode::automatic, lists);
  return frame.all_atoms();
}

app::PointCloud h5md_cloud(std::int64_t atoms) {
  using enum app::ElementType;
  const auto array = [](const char* name, app::ElementType type, int components) {
    return app::PointCloud::Array{name, element(name) + "/value", type, components};
  };
  return {atoms, array("position", float64, 3), {array("velocity", float64, 3), array("id", int64, 1)}};
}

StateFile read_h5md(const std::string& path) {
  const app::Hdf5Reader file(path);
  const std::string positions = element("position/value");
  const std::vector<std::int64_t> extent = file.extent(positions);
  if (extent.size() != 3 || extent[2] != 3 || extent[1] < 1 ||
      extent[1] > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::input, fmt::format("{}: the array {} isn't frames x atoms x 3", path, positions));
  }
  const std::int64_t atoms = extent[1];
  StateFile result{};
  State& state = result.state;
  state.domain = read_box(file, path);
  state.positions = vectors(read_last_frame<double>(file, path, positions, {atoms, 3}));
  result.has_velocities = file.has_array(element("velocity/value"));
  state.velocities.assign(static_cast<std::size_t>(atoms), {0, 0, 0});
  if (result.has_velocities) {
    state.velocities = vectors(read_last_frame<double>(file, path, element("velocity/value"), {atoms, 3}));
  }
  state.images.assign(static_cast<std::size_t>(atoms), {0, 0, 0});
  if (file.has_array(element("image/value"))) {
    const auto images = read_last_frame<std::int32_t>(file, path, element("image/value"), {atoms, 3});
    for (std::size_t i = 0; i < state.images.size(); ++i) {
      state.images[i] = {images[3 * i], images[3 * i + 1], images[3 * i + 2]};
    }
  }
  state.ids.resize(static_cast<std::size_t>(atoms));
  std::iota(state.ids.begin(), state.ids.end(), std::int64_t{1});
  if (file.has_array(element("id/value"))) {
    state.ids = read_last_frame<std::int64_t>(file, path, element("id/value"), {atoms});
  }
  if (file.has_array(element("position/step"))) {
    const auto frames = file.extent(element("position/step"));
    if (frames.size() == 1)
      state.step = read_last_frame<std::int64_t>(file, path, element("position/step"), {})[0];
  }
  return result;
}

}  // namespace selvage::md
