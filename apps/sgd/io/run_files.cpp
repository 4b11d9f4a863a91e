#include "sgd/io/run_files.hpp"

#include "common/output.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

std::string sums_of(const Settings& settings) {
  return settings.ordered ? "ordered" : "fast";
}

/// What has to be equal for training to go on where it stopped.
app::Attributes describe(const Trainer& trainer, const Settings& settings) {
  const DataFacts& data = trainer.data();
  std::string layers = fmt::format("{}", data.shape.width);
  if (!settings.channels.empty()) layers += fmt::format("-({}x{})", settings.image[0], settings.image[1]);
  for (const int channels : settings.channels) layers += fmt::format("-conv{}", channels);
  for (const int width : settings.hidden) layers += fmt::format("-{}", width);
  app::Attributes attributes{
      {"layers", fmt::format("{}-{}", layers, data.shape.classes)},
      {"weights", std::string("inputs x units, each tensor from a multiple of 4 elements")},
      {"data", fmt::format("{:016x}", data.fingerprint)},
      {"seed", settings.seed},
      {"epochs", settings.epochs},
      {"batch", settings.batch},
      {"reduce", sums_of(settings)},
      {"bf16", std::int64_t{settings.bf16_on_the_wire}},
      {"rate", settings.rate},
      {"warmup_steps", settings.warmup_steps},
      {"momentum", settings.momentum},
      {"weight_decay", settings.weight_decay}};
  // Fast sums know no grains; files of earlier versions say 0.
  if (settings.ordered) attributes["grain"] = settings.grain;
  return attributes;
}

/// Before all else, which partly depends on it, and in the input's words: comm.reduce has a default.
void require_same_sums(const app::Hdf5Reader& file, const std::string& path, const Settings& settings) {
  const std::string found = file.text("reduce");
  const std::string wanted = sums_of(settings);
  if (found == wanted) return;
  throw Error(ErrorKind::input,
              fmt::format("{} can't be continued here: it has comm.reduce = \"{}\", and this run comm.reduce "
                          "= \"{}\": give what the file has",
                          path, found, wanted));
}

using HostVector = Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace>;

HostVector on_the_host(const Vector<float>& values) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
}

std::shared_ptr<const float> shared_view(const HostVector& values) {
  return {std::make_shared<const HostVector>(values), values.data()};
}

/// Rank 0 has all of it, since every rank has the same.
app::ArrayBlock whole_from_root(MPI_Comm comm, std::string name, const std::vector<std::int64_t>& extent,
                                std::shared_ptr<const float> values) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::vector<std::int64_t> origin(extent.size(), 0);
  return app::array_block(std::move(name), extent, {origin, rank == 0 ? extent : origin}, std::move(values));
}

std::vector<float> read_parameters(const app::Hdf5Reader& file, const std::string& path,
                                   const std::string& name, std::size_t count) {
  const auto wanted = static_cast<std::int64_t>(count);
  if (file.extent(name) != std::vector{wanted})
    throw Error(ErrorKind::input, fmt::format("{}: {} hasn't {} elements", path, name, wanted));
  std::vector<float> values(count);
  file.read(name, {{0}, {wanted}}, std::span(values));
  return values;
}

/// Losses can't show it: the weights moved after the last of them. The same on all ranks, as what they have is.
void require_finite(const Trainer& trainer, std::span<const float> values, const std::string& what,
                    const std::string& file) {
  const auto wrong = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (wrong == values.end()) return;
  const auto& tensors = trainer.model().tensors();
  const auto after = std::ranges::upper_bound(tensors, wrong - values.begin(), {}, &Tensor::begin);
  throw AgreedError(ErrorKind::numeric,
                    fmt::format("{} of {} is NaN or infinite after step {}: no {} is written", what,
                                std::prev(after)->name, trainer.steps_done(), file),
                    0, 0);
}

}  // namespace

RunFiles::RunFiles(MPI_Comm comm, std::string dir, std::optional<std::int64_t> resumed_at)
    : comm_(comm), dir_(app::make_output_directory(comm, dir)) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank != 0) return;
  std::optional<std::int64_t> first_new_step;
  if (resumed_at) first_new_step = *resumed_at + 1;
  using Columns = std::vector<std::string>;
  steps_ = std::make_unique<app::CsvHistory>(dir_ + "/steps.csv", Columns{"step", "loss", "accuracy", "rate"},
                                             first_new_step);
  epochs_ = std::make_unique<app::CsvHistory>(dir_ + "/epochs.csv",
                                              Columns{"step", "test_loss", "test_accuracy"}, first_new_step);
}

