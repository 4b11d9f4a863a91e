#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/bucket_parts.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/elements.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage {

namespace detail {
class BucketPlan;
}

/// Averages many Views over all ranks of a Context, in place, while later ones are still being computed: Views are fused
/// into buckets, and a bucket is reduced as soon as its last View is ready. run() does it for Views that are all there: an allreduce
/// of several Views in one call, by any operation.
///
/// In the first step nothing is known of the order in which gradients become ready: finish() reduces all of them, then
/// buckets are made for the order of rank 0. In later steps gradients may become ready in any order, which may
/// differ between ranks; buckets are reduced in the order of the first step. Neither buckets nor order change a bit of the result.
///
/// Gradients that follow each other in memory when they are in one bucket, as subviews of one allocation, are reduced
/// where they lie; others are packed, on the communication's own instance.
///
/// All ranks register the same Views in the same order, and make every step. Not thread-safe. The Views must stay
/// allocated, at the same address, as long as this lives.
///
/// Source: Li et al., PyTorch Distributed (VLDB 2020), for buckets; order, bits and the report are this project's.
class GradientBuckets {
 public:
  /// What is computed, and how. The same on all ranks.
  struct Options {
    ReduceOperation operation = ReduceOperation::average;
    /// Of every bucket, as in AllreduceOptions.
    std::optional<AllreduceAlgorithm> algorithm = {};
    /// As in AllreduceOptions. By default 12: a step takes about as long as with all multiprocessors, and kernels that run beside
    /// the sums hide more of them.
    std::optional<int> max_blocks = {};
    /// Allow another order than by rank, as in AllreduceOptions.
    bool allow_reordering = false;
    /// The most bytes of a bucket; a single larger gradient is a bucket of its own.
    std::int64_t bucket_bytes = std::int64_t{25} << 20;
    /// Whether fp32 gradients travel, and are rounded, as bf16; they are combined in fp32 as ever.
    bool bf16_on_the_wire = false;
    /// Whether a bucket's kernels run on a stream of the highest priority.
    bool high_priority = true;
  };

  /// What became of a bucket in the step that was finished last.
  struct Report {
    std::vector<int> gradients;  ///< by the order in which they become ready
    std::int64_t bytes = 0;      ///< on the wire
    bool is_in_place = false;    ///< reduced where the gradients lie, without being packed
    AllreduceAlgorithm algorithm = AllreduceAlgorithm::mpi;
    /// From the last gradient being ready, or the bucket before being done, to the result.
    double seconds = 0;
    double hidden = 0;   ///< of these, while the caller still computed
    double exposed = 0;  ///< of these, while it waited in finish()
  };

  /// Collective over the context's communicator.
  /// \param space      of the kind whose instances ready() and finish() are given
  /// \param gradients  Views of any rank, contiguous, all in the space's memory
  /// \throws Error{usage} on every rank, for a View with gaps, and lists or options that differ between ranks;
  ///         Error{unsupported}: a forced algorithm that isn't possible, and why
  template <class Space, class... Views>
  GradientBuckets(const Space& space, const Context& context, const Options& options,
                  const Views&... gradients)
      : GradientBuckets(space, context, options, {detail::describe_elements(gradients)...}, {}, NoUpdate()) {
    static_assert((Kokkos::SpaceAccessibility<Space, typename Views::memory_space>::accessible && ...),
                  "the execution space can't reach a View's memory space");
  }
  /// The same for Views of one type.
  template <class Space, class View>
  GradientBuckets(const Space& space, const Context& context, const Options& options,
                  const std::vector<View>& gradients)
      : GradientBuckets(space, context, options, describe_all(gradients), {}, NoUpdate()) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                  "the execution space can't reach the Views' memory space");
  }
  GradientBuckets(GradientBuckets&&) noexcept;
  GradientBuckets& operator=(GradientBuckets&&) noexcept;
  ~GradientBuckets();

  /// Says that the work enqueued on `space` so far computes a gradient. Until finish() the gradient must be neither read nor
  /// written. Never waits for another rank; on hosts it also advances buckets in flight.
  /// \param gradient  its number, in the order of registration
  /// \throws Error{usage} for one that isn't registered, or is ready already
  template <class Space>
  void ready(const Space& space, int gradient) {
    detail::KokkosExecutor<Space> executor(space);
    ready_on(executor, gradient);
  }
  /// ready() of every gradient, and finish().
  template <class Space>
  void run(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    run_on(executor);
  }
  /// What `space` is given next sees the results of all buckets but the last, which travels on meanwhile: for work that
  /// needn't wait for it, as an update of parameters. finish() comes later; until then no bucket is exposed in reports.
  /// Blocks and throws as finish().
  /// \return the gradients of the last bucket, valid until the next step; all of them where there is one bucket
  template <class Space>
  std::span<const int> finish_all_but_last(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    return finish_all_but_last_on(executor);
  }
  /// What `space` is given next sees all results. Blocks until done on hosts, and in the first step.
  /// \throws Error{usage} that names a gradient that isn't ready; Error{timeout} that names the late rank
  template <class Space>
  void finish(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    finish_on(executor);
  }

  /// Throws what the device found while it waited; see HaloExchange::check.
  void check() const;
  /// Of all buckets, in the order in which they are reduced; empty before the first step is finished. Waits until the
  /// last step is done. Times are 0 for the first step, and for one captured in a graph.
  [[nodiscard]] std::vector<Report> report() const;
  /// By which algorithm each bucket is reduced, and why: a line each, or several, in the order of report(). Doesn't wait.
  [[nodiscard]] std::string explain() const;

 protected:
  struct NoUpdate {};
  /// \param update  NoUpdate, or what is called with (instance, gradient, shard)
  template <class Space, class Update>
  GradientBuckets(const Space& space, const Context& context, const Options& options,
                  std::vector<detail::Elements> gradients, std::vector<detail::Elements> parameters,
                  Update update) {
    const detail::DeviceScope scope(context.device());
    detail::BucketParts parts;
    parts.gradients = std::move(gradients);
    parts.parameters = std::move(parameters);
    parts.timeline = detail::make_bucket_timeline(detail::is_host_space<Space>, options.high_priority);
    add_space(parts, detail::instance_of_stream(space, parts.timeline->stream()), std::move(update));
    plan_ = make_plan(context, options, std::move(parts));
  }
  /// Kokkos must be through with an instance before its stream goes, with the timeline: nothing but the parts keeps it.
  template <class Space, class Update>
  static void add_space(detail::BucketParts& parts, const Space& communication, Update update) {
    parts.communication = std::make_unique<detail::KokkosExecutor<Space>>(communication);
    parts.caster = std::make_unique<detail::KokkosCaster<Space>>(communication);
    if constexpr (!std::is_same_v<Update, NoUpdate>)
      parts.update = std::make_unique<detail::UpdateOnSpace<Space, Update>>(communication, std::move(update));
  }
  template <class View>
  static std::vector<detail::Elements> describe_all(const std::vector<View>& views) {
    std::vector<detail::Elements> described;
    for (const View& view : views) described.push_back(detail::describe_elements(view));
    return described;
  }

 private:
  static std::shared_ptr<detail::BucketPlan> make_plan(const Context& context, const Options& options,
                                                       detail::BucketParts&& parts);
  void ready_on(detail::Executor& executor, int gradient);
  void run_on(detail::Executor& executor);
  std::span<const int> finish_all_but_last_on(detail::Executor& executor);
  void finish_on(detail::Executor& executor);

  std::shared_ptr<detail::BucketPlan> plan_;
};

}  // namespace selvage
