#include "md/io/state_files/h5md.hpp"

#include "common/rank_sums.hpp"

#include <selvage/error.hpp>
#include <selvage/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
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
  Frame(MPI_Comm comm, std::shared_ptr<const State> shared_state, double time)
      : state_(std::move(shared_state)), time_(app::shared_values(std::vector{time})) {
    const State& state = *state_;
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    // One entry, and rank 0 writes it.
    single_ = {{0}, {rank == 0 ? 1 : 0}};
    edges_ = {{0, 0}, {rank == 0 ? 1 : 0, 3}};
    std::vector<double> lengths;
    for (int axis = 0; axis < 3; ++axis) lengths.push_back(state.domain.length(axis));
    const auto own = static_cast<double>(state.atoms());
    const auto counts = app::gather_everywhere(comm, "counting atoms for a file", std::span(&own, 1));
    first_ = static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.begin() + rank, 0.0));
    all_ = static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
    add<double>("position", 3, state.positions.data());
    add<double>("velocity", 3, state.velocities.data());
    add<std::int32_t>("image", 3, state.images.data());
    add<std::int64_t>("id", 1, state.ids.data());
    // The box doesn't change. H5MD has a form for that, too, which not all readers know: MDAnalysis doesn't.
    arrays_.push_back(
        {element("box/edges/value"), app::ElementType::float64, {1, 3}, edges_, app::shared_values(lengths)});
    add_step("box/edges");
  }

  [[nodiscard]] std::span<const app::ArrayBlock> arrays() const { return arrays_; }
  [[nodiscard]] std::int64_t all_atoms() const { return all_; }

 private:
  template <class T>
  void add(const char* name, std::int64_t components, const void* data) {
    std::vector<std::int64_t> extent{1, all_};
    app::ArrayBox own{{0, first_}, {1, first_ + state_->atoms()}};
    if (components > 1) {
      extent.push_back(components);
      own.begin.push_back(0);
      own.end.push_back(components);
    }
    arrays_.push_back({element(name) + "/value", app::element_type_of<T>(), extent, own, of_state(data)});
    add_step(name);
  }

  void add_step(const char* name) {
    arrays_.push_back(
        {element(name) + "/step", app::ElementType::int64, {1}, single_, of_state(&state_->step)});
    arrays_.push_back({element(name) + "/time", app::ElementType::float64, {1}, single_, time_});
  }

  /// A part of the state, which lives as long as that is read.
  [[nodiscard]] std::shared_ptr<const void> of_state(const void* part) const { return {state_, part}; }

  std::shared_ptr<const State> state_;
  std::shared_ptr<const double> time_;
  std::int64_t first_ = 0;  ///< of this rank's atoms
  std::int64_t all_ = 0;
  app::ArrayBox single_;
  app::ArrayBox edges_;
  std::vector<app::ArrayBlock> arrays_;
};

std::vector<Vec3<double>> vectors(const std::vector<double>& values) {
  std::vector<Vec3<double>> result;
  for (std::size_t i = 0; i < values.size(); i += 3)
    result.push_back({values[i], values[i + 1], values[i + 2]});
  return result;
}

/// The group of particles that md writes, or else the only one there is.
std::string group_in(const app::Hdf5Reader& file, const std::string& path) {
  const auto names = file.groups_in("particles");
  if (std::ranges::find(names, "all") != names.end()) return particles;
  if (names.size() == 1) return "particles/" + names[0];
  throw Error(ErrorKind::input,
              fmt::format("{}: no group of particles is named all, and there are {} others{}{}", path,
                          names.size(), names.empty() ? "" : ": ", fmt::join(names, ", ")));
}

/// The last frame of a file that any program may have written.
class LastFrame {
 public:
  explicit LastFrame(const std::string& path) : path_(path), file_(path), group_(group_in(file_, path)) {
    const std::string positions = of("position/value");
    const std::vector<std::int64_t> extent = file_.extent(positions);
    if (extent.size() != 3 || extent[2] != 3 || extent[1] < 1 ||
        extent[1] > std::numeric_limits<std::int32_t>::max()) {
      refuse(fmt::format("the array {} isn't frames x atoms x 3", positions));
    }
    frames_ = extent[0];
    atoms_ = extent[1];
  }

  [[nodiscard]] std::int64_t atoms() const { return atoms_; }
  [[nodiscard]] bool has(const std::string& name) const { return file_.has_array(of(name)); }

  /// One value per atom, or as many as `components` says, as doubles or whole numbers.
  template <class T>
  [[nodiscard]] std::vector<T> per_atom(const std::string& name, std::int64_t components) const {
    std::vector<std::int64_t> frame{atoms_};
    if (components > 1) frame.push_back(components);
    return last<T>(name, frame);
  }

  [[nodiscard]] Domain domain() const {
    require_periodic();
    const std::vector<double> edges = this->edges();
    Domain domain;
    for (int axis = 0; axis < 3; ++axis) {
      const std::string lower = fmt::format("selvage_lower_{}", "xyz"[axis]);
      domain.lower[axis] = file_.has_attribute(lower) ? file_.real(lower) : 0;
      const std::string upper = fmt::format("selvage_upper_{}", "xyz"[axis]);
      domain.upper[axis] = file_.has_attribute(upper) ? file_.real(upper) : domain.lower[axis] + edges[axis];
    }
    return domain;
  }

