#include "measure.hpp"

#include "collectives/allreduce_registry.hpp"
#include "fastest.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/error.hpp>
#include <selvage/timing/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace selvage::tune {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

constexpr int rounds = 11;
/// A call that takes so much longer than the fastest algorithm's is not repeated.
constexpr double hopeless_ratio = 4;
constexpr double hopeless_seconds = 10e-3;

template <class T>
using Accumulator = std::conditional_t<sizeof(T) == 2, float, T>;

template <class T>
T rounded(Accumulator<T> value) {
  if constexpr (sizeof(T) == 2) {
    return from_float<T>(value);
  } else {
    return value;
  }
}

/// Whole numbers that are few and small: their sums are exact in any order, and products are powers of two.
template <class A>
A value_at(ReduceOperation operation, int rank, std::size_t index) {
  const std::size_t kinds = operation == ReduceOperation::product ? 2 : 7;
  return static_cast<A>(1 + (index * 3 + static_cast<std::size_t>(rank) * 5) % kinds);
}

template <class A>
A combined(ReduceOperation operation, A a, A b) {
  switch (operation) {
    case ReduceOperation::min:
      return std::min(a, b);
    case ReduceOperation::max:
      return std::max(a, b);
    case ReduceOperation::product:
      // Integers wrap, which only unsigned ones may.
      if constexpr (std::is_integral_v<A>) {
        return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      } else {
        return a * b;
      }
    default:
      return a + b;
  }
}

template <class T>
T expected_at(ReduceOperation operation, int ranks, std::size_t index) {
  using A = Accumulator<T>;
  A value = value_at<A>(operation, 0, index);
  for (int rank = 1; rank < ranks; ++rank)
    value = combined(operation, value, value_at<A>(operation, rank, index));
  if (operation == ReduceOperation::average) value = value / static_cast<A>(ranks);
  return rounded<T>(value);
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (sizeof(T) == 2) {
    return a.bits == b.bits;
  } else {
    return a == b;
  }
}

