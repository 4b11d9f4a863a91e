#pragma once

#include <selvage/topo/probe.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace selvage::detail {

class ContextState;

inline constexpr const char* probes_variable = "SELVAGE_PROBES";

/// What `selvage-topo probe` has measured between the places of a Context's ranks, if it has.
struct MeasuredJob {
  struct Measured {
    topo::Probes probes;
    topo::MeasuredLinks links;
  };
  std::optional<Measured> measured;
  std::string path;    ///< of the file
  std::string remark;  ///< what is wrong with the one in the default place; mostly empty

  /// "link 2.0 us, 391 GB/s (FILE)", or nothing where it wasn't measured.
  [[nodiscard]] std::string describe_link(int from, int to) const;
  /// The same for all pairs of different ranks, with ranges; nothing unless all were measured.
  [[nodiscard]] std::string describe_links() const;
};

/// Read at the first call. Collective: rank 0 reads the file that SELVAGE_PROBES names, else probes.json where settings lie;
/// all get the same.
/// \throws Error{input} on every rank for a file that SELVAGE_PROBES names and that can't be read
[[nodiscard]] const MeasuredJob& measured_job(ContextState& context, std::string_view operation);

}  // namespace selvage::detail
