#include "allreduce_trial.hpp"

#include "../support/graph.hpp"
#include "../support/machine_facts.hpp"
#include "../support/on_host.hpp"
#include "nccl_allreduce.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int calls_per_graph = 20;

template <class T>
constexpr bool is_16_bit = sizeof(T) == 2;
template <class T>
constexpr float epsilon = is_16_bit<T> ? 0x1p-8F : 0x1p-24F;
template <class T>
constexpr std::string_view type_name = is_16_bit<T> ? "bf16" : "fp32";

/// Sums of these are exact, whatever their order: whole numbers below 256 for 16-bit types, and so small where several sums
/// follow each other, each as many times as large as there are ranks, that the last is exact too.
template <class T>
float value_at(int rank, std::size_t index, int sums) {
  const std::size_t period = is_16_bit<T> ? 7 : 97;
  const float value = static_cast<float>(rank + 1) * static_cast<float>(index % period + 1);
  return sums == 1 ? value : std::ldexp(value, -2 * sums);
}
template <class T>
T element_of(float value) {
  if constexpr (is_16_bit<T>) {
    return from_float<T>(value);
  } else {
    return value;
  }
}
template <class T>
float value_of(T element) {
  if constexpr (is_16_bit<T>) {
    return to_float(element);
  } else {
    return element;
  }
}

struct Form {
  std::string name;
  AllreduceOptions options;
};

/// All that may win; those in another order than by rank where SELVAGE_ALLREDUCE_REORDERING=yes. One-shot forms move everything
/// to everybody, LL doubles the bytes, and what goes through host memory blocks.
std::vector<Form> forms(std::int64_t bytes) {
  using enum AllreduceAlgorithm;
  constexpr std::int64_t megabyte = 1 << 20;
  std::vector<Form> all;
  const auto add = [&](const AllreduceOptions& options, const std::string& detail = {}) {
    all.push_back({std::string(to_string(*options.algorithm)) + detail, options});
  };
  if (bytes <= (on_host ? megabyte : megabyte / 4)) add({.algorithm = one_shot});
  add({.algorithm = two_shot});
  if (!on_host) {
    if (bytes <= megabyte) {
      for (const auto algorithm : {one_shot_ll128, recursive_doubling_ll}) add({.algorithm = algorithm});
    }
    if (bytes <= 16 * megabyte) add({.algorithm = two_shot_ll128});
    for (const auto algorithm : {two_shot_copy_engine, copy_engine, two_shot_push, multi_ring})
      add({.algorithm = algorithm});
    // What host threads carry on can't be captured.
    if (bytes > megabyte) {
      add({.algorithm = nccl});
      for (const auto outer : {mpi, nccl, two_shot})
        add({.algorithm = hierarchical, .inner = two_shot, .outer = outer},
            fmt::format(":two_shot,{}", to_string(outer)));
      add({.algorithm = hierarchical, .inner = two_shot, .outer = two_shot, .group_size = 2},
          ":two_shot,two_shot:2");
      add({.algorithm = pipelined});
    }
    return all;
  }
  for (const auto algorithm : {mpi, shared_buffer_tree, hierarchical}) add({.algorithm = algorithm});
  for (const auto algorithm : {binomial_tree, recursive_doubling, ring, segmented_ring, pipelined})
    add({.algorithm = algorithm});
  add({.algorithm = pipelined, .group_size = 2}, ":2");
  for (const auto inner : {shared_buffer_tree, binomial_tree}) {
    for (const auto outer : {shared_buffer_tree, binomial_tree, recursive_doubling, ring, mpi})
      add({.algorithm = hierarchical, .inner = inner, .outer = outer},
          fmt::format(":{},{}", to_string(inner), to_string(outer)));
  }
  return all;
}

}  // namespace

template <class T>
AllreduceTrial<T>::AllreduceTrial(const Context& context, std::int64_t bytes, bool in_graph)
    : context_(context), bytes_(bytes), in_graph_(in_graph), space_(make_instance()) {
  const auto count = static_cast<std::size_t>(bytes) / sizeof(T);
  own_ = View("own", count);
  shared_ = own_;
  if (on_host) {
    shared_memory_ = std::shared_ptr<void>(context.allocate_shared(static_cast<std::size_t>(bytes)),
                                           [context](void* block) { context.deallocate_shared(block); });
    shared_ = View(static_cast<T*>(shared_memory_.get()), count);
  }
  add_ours("selvage", {}, shared_);
  if (on_host) add_ours("selvage, own memory", {}, own_);
  for (const Form& form : forms(bytes)) {
    add_ours(form.name, form.options, shared_);
    if (on_host && form.options.algorithm == AllreduceAlgorithm::two_shot)
      add_ours("two_shot, own memory", form.options, own_);
  }
  add_peers();
}

