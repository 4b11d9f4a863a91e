// Typed messages around a ring of ranks: ours against MPI's derived datatypes and against packing by hand,
// interleaved in one run. <r> counts ranks or GPUs.
//
// layouts/<layout>/<bytes>/<r>rank: see sample_layouts.hpp. Each transfer is followed by one pass over what was
// received, in all figures; "use alone" is that pass.

#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "hand_packed.hpp"
#include "sample_layouts.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr int rounds = 31;

/// One layout, and every way to send it.
template <class T>
class LayoutTrial {
 public:
  LayoutTrial(const Context& context, const SampleLayout& layout)
      : context_(context),
        layout_(layout),
        elements_(static_cast<std::size_t>(layout.ours.true_upper_bound()) / sizeof(T)),
        source_(allocate()),
        target_(allocate()),
        hand_(hand_packed(Messages::staged)) {
    add_ours("selvage", {});
    add_ours("peer", Transport::peer);
    add_ours("mpi_staged", Transport::mpi_staged);
    add_ours("ring", Transport::ring);
    if (on_host) add_mpi_type();
    add("packed, MPI_Isend", [hand = hand_] { hand->run(); });
    if (!on_host && make_transfer(Transport::mpi_direct))
      add("packed, GPU-aware MPI_Isend", [hand = hand_packed(Messages::direct)] { hand->run(); });
    const auto use = [hand = hand_] { hand->use_received(); };
    contenders_.push_back({"use alone", use, [this, use] {
                             Kokkos::deep_copy(target_, T(2));
                             use();
                             require(
                                 "use alone", [](std::int64_t) { return T(-2); }, T(2));
                           }});
    if (on_host) add_floor();
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

  [[nodiscard]] Figure figure() const { return {.contenders = contenders_, .label = choice_}; }

 private:
  using Data = typename HandPacked<T>::Data;

  [[nodiscard]] int after() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int before() const { return (context_.rank() + context_.size() - 1) % context_.size(); }

  [[nodiscard]] Data allocate() const {
    if constexpr (on_host)
      return Data(static_cast<T*>(context_.allocate_shared(elements_ * sizeof(T))), elements_);
    return Data("layout", elements_);
  }

  [[nodiscard]] std::shared_ptr<HandPacked<T>> hand_packed(Messages messages) const {
    return std::make_shared<HandPacked<T>>(context_.comm(), messages, after(), before(), layout_, source_,
                                           target_);
  }

  /// \return none where this is not possible here
  [[nodiscard]] std::shared_ptr<TypedTransfer> make_transfer(std::optional<Transport> transport) const {
    try {
      return std::make_shared<TypedTransfer>(Space(), context_,
                                             std::vector{transfer_end(after(), source_, layout_.ours)},
                                             std::vector{transfer_end(before(), target_, layout_.ours)},
                                             TypedTransfer::Options{.transport = transport});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      return nullptr;
    }
  }

  void add_ours(const char* name, std::optional<Transport> transport) {
    const std::shared_ptr<TypedTransfer> transfer = make_transfer(transport);
    if (!transfer) return;
    if (!transport) choice_ = first_transport(transfer->explain());
    add(name, [transfer] { transfer->run(Space()); });
  }

  /// Of the first partner's line, which begins "  rank 1: peer, ".
  [[nodiscard]] static std::string first_transport(const std::string& explained) {
    const std::size_t begin = explained.find(": ", explained.find("\n  rank ")) + 2;
    return explained.substr(begin, explained.find(',', begin) - begin);
  }

  void add_mpi_type() {
    add("datatypes, MPI_Isend", [this] {
      MPI_Request requests[2];
      MPI_Irecv(target_.data(), 1, layout_.mpi, before(), 0, context_.comm(), &requests[0]);
      MPI_Isend(source_.data(), 1, layout_.mpi, after(), 0, context_.comm(), &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    });
  }

  /// A copy of as many bytes, side by side, and the pass.
  void add_floor() {
    Contender floor = copy_floor(static_cast<std::size_t>(layout_.ours.size()));
    const auto use = contenders_.back();
    contenders_.push_back({floor.name,
                           [copy = floor.run, use = use.run] {
                             copy();
                             use();
                           },
                           [copy = floor.check, use = use.check] {
                             copy();
                             use();
                           }});
  }

  /// A transfer, followed by one pass over what was received.
  void add(const std::string& name, const std::function<void()>& transfer) {
    const auto run = [transfer, hand = hand_] {
      transfer();
      hand->use_received();
    };
    contenders_.push_back({name, run, [this, name, run] { verify(name, run); }});
  }

  /// The target holds what the pass makes of the sender's elements where the layout has some, and what it held elsewhere.
  void verify(const std::string& name, const std::function<void()>& run) const {
    const auto source = Kokkos::create_mirror_view(source_);
    const auto value = [](int rank, std::int64_t i) {
      return static_cast<T>((i * 7 + rank * 1001) % 1'000'003);
    };
    for (std::size_t i = 0; i < elements_; ++i) source(i) = value(context_.rank(), i);
    Kokkos::deep_copy(source_, source);
    Kokkos::deep_copy(target_, T(-1));
    Kokkos::fence("bench::filled");
    MPI_Barrier(context_.comm());
    run();
    require(
        name, [&](std::int64_t i) { return -value(before(), i); }, T(-1));
    MPI_Barrier(context_.comm());
  }

  template <class Expected>
  void require(const std::string& name, const Expected& expected, T elsewhere) const {
    Kokkos::fence("bench::arrived");
    const auto target = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), target_);
    std::vector<bool> filled(elements_, false);
    for (const std::int64_t block : layout_.blocks) {
      for (std::int64_t i = 0; i < layout_.block_length; ++i) filled[block + i] = true;
    }
    for (std::size_t i = 0; i < elements_; ++i) {
      if (target(i) == (filled[i] ? expected(static_cast<std::int64_t>(i)) : elsewhere)) continue;
      throw Error(ErrorKind::verification,
                  fmt::format("{}: {} leaves element {} wrong", layout_.name, name, i));
    }
  }

  Context context_;
  SampleLayout layout_;
  std::size_t elements_;
  Data source_;
  Data target_;
  std::shared_ptr<HandPacked<T>> hand_;
  std::vector<Contender> contenders_;
  std::string choice_;
};

template <class T>
Figure figure_of(const Context& context, const SampleLayout& layout) {
  const auto trial = std::make_shared<LayoutTrial<T>>(context, layout);
  Figure figure = trial->figure();
  figure.keeps = trial;
  figure.keeps_to_the_end = true;
  return figure;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    for (const SampleLayout& layout : sample_layouts()) {
      const std::string name =
          fmt::format("layouts/{}/{}/{}", layout.name, layout.ours.size(), ranks_text(context.machine()));
      register_figure(name, comm, rounds, [=] {
        return layout.element_bytes == 8 ? figure_of<double>(context, layout)
                                         : figure_of<float>(context, layout);
      });
    }
  });
}
