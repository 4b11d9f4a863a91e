#pragma once

#include "../support/records.hpp"
#include "../support/trial.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::bench {

/// One size of a sum in place: all our algorithms that are possible here, beside MPI_Allreduce (hosts, fp32) or
/// ncclAllReduce (GPUs), each verified, then timed in turn.
/// \tparam T  float or Bfloat16
template <class T>
class AllreduceTrial {
 public:
  /// Collective. \param in_graph  GPUs: replays a graph of several calls instead of calling
  /// \throws Error{verification}
  AllreduceTrial(const Context& context, std::int64_t bytes, bool in_graph);

  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  /// That of our forms which is chosen by default.
  [[nodiscard]] const std::string& chosen() const { return chosen_; }
  [[nodiscard]] std::string_view algorithm() const { return to_string(allreduces_.front()->algorithm()); }
  /// Of the chosen form: what each rank must send and receive at least, over the time. 2 (n - 1) / n of the bytes.
  [[nodiscard]] double bus_gb_per_s() const;
  [[nodiscard]] Record record() const;
  [[nodiscard]] static std::string name(int ranks, std::int64_t bytes, bool in_graph);

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  using View = Kokkos::View<T*>;

  void add_ours(const std::string& name, const AllreduceOptions& options, const View& view);
  void add_peers();
  void add(const std::string& name, const std::function<void()>& call, const View& view);
  void verify(const std::string& name, const std::function<void()>& call, const View& view) const;

  Context context_;
  std::int64_t bytes_;
  bool in_graph_;
  Space space_;
  std::shared_ptr<void> shared_memory_;  ///< on hosts, where peers map it
  View shared_;
  View own_;
  std::shared_ptr<void> nccl_window_;
  std::vector<std::unique_ptr<Allreduce>> allreduces_;
  std::vector<Contender> contenders_;
  std::string chosen_;
  std::optional<Trial> trial_;
};

}  // namespace selvage::bench
