#include "jacobi/io/run_files.hpp"

#include "jacobi/physics/theory.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace selvage::jacobi {
namespace {

constexpr const char* field_name = "u";

/// What has to be equal for a run to go on where another stopped.
app::Attributes describe(const Settings& settings) {
  std::vector<std::string> sides;
  for (const bool periodic : settings.periodic) sides.emplace_back(periodic ? "periodic" : "fixed");
  return {{"case", std::string(to_string(settings.name))},
          {"amplitude", settings.amplitude},
          {"cells", fmt::format("{}", fmt::join(settings.cells, "x"))},
          {"sides", fmt::format("{}", fmt::join(sides, ","))},
          {"precision", std::string(to_string(settings.precision))},
          {"stencil", static_cast<std::int64_t>(settings.stencil_points)}};
}

/// The longest side has length 1, and all axes the same spacing.
app::UniformMesh mesh_of(const Settings& settings) {
  app::UniformMesh mesh;
  mesh.points = settings.cells;
  std::int64_t longest = 1;
  for (std::size_t axis = 0; axis < settings.cells.size(); ++axis) {
    longest = std::max(longest, intervals(settings.cells[axis], settings.periodic[axis]));
  }
  const double spacing = 1.0 / static_cast<double>(longest);
  for (const bool periodic : settings.periodic) mesh.origin.push_back(periodic ? 0.0 : spacing);
  mesh.spacing.assign(settings.cells.size(), spacing);
  return mesh;
}

std::unique_ptr<app::CsvHistory> open_norms(MPI_Comm comm, const std::string& dir,
                                            std::optional<std::int64_t> restarted_at) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank != 0) return nullptr;
  return std::make_unique<app::CsvHistory>(
      dir + "/norms.csv",
      std::vector<std::string>{"step", "residual", "residual_theory", "error", "theory", "error_exact"},
      restarted_at);
}

}  // namespace

RunFiles::RunFiles(MPI_Comm comm, const Settings& settings, std::optional<std::int64_t> restarted_at)
    : comm_(comm),
      dir_(app::make_output_directory(comm, settings.standard.out_dir)),
      description_(describe(settings)),
      fields_(comm, dir_, "fields", mesh_of(settings), restarted_at),
      norms_(open_norms(comm, dir_, restarted_at)) {}

void RunFiles::append(const NormRow& row) {
  if (!norms_) return;
  const std::array<double, 5> values{row.residual, row.residual_theory, row.error, row.theory,
                                     row.error_exact};
  norms_->append(row.step, values);
}

void RunFiles::write_fields(std::int64_t step, const app::ArrayBlock& u) {
  fields_.write(step, static_cast<double>(step), std::span(&u, 1), description_);
}

void RunFiles::write_restart(std::int64_t step, const app::ArrayBlock& u) {
  app::Attributes attributes = description_;
  attributes["step"] = step;
  app::write_hdf5(comm_, fmt::format("{}/restart_{:08}.h5", dir_, step), std::span(&u, 1), attributes);
}

Restart::Restart(const std::string& path, const Settings& settings) : path_(path), file_(path) {
  file_.require(describe(settings));
  step_ = file_.integer("step");
  if (step_ < 0 || step_ > settings.standard.steps) {
    throw Error(ErrorKind::input, fmt::format("{} is after step {}, and this run ends at run.steps = {}",
                                              path, step_, settings.standard.steps));
  }
  if (file_.extent(field_name) != settings.cells) {
    throw Error(ErrorKind::input,
                fmt::format("{}: its field has {} cells, not the {} that it claims", path,
                            fmt::join(file_.extent(field_name), "x"), fmt::join(settings.cells, "x")));
  }
}

template <class Real>
std::vector<Real> Restart::read(const app::ArrayBox& box) const {
  std::vector<Real> values(static_cast<std::size_t>(box.count()));
  file_.read<Real>(field_name, box, values);
  const auto bad = std::ranges::find_if(values, [](Real value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    throw Error(ErrorKind::input, fmt::format("{} holds {} among the cells from [{}] to [{}]", path_, *bad,
                                              fmt::join(box.begin, ", "), fmt::join(box.end, ", ")));
  }
  return values;
}

template std::vector<float> Restart::read(const app::ArrayBox&) const;
template std::vector<double> Restart::read(const app::ArrayBox&) const;

}  // namespace selvage::jacobi
