#include "sgd/model/cross_entropy.hpp"

#include "sgd/sums/fixed_point.hpp"

namespace selvage::sgd {
namespace {

/// A team per sample.
struct CrossEntropy {
  std::int64_t first;
  Outcome outcome;
  StepFigures figures;

  [[nodiscard]] KOKKOS_FUNCTION float logit(std::int64_t sample, int j) const {
    return outcome.logits(sample, j) + outcome.bias[j];
  }

  KOKKOS_FUNCTION void operator()(const RowTeams::member_type& team) const {
    const std::int64_t sample = first + team.league_rank();
    const int classes = outcome.logits.extent_int(1);
    const int label = outcome.labels(sample);
    const float of_label = logit(sample, label);
    float top = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, classes),
        [&](const int j, float& most) { most = Kokkos::max(most, logit(sample, j)); },
        Kokkos::Max<float>(top));
    int before = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, classes),
        [&](const int j, int& count) {
          const float other = logit(sample, j);
          if (other > of_label || (other == of_label && j < label)) ++count;
        },
        before);
    float sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, classes),
        [&](const int j, float& part) { part += Kokkos::exp(logit(sample, j) - top); }, sum);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, classes), [&](const int j) {
      outcome.errors(sample, j) = Kokkos::exp(logit(sample, j) - top) / sum - (j == label ? 1.0F : 0.0F);
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      note(Kokkos::log(sum) - (of_label - top), before == 0);
      if (team.league_rank() == 0) figures.next() = figures.current() + 1;
    });
  }

  KOKKOS_FUNCTION void note(float loss, bool is_recognised) const {
    if (fixed_point::fits(loss)) {
      figures.add(StepFigures::loss, fixed_point::from_real(loss));
    } else {
      figures.add(StepFigures::unusable_samples, 1);
      if (!Kokkos::isfinite(loss)) figures.mark(StepFigures::unusable_layer, outcome.layer);
    }
    if (is_recognised) figures.add(StepFigures::correct, 1);
  }
};

}  // namespace

void cross_entropy(const Space& space, SampleRange range, const Outcome& outcome,
                   const StepFigures& figures) {
  if (range.size() == 0) return;
  Kokkos::parallel_for("sgd::loss", teams_of_rows(space, range.size(), outcome.logits.extent_int(1)),
                       CrossEntropy{range.begin, outcome, figures});
}

}  // namespace selvage::sgd