void RunFiles::append_step(std::int64_t step, const Trainer::Step& train, double rate) {
  if (steps_) steps_->append(step, std::array{train.loss, train.accuracy, rate});
}

void RunFiles::append_epoch(std::int64_t step, const Trainer::Step& test) {
  if (epochs_) epochs_->append(step, std::array{test.loss, test.accuracy});
}

void RunFiles::write_checkpoint(const Trainer& trainer, const Settings& settings) const {
  app::Attributes attributes = describe(trainer, settings);
  attributes["step"] = trainer.steps_done();
  const HostVector parameters = on_the_host(trainer.model().parameters());
  std::vector<float> momentum = trainer.momentum();
  const std::span<const float> values(parameters.data(), parameters.extent(0));
  require_finite(trainer, values, "an element", "checkpoint");
  require_finite(trainer, momentum, "the momentum of an element", "checkpoint");
  const std::vector extent{static_cast<std::int64_t>(values.size())};
  const std::array arrays{
      whole_from_root(comm_, "parameters", extent, shared_view(parameters)),
      whole_from_root(comm_, "momentum_of_parameters", extent, app::shared_values(std::move(momentum)))};
  app::write_hdf5(comm_, fmt::format("{}/checkpoint_{:08}.h5", dir_, trainer.steps_done()), arrays,
                  attributes);
}

void RunFiles::write_weights(const Trainer& trainer) const {
  const HostVector parameters = on_the_host(trainer.model().parameters());
  const std::span<const float> values(parameters.data(), parameters.extent(0));
  require_finite(trainer, values, "an element", "file of weights");
  const std::shared_ptr<const float> shared = shared_view(parameters);
  std::vector<app::ArrayBlock> arrays;
  for (const Tensor& tensor : trainer.model().tensors())
    arrays.push_back(
        whole_from_root(comm_, tensor.name, tensor.extent, {shared, shared.get() + tensor.begin}));
  app::write_hdf5(comm_, dir_ + "/weights.h5", arrays, {{"step", trainer.steps_done()}});
}

void begin_with_weights(Trainer& trainer, const std::string& path) {
  const app::Hdf5Reader file(path);
  const auto& tensors = trainer.model().tensors();
  for (const std::string& name : file.arrays()) {
    if (std::ranges::find(tensors, name, &Tensor::name) == tensors.end())
      throw Error(ErrorKind::input, fmt::format("{}: the model has no tensor '{}'", path, name));
  }
  // Between tensors there are zeros.
  std::vector<float> parameters(trainer.model().parameters().extent(0));
  for (const Tensor& tensor : tensors) {
    const std::span values =
        std::span(parameters)
            .subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.count));
    if (const auto extent = file.extent(tensor.name); extent != tensor.extent)
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} has the shape {}, and the model's has {}", path, tensor.name,
                              fmt::join(extent, " x "), fmt::join(tensor.extent, " x ")));
    const std::vector<std::int64_t> origin(tensor.extent.size(), 0);
    file.read(tensor.name, {origin, tensor.extent}, values);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw Error(ErrorKind::input, fmt::format("{}: an element of {} isn't finite", path, tensor.name));
  }
  trainer.resume(0, parameters, std::vector<float>(parameters.size()));
}

void resume(Trainer& trainer, const std::string& path, const Settings& settings) {
  const app::Hdf5Reader file(path);
  if (file.has_attribute("layers") && !file.has_attribute("weights"))
    throw Error(
        ErrorKind::input,
        fmt::format("{} can't be continued: it is of an earlier version, which wrote weights as units x "
                    "inputs. Train anew, or with that version",
                    path));
  require_same_sums(file, path, settings);
  file.require(describe(trainer, settings));
  const std::int64_t step = file.integer("step");
  const std::int64_t last = settings.stop_step.value_or(trainer.schedule().steps);
  if (step < 0 || step > last)
    throw Error(ErrorKind::input,
                fmt::format("{} is after step {}, and this run ends at {}", path, step, last));
  const std::size_t count = trainer.model().parameters().extent(0);
  trainer.resume(step, read_parameters(file, path, "parameters", count),
                 read_parameters(file, path, "momentum_of_parameters", count));
}

}  // namespace selvage::sgd
