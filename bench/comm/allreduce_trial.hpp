#pragma once

#include "../support/figure.hpp"

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
/// ncclAllReduce (GPUs), each verified.
/// \tparam T  float or Bfloat16
template <class T>
class AllreduceTrial {
 public:
  /// Collective. \param in_graph  GPUs: replays a graph of several calls instead of calling
  AllreduceTrial(const Context& context, std::int64_t bytes, bool in_graph);

  AllreduceTrial(const AllreduceTrial&) = delete;
  AllreduceTrial& operator=(const AllreduceTrial&) = delete;

  /// What is chosen by default first. What it calls is this.
  [[nodiscard]] Figure figure() const;
  [[nodiscard]] static std::string name(const Context& context, std::int64_t bytes, bool in_graph);

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  using View = Kokkos::View<T*>;

  void add_ours(const std::string& name, const AllreduceOptions& options, const View& view);
  void add_peers();
  void add(const std::string& name, const std::function<void()>& call, const View& view);
  void verify(const std::string& name, const std::function<void()>& run, int sums, const View& view) const;

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
};

}  // namespace selvage::bench
