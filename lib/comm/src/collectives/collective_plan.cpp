#include "collective_plan.hpp"

#include "allreduce_table_file.hpp"
#include "collectives/algorithms/hierarchical.hpp"
#include "collectives/algorithms/levels.hpp"
#include "collectives/algorithms/part.hpp"
#include "runtime/allreduce_request.hpp"
#include "runtime/measured_job.hpp"
#include "runtime/wait.hpp"

#include <selvage/counted.hpp>
#include <selvage/environment.hpp>
#include <selvage/topo/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

std::string name_of(const Elements& elements) {
  return elements.label.empty() ? "the View" : fmt::format("the View \"{}\"", elements.label);
}

/// "10 fp64", "3 complex fp32".
std::string values_of(const Elements& elements) {
  if (elements.count < 0) return "which has gaps";
  const std::string_view kind = elements.kind == ValueKind::complex_number ? "complex " : "";
  return fmt::format("{} {}{}", elements.count / elements.per_value(), kind, to_string(elements.type));
}

std::string_view article(CollectiveKind kind) {
  return kind == CollectiveKind::allreduce || kind == CollectiveKind::all_gather ? "an" : "a";
}

int number_of(std::optional<AllreduceAlgorithm> algorithm) {
  return algorithm ? static_cast<int>(*algorithm) : -1;
}
std::string name_of_algorithm(int number) {
  return number < 0 ? "none" : std::string(to_string(static_cast<AllreduceAlgorithm>(number)));
}

}  // namespace

CollectivePlan::CollectivePlan(std::shared_ptr<ContextState> context, const Executor& executor,
                               const AllreduceOptions& options, const Elements& elements, const Flow& flow)
    : context_(std::move(context)),
      elements_(elements),
      flow_(flow),
      operation_(options.operation),
      on_host_(executor.runs_on_host()) {
  AllreduceRequest request;
  context_->all_or_none(purpose(), [&] {
    require_sound(executor, options);
    request = read_allreduce_request(options, flow_.kind, executor.runs_on_host());
  });
  require_same_everywhere(request.options);
  tags_ = context_->lease_tags(allreduce_tags);
  static_cast<void>(measured_job(*context_, purpose()));
  ChosenAllreduce chosen{};
  AllreduceFacts known = facts(executor, request.options);
  // A tuning table was measured without a limit on blocks: where max_blocks sets one, the table doesn't apply.
  const bool is_measured =
      flow_.kind == CollectiveKind::allreduce && (known.on_host || options.max_blocks == 0);
  if (!request.options.algorithm && is_measured) known.advice = advice(known);
  context_->all_or_none(purpose(),
                        [&] { chosen = choose_allreduce(known, request.options, request.forced_by); });
  algorithm_ = chosen.entry->algorithm;
  form_ = form_of(algorithm_, request.options);
  why_ = chosen.why;
  if (context_->size() == 1 || elements_.count == 0) return;
  const AllreduceParts parts{.context = *context_,
                             .executor = executor,
                             .elements = elements_,
                             .operation = operation_,
                             .flow = flow_,
                             .first_tag = tags_.first(),
                             .max_blocks = options.max_blocks,
                             .inner = request.options.inner,
                             .outer = request.options.outer,
                             .group_size = request.options.group_size};
  context_->make_mapping(on_host_, [&] { runner_ = chosen.entry->make(parts); });
}

/// Messages of a failed reduction may still arrive. Freeing GPU memory that others map is undefined in CUDA, so all ranks wait for each
/// other between unmapping it and freeing it.
CollectivePlan::~CollectivePlan() {
  if (in_flight_) context_->mark_broken();
  runner_.reset();
  if (!on_host_ && context_->size() > 1) context_->try_barrier();
}

/// Names the collective call in messages.
std::string CollectivePlan::purpose() const {
  return fmt::format("the construction of {} {}", article(flow_.kind), to_string(flow_.kind));
}

void CollectivePlan::require_sound(const Executor& executor, const AllreduceOptions& options) const {
  context_->require_own_device(executor);
  if (options.max_blocks < 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} {} of at most {} blocks: give at least 1, or 0 for as many as help",
                            article(flow_.kind), to_string(flow_.kind), options.max_blocks));
  if (elements_.count < 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} has gaps between its elements: {} {} needs one that is contiguous",
                            name_of(elements_), article(flow_.kind), to_string(flow_.kind)));
  if (flow_.combines()) require_meaning(options.operation);
  if (flow_.root < 0 || flow_.root >= context_->size())
    throw Error(ErrorKind::usage, fmt::format("the root of a {} is rank {} of {}", to_string(flow_.kind),
                                              flow_.root, counted(context_->size(), "rank")));
}

