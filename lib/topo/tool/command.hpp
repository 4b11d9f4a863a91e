#pragma once

#include <CLI/CLI.hpp>

#include <array>
#include <functional>
#include <string>

namespace selvage::topo::tool {

/// Does the work of a subcommand. Collective.
/// \param speaks  whether this is the rank that prints; others may leave what they aren't needed for
/// \return what to print
using Work = std::function<std::string(bool speaks)>;

/// A subcommand. Its options are declared on `app`, and read when the work begins.
struct Command {
  const char* name;
  const char* description;
  Work (*declare)(CLI::App& app);
};

[[nodiscard]] Work declare_show(CLI::App& app);
[[nodiscard]] Work declare_probe(CLI::App& app);
[[nodiscard]] Work declare_profile(CLI::App& app);
[[nodiscard]] Work declare_map(CLI::App& app);
[[nodiscard]] Work declare_simulate(CLI::App& app);
[[nodiscard]] Work declare_rankfile(CLI::App& app);

/// All of them. Another one is a file, a declaration above, and a line here.
inline constexpr std::array commands = {
    Command{"show", "Print the machine under this job", declare_show},
    Command{"probe", "Measure messages between all pairs of this job's ranks, and links between GPUs",
            declare_probe},
    Command{"profile", "Show what a profiled program sent", declare_profile},
    Command{"map", "Place ranks by their traffic, and say what each method reaches", declare_map},
    Command{"simulate", "Place ranks of known patterns on simulated fabrics", declare_simulate},
    Command{"rankfile", "Write a placement in the form that a launcher reads", declare_rankfile},
};

}  // namespace selvage::topo::tool