/// Over rounds. \param value  of a round
template <class Value>
double median(const std::vector<timing::Times>& all, const Value& value) {
  std::vector<double> values;
  for (const timing::Times& times : all) values.push_back(value(times));
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One size: the elements, the algorithms that are possible for them, and how they fare.
template <class T>
class Measurement {
 public:
  Measurement(const Context& context, ReduceOperation operation, std::int64_t bytes)
      : context_(context),
        operation_(operation),
        elements_("selvage-tune", static_cast<std::size_t>(bytes) / sizeof(T)),
        mirror_(Kokkos::create_mirror_view(elements_)) {
    row_.bytes = bytes;
    row_.operation = to_string(operation);
    for (const detail::AllreduceEntry& entry : detail::allreduce_algorithms()) add(entry.algorithm);
    drop_hopeless();
    choose();
  }
  [[nodiscard]] Measured result() const { return {row_, is_noisy_}; }

 private:
  struct Candidate {
    std::string name;
    std::unique_ptr<Allreduce> allreduce;
    double seconds = 0;  ///< of one call
  };

  void add(AllreduceAlgorithm algorithm) {
    Candidate candidate{std::string(to_string(algorithm)), nullptr};
    try {
      candidate.allreduce = std::make_unique<Allreduce>(
          space_, context_, elements_, AllreduceOptions{.operation = operation_, .algorithm = algorithm});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      row_.skipped[candidate.name] = error.message();
      return;
    }
    verify(candidate);
    // Whatever the operation, zeros stay zeros, however many calls follow each other.
    Kokkos::deep_copy(elements_, T{});
    // Of two, since anybody can lose its processor once.
    candidate.seconds = std::min(time_one_call(*candidate.allreduce), time_one_call(*candidate.allreduce));
    candidates_.push_back(std::move(candidate));
  }

  void verify(const Candidate& candidate) {
    for (std::size_t i = 0; i < mirror_.size(); ++i)
      mirror_(i) = rounded<T>(value_at<Accumulator<T>>(operation_, context_.rank(), i));
    Kokkos::deep_copy(elements_, mirror_);
    run(*candidate.allreduce);
    Kokkos::deep_copy(mirror_, elements_);
    int wrong = 0;
    for (std::size_t i = 0; i < mirror_.size(); ++i) {
      if (!same(mirror_(i), expected_at<T>(operation_, context_.size(), i))) wrong = 1;
    }
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, context_.comm()), "MPI_Allreduce");
    if (wrong == 0) return;
    throw Error(ErrorKind::verification, fmt::format("{} gives wrong results on {} ranks: {} of {} bytes",
                                                     candidate.name, wrong, row_.operation, row_.bytes));
  }

  void run(Allreduce& allreduce) {
    allreduce.run(space_);
    space_.fence("selvage-tune");
    allreduce.check();
  }

  double time_one_call(Allreduce& allreduce) {
    check_mpi(MPI_Barrier(context_.comm()), "MPI_Barrier");
    const double start = MPI_Wtime();
    run(allreduce);
    double seconds = MPI_Wtime() - start;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, context_.comm()),
              "MPI_Allreduce");
    return seconds;
  }

  void drop_hopeless() {
    const double fastest = std::ranges::min_element(candidates_, {}, &Candidate::seconds)->seconds;
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      const bool is_hopeless =
          candidate.seconds > hopeless_seconds && candidate.seconds > hopeless_ratio * fastest;
      if (is_hopeless) {
        row_.skipped[candidate.name] = fmt::format("one call took {:.3g} ms, {:.3g} times the fastest's",
                                                   candidate.seconds * 1e3, candidate.seconds / fastest);
      }
      return is_hopeless;
    });
  }

  void choose() {
    std::vector<timing::Timed> timed;
    for (const Candidate& candidate : candidates_) {
      Allreduce& allreduce = *candidate.allreduce;
      // verify() has checked it.
      timed.push_back({candidate.name, [this, &allreduce] { allreduce.run(space_); }});
    }
    timing::Turns turns(context_.comm(), timed);
    std::vector<timing::Times> all;
    for (int round = 0; round < rounds; ++round) all.push_back(turns.round());
    std::vector<std::string> names;
    for (const Candidate& candidate : candidates_) {
      candidate.allreduce->check();
      names.push_back(candidate.name);
      row_.median_us[candidate.name] =
          median(all, [&](const timing::Times& times) { return times.at(candidate.name); }) * 1e6;
    }
    // By ratios within rounds: a machine whose speed drifts treats all alike there.
    row_.best = fastest(names, chosen_by_rule(), [&](const std::string& name, const std::string& other) {
      return median(all, [&](const timing::Times& times) { return times.at(other) / times.at(name); });
    });
    const auto [least, most] =
        std::ranges::minmax(all, {}, [&](const timing::Times& times) { return times.at(row_.best); });
    is_noisy_ = (most.at(row_.best) - least.at(row_.best)) * 1e6 > row_.median_us.at(row_.best);
  }

  std::string chosen_by_rule() {
    const Allreduce chosen(space_, context_, elements_, AllreduceOptions{.operation = operation_});
    const std::string name(to_string(chosen.algorithm()));
    return row_.median_us.contains(name) ? name : candidates_.front().name;
  }

  Context context_;
  ReduceOperation operation_;
  Space space_;
  Kokkos::View<T*, Space> elements_;
  typename Kokkos::View<T*, Space>::HostMirror mirror_;
  std::vector<Candidate> candidates_;
  detail::AllreduceRow row_;
  bool is_noisy_ = false;
};

template <class T>
Measured measure_type(const Context& context, ReduceOperation operation, std::int64_t bytes) {
  return Measurement<T>(context, operation, bytes).result();
}

}  // namespace

Measured measure(const Context& context, detail::ElementType type, ReduceOperation operation,
                 std::int64_t bytes) {
  switch (type) {
    case detail::ElementType::fp64:
      return measure_type<double>(context, operation, bytes);
    case detail::ElementType::fp32:
      return measure_type<float>(context, operation, bytes);
    case detail::ElementType::fp16:
      return measure_type<Half>(context, operation, bytes);
    case detail::ElementType::bf16:
      return measure_type<Bfloat16>(context, operation, bytes);
    case detail::ElementType::int32:
      return measure_type<std::int32_t>(context, operation, bytes);
    case detail::ElementType::int64:
      return measure_type<std::int64_t>(context, operation, bytes);
    default:
      throw Error(ErrorKind::usage, fmt::format("{} isn't measured", to_string(type)));
  }
}

}  // namespace selvage::tune