void CollectivePlan::require_meaning(ReduceOperation operation) const {
  const bool is_known = operation == ReduceOperation::sum || operation == ReduceOperation::average;
  if (elements_.kind == ValueKind::complex_number && !is_known)
    throw Error(ErrorKind::unsupported,
                fmt::format("{} holds complex numbers: sum and average combine them, {} doesn't",
                            name_of(elements_), to_string(operation)));
}

ElementRange CollectivePlan::part(int rank) const {
  if (rank < 0 || rank >= context_->size())
    throw Error(ErrorKind::usage, fmt::format("the part of rank {} of {}, shared by {}", rank,
                                              name_of(elements_), counted(context_->size(), "rank")));
  const Part part = part_of(elements_.count, rank, context_->size());
  // Parts begin at multiples of 64 elements.
  return {part.begin / elements_.per_value(), part.count / elements_.per_value()};
}

const Elements& CollectivePlan::elements_to_fill(const Elements& input) {
  require_idle();
  const bool is_alike =
      input.count == elements_.count && input.type == elements_.type && input.kind == elements_.kind;
  if (!is_alike)
    throw Error(ErrorKind::usage,
                fmt::format("{} {} of {}, {}, can't take {}, {}", article(flow_.kind), to_string(flow_.kind),
                            name_of(elements_), values_of(elements_), name_of(input), values_of(input)));
  const auto distance =
      std::abs(reinterpret_cast<std::intptr_t>(input.data) - reinterpret_cast<std::intptr_t>(elements_.data));
  const auto bytes = elements_.count * static_cast<std::int64_t>(element_bytes(elements_.type));
  if (distance != 0 && distance < bytes)
    throw Error(
        ErrorKind::usage,
        fmt::format("{} {} of {} on rank {} can't take {}, which shares memory with it", article(flow_.kind),
                    to_string(flow_.kind), name_of(elements_), context_->rank(), name_of(input)));
  return elements_;
}

void CollectivePlan::require_same_everywhere(const AllreduceOptions& options) const {
  struct Fact {
    std::string_view name;
    int value;
    std::function<std::string(int)> text = [](int number) { return std::to_string(number); };
  };
  const std::int64_t count = elements_.count / elements_.per_value();
  const std::array facts{
      Fact{"the root", flow_.root},
      Fact{"the number of elements", static_cast<int>(count & 0x7fffffff)},
      Fact{"the number of elements, in units of 2^31", static_cast<int>(count >> 31)},
      Fact{"the element type", static_cast<int>(elements_.type),
           [](int value) { return std::string(to_string(static_cast<ElementType>(value))); }},
      Fact{"the operation", static_cast<int>(options.operation),
           [](int value) { return std::string(to_string(static_cast<ReduceOperation>(value))); }},
      Fact{"the option max_blocks", options.max_blocks},
      Fact{"the forced algorithm", number_of(options.algorithm), name_of_algorithm},
      Fact{"the inner algorithm", number_of(options.inner), name_of_algorithm},
      Fact{"the outer algorithm", number_of(options.outer), name_of_algorithm},
      Fact{"the group size", options.group_size},
      Fact{"the option allow_reordering", options.allow_reordering ? 1 : 0,
           [](int value) { return std::string(value != 0 ? "true" : "false"); }}};
  std::vector<int> values;
  for (const Fact& fact : facts) values.push_back(fact.value);
  const auto extremes = context_->extremes(values, purpose());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (extremes[i].smallest == extremes[i].largest) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("ranks make {} {} that differs in {}: {} on rank {}, {} on rank {}", article(flow_.kind),
                    to_string(flow_.kind), facts[i].name, facts[i].text(extremes[i].smallest),
                    extremes[i].smallest_rank, facts[i].text(extremes[i].largest), extremes[i].largest_rank));
  }
}

bool CollectivePlan::has_mapped_views() const {
  const auto bytes = static_cast<std::size_t>(elements_.count) * element_bytes(elements_.type);
  const bool is_mapped = context_->name_memory(elements_.data, bytes, elements_.memory).has_value();
  return context_->extremes({is_mapped ? 1 : 0}, purpose()).front().smallest == 1;
}