  /// 0 where the file doesn't say.
  [[nodiscard]] std::int64_t step() const {
    const std::string name = "position/step";
    if (!has(name)) return 0;
    if (!file_.extent(of(name)).empty()) return last<std::int64_t>(name, {})[0];
    const std::string offset = of(name) + "/offset";
    const std::int64_t first = file_.has_attribute(offset) ? file_.integer(offset) : 0;
    return first + (frames_ - 1) * read<std::int64_t>(of(name), {{}, {}})[0];
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", path_, why));
  }
  [[nodiscard]] std::string of(const std::string& name) const { return fmt::format("{}/{}", group_, name); }

  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& array, const app::ArrayBox& box) const {
    const auto read_as = [&]<class Stored>(Stored) {
      std::vector<Stored> values(static_cast<std::size_t>(box.count()));
      file_.read<Stored>(array, box, values);
      return std::vector<T>(values.begin(), values.end());
    };
    switch (file_.type(array)) {
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

  /// \param frame  the extents that one frame must have
  template <class T>
  [[nodiscard]] std::vector<T> last(const std::string& name, const std::vector<std::int64_t>& frame) const {
    const std::vector<std::int64_t> extent = file_.extent(of(name));
    const bool fits = extent.size() == frame.size() + 1 && extent[0] > 0 &&
                      std::equal(frame.begin(), frame.end(), extent.begin() + 1);
    if (!fits) {
      refuse(fmt::format(
          "the array {} doesn't have frames of {}", of(name),
          frame.empty() ? std::string("one number") : fmt::format("{}", fmt::join(frame, " x "))));
    }
    app::ArrayBox box{std::vector<std::int64_t>(extent.size(), 0), extent};
    box.begin[0] = extent[0] - 1;
    return read<T>(of(name), box);
  }

  void require_periodic() const {
    const std::string boundary = of("box/boundary");
    if (!file_.has_attribute(boundary)) return;
    for (const std::string& each : file_.texts(boundary))
      if (each != "periodic")
        refuse(fmt::format("a box with the boundary '{}', and md's are periodic", each));
  }

  /// The box's sides, of fixed lengths or a time series, as lengths or as vectors.
  [[nodiscard]] std::vector<double> edges() const {
    const bool is_fixed = !has("box/edges/value");
    const std::string name = is_fixed ? "box/edges" : "box/edges/value";
    std::vector<std::int64_t> extent = file_.extent(of(name));
    if (!is_fixed && !extent.empty()) extent.erase(extent.begin());
    const bool are_vectors = extent == std::vector<std::int64_t>{3, 3};
    if (!are_vectors && extent != std::vector<std::int64_t>{3}) refuse("the box isn't one in 3D");
    const app::ArrayBox all{std::vector<std::int64_t>(extent.size(), 0), extent};
    std::vector<double> values = is_fixed ? read<double>(of(name), all) : last<double>(name, extent);
    if (!are_vectors) return values;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i % 4 != 0 && values[i] != 0) refuse("the box isn't orthogonal");
    return {values[0], values[4], values[8]};
  }

  const std::string& path_;
  app::Hdf5Reader file_;
  std::string group_;
  std::int64_t frames_ = 0;
  std::int64_t atoms_ = 0;
};

}  // namespace

std::int64_t write_h5md(MPI_Comm comm, const std::string& path, const std::shared_ptr<const State>& state,
                        double time, const app::Attributes& description) {
  app::Attributes attributes = description;
  attributes["h5md/author/name"] = std::string("selvage");
  attributes["h5md/creator/name"] = std::string("selvage md");
  attributes["h5md/creator/version"] = std::string(selvage::version);
  attributes[element("box/dimension")] = std::int64_t{3};
  for (int axis = 0; axis < 3; ++axis) {
    attributes[fmt::format("selvage_lower_{}", "xyz"[axis])] = state->domain.lower[axis];
    attributes[fmt::format("selvage_upper_{}", "xyz"[axis])] = state->domain.upper[axis];
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
  const LastFrame frame(path);
  const auto atoms = static_cast<std::size_t>(frame.atoms());
  StateFile result{};
  State& state = result.state;
  state.domain = frame.domain();
  state.positions = vectors(frame.per_atom<double>("position/value", 3));
  result.has_velocities = frame.has("velocity/value");
  state.velocities.assign(atoms, {0, 0, 0});
  if (result.has_velocities) state.velocities = vectors(frame.per_atom<double>("velocity/value", 3));
  state.images.assign(atoms, {0, 0, 0});
  if (frame.has("image/value")) {
    const auto images = frame.per_atom<std::int32_t>("image/value", 3);
    for (std::size_t i = 0; i < atoms; ++i)
      state.images[i] = {images[3 * i], images[3 * i + 1], images[3 * i + 2]};
  }
  state.ids.resize(atoms);
  std::iota(state.ids.begin(), state.ids.end(), std::int64_t{1});
  if (frame.has("id/value")) state.ids = frame.per_atom<std::int64_t>("id/value", 1);
  state.step = frame.step();
  return result;
}

}  // namespace selvage::md
