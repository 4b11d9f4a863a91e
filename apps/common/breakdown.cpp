#include "common/breakdown.hpp"

#include <selvage/error.hpp>

namespace selvage::app {

Breakdown::Phase Breakdown::phase(const std::string& name) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].name == name) return Phase{i};
  }
  records_.push_back({.name = name, .label = app_ + "::" + name});
  return Phase{records_.size() - 1};
}

void Breakdown::add(Phase phase, double seconds, std::int64_t calls) {
  auto& record = records_[static_cast<std::size_t>(phase)];
  record.seconds += seconds;
  record.calls += calls;
}

DeviceSpans& Breakdown::spans() {
  if (!spans_) spans_ = make_device_spans();
  return *spans_;
}

double Breakdown::seconds(Phase phase) const {
  const auto number = static_cast<std::size_t>(phase);
  return records_[number].seconds + (spans_ ? spans_->seconds(number) : 0);
}

std::vector<Breakdown::Row> Breakdown::gather(MPI_Comm comm) const {
  const int count = static_cast<int>(records_.size());
  std::vector<double> own(records_.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = seconds(Phase{i});
  std::vector<double> least(own.size()), sum(own.size()), most(own.size());
  check_mpi(MPI_Allreduce(own.data(), least.data(), count, MPI_DOUBLE, MPI_MIN, comm),
            "MPI_Allreduce of times");
  check_mpi(MPI_Allreduce(own.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, comm),
            "MPI_Allreduce of times");
  check_mpi(MPI_Allreduce(own.data(), most.data(), count, MPI_DOUBLE, MPI_MAX, comm),
            "MPI_Allreduce of times");
  int ranks = 1;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < own.size(); ++i) {
    rows.push_back({records_[i].name, records_[i].calls, least[i], sum[i] / ranks, most[i]});
  }
  return rows;
}

}  // namespace selvage::app
