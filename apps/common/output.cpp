#include "common/output.hpp"

#include "common/xdmf.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>
#include <selvage/file_descriptor.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace selvage::app {
namespace {

bool is_root(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank == 0;
}

/// The step in "STEM_00000100.h5"; nothing for other names.
std::optional<std::int64_t> step_of(const std::string& file_name, const std::string& stem) {
  const std::string prefix = stem + "_";
  const std::string suffix = ".h5";
  if (!file_name.starts_with(prefix) || !file_name.ends_with(suffix)) return std::nullopt;
  if (file_name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  const char* begin = file_name.data() + prefix.size();
  const char* end = file_name.data() + file_name.size() - suffix.size();
  std::int64_t step = 0;
  const auto [rest, error] = std::from_chars(begin, end, step);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return step;
}

void check_mesh(const UniformMesh& mesh) {
  const std::size_t axes = mesh.points.size();
  if ((axes == 2 || axes == 3) && mesh.origin.size() == axes && mesh.spacing.size() == axes) return;
  throw Error(ErrorKind::usage, "a mesh for output needs 2 or 3 axes, each with points, origin and spacing");
}

}  // namespace

std::string make_output_directory(MPI_Comm comm, const std::string& path) {
  together(
      comm, "making " + path,
      [&] {
        if (!is_root(comm)) return;
        std::error_code error;
        std::filesystem::create_directories(path, error);
        if (error) throw_io_error("cannot make the output directory", path, error.value());
        if (access(path.c_str(), W_OK | X_OK) != 0) throw_io_error("cannot write to", path, errno);
      },
      io_timeout_ms());
  return path;
}

std::vector<std::int64_t> earlier_steps(const std::string& dir, const std::string& stem,
                                        std::int64_t first_new_step) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    const auto step = step_of(entry.path().filename().string(), stem);
    if (step && *step < first_new_step) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

FieldSeries::FieldSeries(MPI_Comm comm, std::string dir, std::string stem, UniformMesh mesh,
                         std::optional<std::int64_t> first_new_step)
    : comm_(comm), dir_(std::move(dir)), stem_(std::move(stem)), mesh_(std::move(mesh)) {
  check_mesh(mesh_);
  if (!first_new_step) return;
  together(comm_, "looking for earlier fields in " + dir_, [&] {
    if (is_root(comm_)) find_earlier(*first_new_step);
  });
}

void FieldSeries::find_earlier(std::int64_t first_new_step) {
  for (const std::int64_t step : earlier_steps(dir_, stem_, first_new_step)) {
    const Hdf5Reader file(path_of(step));
    XdmfSnapshot snapshot{.time = file.real("time"), .step = step};
    for (const auto& name : file.arrays()) snapshot.arrays.emplace_back(name, file.type(name));
    snapshot.file_name = std::filesystem::path(path_of(step)).filename().string();
    snapshots_.push_back(std::move(snapshot));
  }
}

void FieldSeries::write(std::int64_t step, double time, std::span<const ArrayBlock> arrays,
                        Attributes attributes, WriteMode mode) {
  for (const auto& array : arrays) {
    if (array.extent == mesh_.points) continue;
    throw Error(ErrorKind::usage, fmt::format("array {} does not have its mesh's extents", array.name));
  }
  attributes["step"] = step;
  attributes["time"] = time;
  write_hdf5(comm_, path_of(step), arrays, attributes, mode);
  XdmfSnapshot snapshot{.time = time, .step = step};
  snapshot.file_name = std::filesystem::path(path_of(step)).filename().string();
  for (const auto& array : arrays) snapshot.arrays.emplace_back(array.name, array.type);
  std::erase_if(snapshots_, [&](const XdmfSnapshot& earlier) { return earlier.step == step; });
  snapshots_.push_back(std::move(snapshot));
  together(
      comm_, "writing " + xdmf_path(),
      [&] {
        if (is_root(comm_)) replace_file(xdmf_path(), xdmf_text(stem_, mesh_, snapshots_));
      },
      io_timeout_ms());
}

std::string FieldSeries::path_of(std::int64_t step) const {
  return (std::filesystem::path(dir_) / fmt::format("{}_{:08}.h5", stem_, step)).string();
}

std::string FieldSeries::xdmf_path() const {
  return (std::filesystem::path(dir_) / (stem_ + ".xdmf")).string();
}

}  // namespace selvage::app