/// Leaves out what is not possible here.
template <class T>
void AllreduceTrial<T>::add_ours(const std::string& name, const AllreduceOptions& options, const View& view) {
  try {
    allreduces_.push_back(std::make_unique<Allreduce>(space_, context_, view, options));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return;
  }
  Allreduce& allreduce = *allreduces_.back();
  add(
      name, [this, &allreduce] { allreduce.run(space_); }, view);
}

template <class T>
void AllreduceTrial<T>::add_peers() {
  if (on_host) {
    if (is_16_bit<T>) return;
    const auto call = [this] {
      MPI_Allreduce(MPI_IN_PLACE, own_.data(), static_cast<int>(own_.size()), MPI_FLOAT, MPI_SUM,
                    context_.comm());
    };
    return add("MPI_Allreduce", call, own_);
  }
  if (const auto call = make_nccl_allreduce(context_, space_, own_)) add("NCCL", call, own_);
  const std::shared_ptr<void> window = allocate_nccl_window(context_, static_cast<std::size_t>(bytes_));
  if (window == nullptr) return;
  nccl_window_ = window;
  const View registered(static_cast<T*>(window.get()), own_.size());
  add("NCCL, symmetric window", make_nccl_allreduce(context_, space_, registered), registered);
}

template <class T>
void AllreduceTrial<T>::add(const std::string& name, const std::function<void()>& call, const View& view) {
  std::function<void()> run = call;
  int units = 1;
  if (in_graph_) {
    // What first calls allocate can't be captured.
    call();
    Kokkos::fence();
    units = calls_per_graph;
    run = capture(space_, [&] {
      for (int i = 0; i < calls_per_graph; ++i) call();
    });
  }
  const auto check = [this, name, run, units, view] { verify(name, run, units, view); };
  contenders_.push_back({name, run, check, units});
}

/// One run may be several sums in place, as of a graph: each adds up what the one before left, the same on all ranks. Then zeros
/// are left, whose sums stay zeros however many follow each other.
template <class T>
void AllreduceTrial<T>::verify(const std::string& name, const std::function<void()>& run, int sums,
                               const View& view) const {
  const auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < mirror.size(); ++i)
    mirror(i) = element_of<T>(value_at<T>(context_.rank(), i, sums));
  Kokkos::deep_copy(view, mirror);
  MPI_Barrier(context_.comm());
  run();
  Kokkos::fence();
  Kokkos::deep_copy(mirror, view);
  // As many times as large is exact for powers of two; for other numbers each addition may round.
  const bool is_exact = sums == 1 || std::has_single_bit(static_cast<unsigned>(context_.size()));
  const float slack = is_exact ? 0 : static_cast<float>(sums * context_.size()) * epsilon<T>;
  int wrong = 0;
  for (std::size_t i = 0; i < mirror.size(); ++i) {
    float expected = 0;
    for (int rank = 0; rank < context_.size(); ++rank) expected += value_at<T>(rank, i, sums);
    for (int more = 1; more < sums; ++more) expected *= static_cast<float>(context_.size());
    if (std::fabs(value_of(mirror(i)) - expected) > slack * expected) ++wrong;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, context_.comm());
  if (wrong > 0)
    throw Error(ErrorKind::verification,
                fmt::format("{} leaves {} wrong elements of {} bytes", name, wrong, bytes_));
  Kokkos::deep_copy(view, T{});
}

template <class T>
Figure AllreduceTrial<T>::figure() const {
  const double share = 2.0 * (context_.size() - 1) / context_.size();
  // What each rank must send and receive at least, over the time.
  const auto bus = [bytes = share * static_cast<double>(bytes_)](const Times& times) {
    return std::map<std::string, double>{{"bus, GB/s", bytes / times.at("selvage") * 1e-9}};
  };
  return {.contenders = contenders_,
          .label = std::string(to_string(allreduces_.front()->algorithm())),
          .derive = bus,
          .batch_seconds = on_host ? 1e-3 : 1e-2};
}

template <class T>
std::string AllreduceTrial<T>::name(const Context& context, std::int64_t bytes, bool in_graph) {
  return fmt::format("allreduce/{}/{}/{}{}", type_name<T>, ranks_text(context.machine()), bytes,
                     in_graph ? "/graph" : "");
}

template class AllreduceTrial<float>;
template class AllreduceTrial<Bfloat16>;

}  // namespace selvage::bench
