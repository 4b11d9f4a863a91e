#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/flow.hpp>
#include <selvage/comm/elements.hpp>
#include <selvage/comm/options.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace selvage {
namespace {

using namespace std::string_view_literals;

using detail::CollectiveKind;
constexpr std::array collective_kinds{std::pair{CollectiveKind::allreduce, "Allreduce"sv},
                                      std::pair{CollectiveKind::reduce_scatter, "ReduceScatter"sv},
                                      std::pair{CollectiveKind::all_gather, "AllGather"sv},
                                      std::pair{CollectiveKind::reduce, "Reduce"sv},
                                      std::pair{CollectiveKind::broadcast, "Broadcast"sv}};
constexpr std::array initiations{
    std::pair{Initiation::host, "host"sv}, std::pair{Initiation::stream, "stream"sv},
    std::pair{Initiation::queue, "queue"sv}, std::pair{Initiation::kernel, "kernel"sv}};
constexpr std::array transports{
    std::pair{Transport::peer, "peer"sv}, std::pair{Transport::copy_engine, "copy_engine"sv},
    std::pair{Transport::mpi_direct, "mpi_direct"sv}, std::pair{Transport::mpi_staged, "mpi_staged"sv},
    std::pair{Transport::ring, "ring"sv}};

constexpr std::array element_types{
    std::pair{detail::ElementType::fp64, "fp64"sv},     std::pair{detail::ElementType::fp32, "fp32"sv},
    std::pair{detail::ElementType::fp16, "fp16"sv},     std::pair{detail::ElementType::bf16, "bf16"sv},
    std::pair{detail::ElementType::int32, "int32"sv},   std::pair{detail::ElementType::int64, "int64"sv},
    std::pair{detail::ElementType::uint32, "uint32"sv}, std::pair{detail::ElementType::uint64, "uint64"sv},
    std::pair{detail::ElementType::int16, "int16"sv},   std::pair{detail::ElementType::uint16, "uint16"sv},
    std::pair{detail::ElementType::int8, "int8"sv},     std::pair{detail::ElementType::uint8, "uint8"sv}};
constexpr std::array reduce_operations{
    std::pair{ReduceOperation::sum, "sum"sv}, std::pair{ReduceOperation::average, "average"sv},
    std::pair{ReduceOperation::min, "min"sv}, std::pair{ReduceOperation::max, "max"sv},
    std::pair{ReduceOperation::product, "product"sv}};
constexpr std::array allreduce_algorithms{
    std::pair{AllreduceAlgorithm::one_shot, "one_shot"sv},
    std::pair{AllreduceAlgorithm::one_shot_ll128, "one_shot_ll128"sv},
    std::pair{AllreduceAlgorithm::two_shot, "two_shot"sv},
    std::pair{AllreduceAlgorithm::two_shot_ll128, "two_shot_ll128"sv},
    std::pair{AllreduceAlgorithm::two_shot_push, "two_shot_push"sv},
    std::pair{AllreduceAlgorithm::two_shot_copy_engine, "two_shot_copy_engine"sv},
    std::pair{AllreduceAlgorithm::copy_engine, "copy_engine"sv},
    std::pair{AllreduceAlgorithm::shared_buffer_tree, "shared_buffer_tree"sv},
    std::pair{AllreduceAlgorithm::hierarchical, "hierarchical"sv},
    std::pair{AllreduceAlgorithm::mpi, "mpi"sv},
    std::pair{AllreduceAlgorithm::nccl, "nccl"sv},
    std::pair{AllreduceAlgorithm::binomial_tree, "binomial_tree"sv},
    std::pair{AllreduceAlgorithm::recursive_doubling, "recursive_doubling"sv},
    std::pair{AllreduceAlgorithm::ring, "ring"sv},
    std::pair{AllreduceAlgorithm::segmented_ring, "segmented_ring"sv},
    std::pair{AllreduceAlgorithm::recursive_doubling_ll, "recursive_doubling_ll"sv},
    std::pair{AllreduceAlgorithm::multi_ring, "multi_ring"sv},
    std::pair{AllreduceAlgorithm::pipelined, "pipelined"sv}};

std::string_view name_in(const auto& table, auto value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  return "unknown";
}

auto value_in(const auto& table, std::string_view text, std::string_view what) {
  std::string names;
  for (const auto& [value, name] : table) {
    if (name == text) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  throw Error(ErrorKind::input, fmt::format("\"{}\" is no {}: there are {}", text, what, names));
}

}  // namespace

std::string_view to_string(Initiation initiation) {
  return name_in(initiations, initiation);
}
std::string_view to_string(Transport transport) {
  return name_in(transports, transport);
}
std::string_view detail::to_string(ElementType type) {
  return name_in(element_types, type);
}
std::string_view detail::to_string(CollectiveKind kind) {
  return name_in(collective_kinds, kind);
}
std::string_view to_string(ReduceOperation operation) {
  return name_in(reduce_operations, operation);
}
std::string_view to_string(AllreduceAlgorithm algorithm) {
  return name_in(allreduce_algorithms, algorithm);
}
AllreduceAlgorithm parse_allreduce_algorithm(std::string_view text) {
  // What Faraji's thesis calls them.
  if (text == "gsb") return AllreduceAlgorithm::shared_buffer_tree;
  if (text == "btb") return AllreduceAlgorithm::binomial_tree;
  return value_in(allreduce_algorithms, text, "allreduce algorithm");
}
Initiation parse_initiation(std::string_view text) {
  return value_in(initiations, text, "initiation");
}
Transport parse_transport(std::string_view text) {
  return value_in(transports, text, "transport");
}

}  // namespace selvage
