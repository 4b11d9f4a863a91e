#include "allreduce_request.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <system_error>

namespace selvage::detail {
namespace {

using Algorithm = AllreduceAlgorithm;

constexpr std::array inner_algorithms{Algorithm::shared_buffer_tree, Algorithm::binomial_tree,
                                      Algorithm::two_shot};
constexpr std::array outer_algorithms{Algorithm::shared_buffer_tree,
                                      Algorithm::binomial_tree,
                                      Algorithm::recursive_doubling,
                                      Algorithm::ring,
                                      Algorithm::mpi,
                                      Algorithm::nccl,
                                      Algorithm::two_shot};

void require_one_of(std::string_view level, std::optional<Algorithm> algorithm,
                    std::span<const Algorithm> possible) {
  if (!algorithm || std::ranges::find(possible, *algorithm) != possible.end()) return;
  std::string names;
  for (const Algorithm each : possible)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(each));
  throw Error(ErrorKind::usage, fmt::format("{} can't be the {} algorithm of an Allreduce: there are {}",
                                            to_string(*algorithm), level, names));
}

void require_coherent(const AllreduceOptions& options) {
  const bool is_hierarchical = options.algorithm == Algorithm::hierarchical;
  const bool is_pipelined = options.algorithm == Algorithm::pipelined;
  if ((options.inner || options.outer) && !is_hierarchical && !is_pipelined)
    throw Error(ErrorKind::usage,
                "the options inner and outer of an Allreduce are for hierarchical and pipelined");
  const bool has_groups = is_pipelined || (is_hierarchical && options.outer == Algorithm::two_shot);
  if (options.group_size != 0 && !has_groups)
    throw Error(ErrorKind::usage,
                "the option group_size of an Allreduce is for pipelined, and for hierarchical with two_shot "
                "as outer");
  if (options.group_size < 0)
    throw Error(ErrorKind::usage,
                fmt::format("the group_size {} of an Allreduce is negative", options.group_size));
  require_one_of("inner", options.inner, inner_algorithms);
  require_one_of("outer", options.outer, outer_algorithms);
}

int parse_group_size(std::string_view text) {
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1)
    throw Error(ErrorKind::input,
                fmt::format("\"{}\" is no group size: pipelined:2 has groups of two ranks", text));
  return size;
}

}  // namespace

void parse_forced_allreduce(std::string_view text, AllreduceOptions& options) {
  const std::size_t colon = text.find(':');
  options.algorithm = parse_allreduce_algorithm(text.substr(0, colon));
  if (colon == std::string_view::npos) return;
  const std::string_view details = text.substr(colon + 1);
  if (options.algorithm == Algorithm::pipelined) {
    options.group_size = parse_group_size(details);
    return;
  }
  const std::size_t comma = details.find(',');
  if (options.algorithm != Algorithm::hierarchical || comma == std::string_view::npos)
    throw Error(
        ErrorKind::input,
        "only hierarchical:INNER,OUTER[:GROUP_SIZE] and pipelined:GROUP_SIZE have something behind a colon");
  options.inner = parse_allreduce_algorithm(details.substr(0, comma));
  const std::string_view rest = details.substr(comma + 1);
  const std::size_t size = rest.find(':');
  options.outer = parse_allreduce_algorithm(rest.substr(0, size));
  if (size != std::string_view::npos) options.group_size = parse_group_size(rest.substr(size + 1));
}

namespace {

/// Names the variable: the reader of the message may not know that it is set.
void read_variable(const std::string& text, AllreduceOptions& options) {
  try {
    parse_forced_allreduce(text, options);
    require_coherent(options);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, fmt::format("SELVAGE_ALLREDUCE={}: {}", text, error.message()));
  }
}

}  // namespace

AllreduceRequest read_allreduce_request(const AllreduceOptions& options, CollectiveKind kind, bool on_host) {
  AllreduceRequest request{options, "the option algorithm"};
  const bool is_allreduce = kind == CollectiveKind::allreduce;
  if (const auto text = environment_text("SELVAGE_ALLREDUCE"); text && is_allreduce && !options.algorithm) {
    read_variable(*text, request.options);
    request.forced_by = "SELVAGE_ALLREDUCE";
  }
  if (const auto fast = environment_switch("SELVAGE_ALLREDUCE_REORDERING"))
    request.options.allow_reordering = *fast;
  require_coherent(request.options);
  AllreduceOptions& asked = request.options;
  if (asked.algorithm == Algorithm::hierarchical && (asked.inner || asked.outer)) {
    // On hosts the best pair of Faraji's thesis.
    asked.inner = asked.inner.value_or(on_host ? Algorithm::shared_buffer_tree : Algorithm::two_shot);
    asked.outer = asked.outer.value_or(on_host ? Algorithm::binomial_tree : Algorithm::mpi);
  }
  return request;
}

std::string form_of(AllreduceAlgorithm algorithm, const AllreduceOptions& options) {
  const std::string_view name = to_string(algorithm);
  const std::string groups = options.group_size > 0 ? fmt::format(":{}", options.group_size) : "";
  if (algorithm == Algorithm::hierarchical && options.inner && options.outer)
    return fmt::format("{}:{},{}{}", name, to_string(*options.inner), to_string(*options.outer), groups);
  return algorithm == Algorithm::pipelined ? std::string(name) + groups : std::string(name);
}

}  // namespace selvage::detail
