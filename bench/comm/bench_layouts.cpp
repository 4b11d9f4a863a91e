// Typed messages around a ring of ranks: ours against MPI's derived datatypes and against packing by hand,
// interleaved in one run. <r> counts ranks or GPUs.
//
// layouts/<layout>/<bytes>/<r>rank: see sample_layouts.hpp. Each transfer is followed by one pass over what was
// received, in all figures; "use_alone" is that pass.

#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "hand_packed.hpp"
#include "sample_layouts.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr int rounds = 31;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

/// One layout, and every way to send it.
template <class T>
class LayoutTrial {
 public:
  LayoutTrial(const Context& context, const SampleLayout& layout)
      : context_(context),
        layout_(layout),
        elements_(static_cast<std::size_t>(layout.ours.true_upper_bound()) / sizeof(T)),
        source_(allocate()),
        target_(allocate()) {
    add_ours("chosen", {});
    add_ours("peer", Transport::peer);
    add_ours("mpi_staged", Transport::mpi_staged);
    add_ours("ring", Transport::ring);
    if (on_host) add_mpi_type();
    auto hand =
        std::make_shared<HandPacked<T>>(context_.comm(), after(), before(), layout_, source_, target_);
    contenders_.push_back({"hand_packed", [hand] { hand->run(); }});
    for (const Contender& contender : contenders_) verify(contender);
    for (Contender& contender : contenders_) {
      contender.run = [transfer = std::move(contender.run), hand] {
        transfer();
        hand->use_received();
      };
    }
    contenders_.push_back({"use_alone", [hand] { hand->use_received(); }});
    trial_ = std::make_unique<Trial>(context_.comm(), contenders_, rounds);
  }
  LayoutTrial(const LayoutTrial&) = delete;
  LayoutTrial& operator=(const LayoutTrial&) = delete;
  ~LayoutTrial() {
    contenders_.clear();
    MPI_Barrier(context_.comm());
    if (!on_host) return;
    context_.deallocate_shared(source_.data());
    context_.deallocate_shared(target_.data());
  }

  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] Record record(const std::string& name) const {
    Record record;
    record.name = name;
    record.unit = "us/transfer";
    record.choice = choice_;
    record.value = trial_->median("chosen") * 1e6;
    record.verified = true;
    record.repetitions = rounds;
    record.spread = trial_->spread("chosen");
    for (const Contender& contender : contenders_)
      record.peers[contender.name] = trial_->median(contender.name) * 1e6;
    return record;
  }

 private:
  using Data = typename HandPacked<T>::Data;

  [[nodiscard]] int after() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int before() const { return (context_.rank() + context_.size() - 1) % context_.size(); }

  [[nodiscard]] Data allocate() const {
    if constexpr (on_host)
      return Data(static_cast<T*>(context_.allocate_shared(elements_ * sizeof(T))), elements_);
    return Data("layout", elements_);
  }

  void add_ours(const char* name, std::optional<Transport> transport) {
    auto transfer = std::make_shared<TypedTransfer>(
        Space(), context_, std::vector{transfer_end(after(), source_, layout_.ours)},
        std::vector{transfer_end(before(), target_, layout_.ours)}, TransferOptions{.transport = transport});
    if (!transport) choice_ = first_transport(transfer->explain());
    contenders_.push_back({name, [transfer] { transfer->run(Space()); }});
  }

  /// Of the first partner's line, which begins "  rank 1: peer, ".
  [[nodiscard]] static std::string first_transport(const std::string& explained) {
    const std::size_t begin = explained.find(": ", explained.find("\n  rank ")) + 2;
    return explained.substr(begin, explained.find(',', begin) - begin);
  }

  void add_mpi_type() {
    contenders_.push_back(
        {"mpi_type", [this] {
           MPI_Request requests[2];
           MPI_Irecv(target_.data(), 1, layout_.mpi, before(), 0, context_.comm(), &requests[0]);
           MPI_Isend(source_.data(), 1, layout_.mpi, after(), 0, context_.comm(), &requests[1]);
           MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
         }});
  }

  /// The target holds the sender's elements where the layout has some, and what it held elsewhere.
  void verify(const Contender& contender) const {
    const auto source = Kokkos::create_mirror_view(source_);
    const auto target = Kokkos::create_mirror_view(target_);
    const auto value = [](int rank, std::int64_t i) {
      return static_cast<T>((i * 7 + rank * 1001) % 1'000'003);
    };
    for (std::size_t i = 0; i < elements_; ++i) source(i) = value(context_.rank(), i);
    Kokkos::deep_copy(source_, source);
    Kokkos::deep_copy(target_, T(-1));
    Kokkos::fence("bench::filled");
    MPI_Barrier(context_.comm());
    contender.run();
    Kokkos::fence("bench::arrived");
    Kokkos::deep_copy(target, target_);
    std::vector<bool> filled(elements_, false);
    for (const std::int64_t block : layout_.blocks) {
      for (std::int64_t i = 0; i < layout_.block_length; ++i) filled[block + i] = true;
    }
    for (std::size_t i = 0; i < elements_; ++i) {
      if (target(i) == (filled[i] ? value(before(), i) : T(-1))) continue;
      throw Error(ErrorKind::verification,
                  fmt::format("{}: {} leaves element {} wrong", layout_.name, contender.name, i));
    }
    MPI_Barrier(context_.comm());
  }

  Context context_;
  SampleLayout layout_;
  std::size_t elements_;
  Data source_;
  Data target_;
  std::vector<Contender> contenders_;
  std::string choice_;
  std::unique_ptr<Trial> trial_;
};

/// One Google Benchmark per layout: its time is that of the chosen transport, the counters are everyone else's.
template <class T>
Figure figure_of(const Context& context, const SampleLayout& layout, const std::string& name) {
  const LayoutTrial<T> layout_trial(context, layout);
  const Trial& trial = layout_trial.trial();
  Figure figure{.seconds = trial.median("chosen"), .records = {layout_trial.record(name)}};
  for (const Contender& contender : layout_trial.contenders()) {
    figure.counters[contender.name + "_us"] = trial.median(contender.name) * 1e6;
    figure.counters["speedup_over_" + contender.name] = trial.speedup("chosen", contender.name);
  }
  return figure;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const selvage::Context context(comm);
    for (const SampleLayout& layout : sample_layouts()) {
      const std::string name = fmt::format("layouts/{}/{}/{}{}", layout.name, layout.ours.size(),
                                           context.size(), on_host ? "rank" : "gpu");
      register_figure(name, records, [=] {
        return layout.element_bytes == 8 ? figure_of<double>(context, layout, name)
                                         : figure_of<float>(context, layout, name);
      });
    }
  });
}
