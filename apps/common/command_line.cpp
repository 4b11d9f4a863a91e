// Everything that knows CLI11.
#include "common/command_line.hpp"

#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace selvage::app {
namespace {

std::vector<Flag> shared_flags() {
  return {
      {"--steps", "run.steps", "N", "steps to run"},
      {"--restart", "run.restart", "FILE", "go on from this restart file"},
      {"--out", "run.out", "DIR", "where the results go"},
      {"--transport", "comm.transport", "T", "how the bytes move, for all neighbours"},
      {"--initiation", "comm.initiation", "I", "who starts a transfer"},
      {"--ranks-grid", "comm.ranks_grid", "AxBxC|auto", "ranks along each axis"},
      {"--verify", "run.verify", "", "compare the result with its oracle"},
  };
}

Override split_assignment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage, fmt::format("--set needs section.key=value, but got '{}'", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_flag(CLI::App& parser, const Flag& flag, CommandLine& line) {
  std::string help = flag.help;
  if (!flag.choices.empty()) help += fmt::format(" ({})", fmt::join(flag.choices, ", "));
  if (flag.value_name.empty()) {
    const auto set = [&line, flag](std::int64_t count) {
      // `--verify=false` counts down.
      line.overrides.push_back({flag.key, count > 0 ? "true" : "false", flag.name});
    };
    parser.add_flag_function(flag.name, set, help)->trigger_on_parse();
    return;
  }
  const auto set = [&line, flag](const std::string& value) {
    line.overrides.push_back({flag.key, value, flag.name});
  };
  parser.add_option_function<std::string>(flag.name, set, help)
      ->type_name(flag.value_name)
      ->trigger_on_parse();
}

void add_shared(CLI::App& parser, CommandLine& line) {
  parser.add_option("INPUT.toml", line.input_path, "input file; without it every key has its default");
  const auto set = [&line](const std::string& text) { line.overrides.push_back(split_assignment(text)); };
  parser.add_option_function<std::string>("--set", set, "set one input key")
      ->type_name("section.key=value")
      ->trigger_on_parse();
  parser.add_flag("--check", line.check, "print the plan and stop");
  parser.add_flag("--env", line.env, "print the environment and stop");
  parser.add_flag("--json", line.json, "print run.json and nothing else");
  parser.add_flag("--quiet", line.quiet, "print VERIFY and FOM lines only");
}

/// The message of a flag that CLI11 did not know, with the flag most like it.
std::string unknown_argument(const CLI::App& parser, const std::vector<std::string>& rest) {
  std::vector<std::string> known;
  for (const auto* option : parser.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string flag = rest.front().substr(0, rest.front().find('='));
  if (!flag.starts_with('-'))
    return fmt::format("unexpected argument '{}': there is an input file already", flag);
  return fmt::format("unknown flag '{}'{}", flag, did_you_mean(flag, known));
}

/// Kokkos reads its own arguments; the rest, last one first as CLI11 wants them.
std::vector<std::string> take_arguments(int argc, const char* const* argv, CommandLine& line) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    auto& target = argument.starts_with("--kokkos-") ? line.kokkos : arguments;
    target.push_back(argument);
  }
  std::ranges::reverse(arguments);
  line.as_typed = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  return arguments;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, const AppInfo& info) {
  CommandLine line;
  CLI::App parser(info.summary, info.name);
  parser.set_version_flag("--version", info.name + " " + info.version, "print the version and stop");
  parser.allow_extras();
  add_shared(parser, line);
  for (const auto& flag : shared_flags()) add_flag(parser, flag, line);
  for (const auto& flag : info.flags) add_flag(parser, flag, line);
  parser.footer("Exit codes: 0 fine, 1 run-time error, 2 usage or input, 3 verification failed.");
  try {
    parser.parse(take_arguments(argc, argv, line));
  } catch (const CLI::CallForHelp&) {
    line.text_only = parser.help();
  } catch (const CLI::CallForVersion& version) {
    line.text_only = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, fmt::format("{} (see {} --help)", error.what(), info.name));
  }
  if (const auto rest = parser.remaining(); !rest.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} (see {} --help)", unknown_argument(parser, rest), info.name));
  }
  return line;
}

}  // namespace selvage::app
