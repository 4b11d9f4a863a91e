#include "common/breakdown.hpp"

#include "common/rank_sums.hpp"

#include <algorithm>
#include <utility>

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
  std::vector<double> own(records_.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = seconds(Phase{i});
  const std::vector<double> all = gather_everywhere(comm, "the times of phases", own);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < own.size(); ++i) {
    Row row{records_[i].name, records_[i].calls, own[i], 0, own[i]};
    for (std::size_t place = i; place < all.size(); place += own.size()) {
      row.min_s = std::min(row.min_s, all[place]);
      row.avg_s += all[place];
      row.max_s = std::max(row.max_s, all[place]);
    }
    row.avg_s /= static_cast<double>(all.size() / own.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace selvage::app