AllreduceFacts CollectivePlan::facts(const Executor& executor, const AllreduceOptions& options) const {
  AllreduceFacts facts;
  facts.flow = flow_;
  facts.max_blocks = options.max_blocks;
  facts.ranks = context_->size();
  facts.bytes = elements_.count * static_cast<std::int64_t>(element_bytes(elements_.type));
  facts.on_host = executor.runs_on_host();
  facts.has_mapped_views = facts.on_host && has_mapped_views();
  facts.ranks_share_cores = ranks_share_cores(context_->machine());
  for (const topo::LogicalHost& host : context_->machine().hosts()) facts.hosts.push_back(host.ranks);
  if (!facts.on_host) facts.gpus = first_ranks_of_gpus(context_->machine());
  facts.host_mapping_refusal =
      context_->mapping_refusal(facts.on_host ? MemoryKind::host : MemoryKind::device);
  facts.mapping_refusal = facts.host_mapping_refusal;
  for (int rank = 1; rank < facts.ranks && facts.mapping_refusal.empty(); ++rank) {
    if (!context_->machine().same_host(0, rank))
      facts.mapping_refusal = fmt::format("rank {} is on another host than rank 0", rank);
  }
  facts.hierarchy_refusal = facts.on_host ? facts.host_mapping_refusal : "";
  if (facts.hierarchy_refusal.empty()) facts.hierarchy_refusal = refuse_hierarchy(context_->machine());
  return facts;
}

AllreduceAdvice CollectivePlan::advice(const AllreduceFacts& facts) const {
  return allreduce_table(*context_, purpose())
      .advise(allreduce_job(context_->machine(), facts.on_host, elements_.type), facts.bytes);
}

std::int64_t CollectivePlan::bytes_between_hosts() const {
  return runner_ ? runner_->bytes_between_hosts() : 0;
}

void CollectivePlan::require_idle() {
  if (error_.has_come())
    error_.require_none(fmt::format("{} {}", article(flow_.kind), to_string(flow_.kind)));
  check();
  if (in_flight_)
    throw Error(ErrorKind::usage, fmt::format("operation {} of {} {} is still in flight: finish() it first",
                                              epoch_, article(flow_.kind), to_string(flow_.kind)));
}

std::uint64_t CollectivePlan::start(Executor& executor) {
  require_idle();
  in_flight_ = true;
  ++epoch_;
  if (runner_) error_.noting(*context_, [&] { runner_->start(executor); });
  return epoch_;
}

void CollectivePlan::finish(Executor& executor, std::uint64_t epoch) {
  require_started(epoch);
  error_.noting(*context_, [&] {
    wait_until(
        context_->timeout(), context_->yields(), [&] { return poll(executor, epoch); },
        [&] { return describe_late(); });
  });
}

bool CollectivePlan::poll(Executor& executor, std::uint64_t epoch) {
  require_started(epoch);
  bool is_done = true;
  if (runner_) error_.noting(*context_, [&] { is_done = runner_->progress(executor); });
  if (is_done) in_flight_ = false;
  return is_done;
}

void CollectivePlan::require_started(std::uint64_t epoch) const {
  if (!in_flight_ || epoch != epoch_)
    throw Error(ErrorKind::usage, "finish() needs what start() of the same object gave, once");
}

std::string CollectivePlan::describe_late() const {
  return fmt::format("{} in {}", runner_->describe_late(), what_runs());
}

/// "allreduce 3 of the View "gradients" by two_shot".
std::string CollectivePlan::what_runs() const {
  return fmt::format("{} {} of {} by {}", to_string(flow_.kind), epoch_, name_of(elements_), form_);
}

void CollectivePlan::check() {
  if (!runner_) return;
  error_.noting(*context_, [&] {
    try {
      runner_->check();
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{} in {}", error.message(), what_runs()));
    }
  });
}

std::string CollectivePlan::explain() const {
  const std::string links = measured_job(*context_, purpose()).describe_links();
  const std::string remark = runner_ ? runner_->remark() : "";
  return fmt::format("{} of {} x {} bytes between {}: {} ({}{}{}{}{})\n", to_string(flow_.kind),
                     elements_.count, element_bytes(elements_.type), counted(context_->size(), "rank"), form_,
                     why_, links.empty() ? "" : "; ", links, remark.empty() ? "" : "; ", remark);
}

}  // namespace selvage::detail
