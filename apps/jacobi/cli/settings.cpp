#include "jacobi/cli/settings.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace selvage::jacobi {
namespace {

constexpr bool host_backend =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::DefaultExecutionSpace::memory_space>::accessible;

void read_case(app::Input& input, Settings& settings) {
  const std::string name = input.choice("case.name", "dirichlet", {"dirichlet", "public-sample"});
  settings.name = name == "dirichlet" ? Case::dirichlet : Case::public_sample;
  settings.amplitude = input.get<double>("case.amplitude", 1.0);
  if (settings.amplitude == 0) input.reject("case.amplitude", "must not be 0: nothing would happen");
  if (settings.name == Case::public_sample && settings.amplitude != 1) {
    input.reject("case.amplitude", "is for the case dirichlet; public-sample has no source");
  }
}

void check_sides(app::Input& input, const Settings& settings) {
  if (settings.name == Case::public_sample && (!settings.periodic[0] || settings.periodic[1])) {
    input.reject("grid.periodic", "must be [true, false] for the case public-sample");
  }
  for (std::size_t axis = 0; axis < settings.cells.size(); ++axis) {
    if (settings.periodic[axis] && settings.cells[axis] < 3) {
      input.reject("grid.cells", fmt::format("gives the periodic axis {} only {} cells; a wave needs 3", axis,
                                             settings.cells[axis]));
    }
  }
}

void read_grid(app::Input& input, Settings& settings) {
  const bool sample = settings.name == Case::public_sample;
  const std::vector<std::int64_t> default_cells =
      sample ? std::vector<std::int64_t>{1022, 1022} : std::vector<std::int64_t>{255, 255};
  settings.cells = input.list<std::int64_t>("grid.cells", default_cells,
                                            {.each = {.least = 1, .most = std::int64_t{1} << 40},
                                             .least_length = 2,
                                             .most_length = sample ? std::size_t{2} : std::size_t{3}});
  std::vector<bool> default_sides(settings.cells.size(), false);
  default_sides[0] = sample;
  settings.periodic =
      input.list<bool>("grid.periodic", default_sides,
                       {.least_length = settings.cells.size(), .most_length = settings.cells.size()});
  check_sides(input, settings);
}

/// On GPUs the launches that sweep a box in parts take longer than what they hide (docs/performance/jacobi.md).
constexpr Overlap overlap_of_backend = host_backend ? Overlap::host : Overlap::off;

Overlap parse_overlap(std::string_view text) {
  if (text == "off") return Overlap::off;
  return text == "host" ? Overlap::host : Overlap::kernel;
}

void read_numerics(app::Input& input, Settings& settings) {
  settings.precision =
      input.choice("run.precision", "fp64", {"fp32", "fp64"}) == "fp64" ? Precision::fp64 : Precision::fp32;
  if (settings.precision == Precision::fp32 && static_cast<float>(settings.amplitude) == 0)
    input.reject("case.amplitude", "is 0 in fp32: nothing would happen");
  const bool flat = settings.dimensions() == 2;
  settings.stencil_points = input.get<int>("run.stencil", flat ? 5 : 7);
  const std::array<int, 2> allowed = flat ? std::array{5, 9} : std::array{7, 27};
  if (std::ranges::find(allowed, settings.stencil_points) == allowed.end()) {
    input.reject("run.stencil", fmt::format("must be {} or {} on a {}D grid, not {}", allowed[0], allowed[1],
                                            settings.dimensions(), settings.stencil_points));
  }
  settings.norm_every = input.get<std::int64_t>("run.norm_every", 100, {.least = 0});
  settings.tolerance = input.get<double>("run.tolerance", 0.0, {.least = 0.0});
  if (settings.tolerance > 0 && settings.norm_every == 0) {
    input.reject("run.tolerance", "needs run.norm_every above 0: it is compared where the norm is computed");
  }
  const std::string overlap = input.choice("run.overlap", "auto", {"auto", "off", "host", "kernel"});
  settings.chooses_overlap = overlap == "auto";
  settings.overlap = settings.chooses_overlap ? overlap_of_backend : parse_overlap(overlap);
  settings.steps_per_exchange = input.get<int>("run.steps_per_exchange", 1, {.least = 1, .most = 64});
  if (settings.overlap == Overlap::kernel && settings.steps_per_exchange != 1)
    input.reject("run.steps_per_exchange",
                 "must be 1 with run.overlap = \"kernel\", which sends in every sweep");
  const std::string persistent = input.choice("run.persistent", "off", {"off", "on", "auto"});
  settings.persistent = persistent == "off"  ? Persistence::off
                        : persistent == "on" ? Persistence::on
                                             : Persistence::automatic;
  settings.compare_serial = input.get_bool("run.compare_serial", false);
  settings.breakdown = input.get_bool("run.breakdown", host_backend);
}

void read_output(app::Input& input, Settings& settings) {
  settings.write_fields = input.get_bool("output.fields", true);
  settings.fields_every = input.get<std::int64_t>("output.fields_every", 0, {.least = 0});
  settings.restart_every = input.get<std::int64_t>("restart.every", 0, {.least = 0});
}

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : "fp64";
}

std::string_view to_string(Overlap overlap) {
  switch (overlap) {
    case Overlap::off:
      return "off";
    case Overlap::host:
      return "host";
    default:
      return "kernel";
  }
}

Settings read_settings(app::Input& input) {
  Settings settings{};
  read_case(input, settings);
  read_grid(input, settings);
  read_numerics(input, settings);
  read_output(input, settings);
  settings.standard = app::read_standard_options(
      input, {.steps = 1000,
              .out_dir = "out/jacobi",
              .transports = {"auto", "peer", "copy_engine", "mpi_direct", "mpi_staged"},
              .initiations = {"auto", "host", "stream", "queue", "kernel"},
              .dimensions = settings.dimensions()});
  input.reject_unknown();
  return settings;
}

}  // namespace selvage::jacobi
