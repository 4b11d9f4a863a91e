// Everything that knows CLI11.
#include "request.hpp"

#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/version.hpp>
#include <selvage/whole_number.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace selvage::tune {
namespace {

constexpr std::int64_t widest_element = 8;
constexpr std::int64_t largest_size = std::int64_t{1} << 40;

constexpr std::array all_types{detail::ElementType::fp64,  detail::ElementType::fp32,
                               detail::ElementType::fp16,  detail::ElementType::bf16,
                               detail::ElementType::int32, detail::ElementType::int64};
constexpr std::array all_operations{ReduceOperation::sum, ReduceOperation::average, ReduceOperation::min,
                                    ReduceOperation::max, ReduceOperation::product};

std::vector<std::string> names_of(const auto& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(to_string(value));
  return names;
}

/// \throws Error{usage} that lists what there is
auto value_in(const auto& values, const std::string& word, const char* what) {
  const std::vector<std::string> names = names_of(values);
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return values[static_cast<std::size_t>(found - names.begin())];
  throw Error(ErrorKind::usage, fmt::format("unknown {} '{}'{}; there are {}", what, word,
                                            did_you_mean(word, names), fmt::join(names, ", ")));
}

std::string unknown_argument(const std::string& argument, const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back("--" + option->get_lnames().front());
  return fmt::format("unknown {} '{}'{} (selvage-tune --help lists what there is)",
                     argument.starts_with("-") ? "option" : "argument", argument,
                     did_you_mean(argument.substr(0, argument.find('=')), known));
}

/// "4096", "4K", "4kb" or "4KiB"; nothing for any other text.
std::optional<std::int64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit;
  for (const char each : text.substr(digits)) unit += static_cast<char>(std::tolower(each));
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.size() == 2 && unit.ends_with('i')) unit.pop_back();
  constexpr std::string_view units = "kmgt";
  const std::size_t power = unit.empty() ? 0 : units.find(unit) + 1;
  const auto count = whole_number(text.substr(0, digits));
  if (!count || unit.size() > 1 || (!unit.empty() && power == 0) || *count > largest_size >> 10 * power)
    return std::nullopt;
  return *count << 10 * power;
}

std::int64_t size_in(const char* option, const std::string& text) {
  const auto size = parse_size(text);
  if (!size)
    throw Error(ErrorKind::usage,
                fmt::format("{} '{}' is no size: it is such as 4096, 4K or 1M, and up to 1T", option, text));
  if (*size < widest_element)
    throw Error(ErrorKind::usage,
                fmt::format("{} {}: the smallest size is {} bytes", option, text, widest_element));
  return *size;
}

/// What is typed as text and becomes something else.
struct Words {
  std::string operation = "sum";
  std::vector<std::string> types;
  std::string min;
  std::string max;
};

void declare_options(CLI::App& app, Request& request, Words& words) {
  app.set_version_flag("--version", fmt::format("selvage-tune {}", selvage::version));
  app.allow_extras();
  app.add_option("--out", request.out,
                 "The table (default: SELVAGE_ALLREDUCE_TABLE, else\n"
                 "$XDG_CONFIG_HOME or ~/.config/selvage/allreduce.json)")
      ->type_name("FILE");
  app.add_option("--types", words.types,
                 fmt::format("Element types, of {} (fp32,fp64)", fmt::join(names_of(all_types), ", ")))
      ->type_name("T,...")
      ->delimiter(',');
  app.add_option("--min", words.min, "The smallest size; 4K and 1M work too (64)")->type_name("BYTES");
  app.add_option("--max", words.max, "The largest size (16M on hosts, 256M on GPUs)")->type_name("BYTES");
  app.add_option("--operation", words.operation,
                 "sum, average, min, max or product; a table serves all (sum)")
      ->type_name("OP");
}

}  // namespace

Request parse_request(int argc, const char* const* argv) {
  Request request;
  Words words;
  CLI::App app(
      "Measures every allreduce algorithm on the ranks and the machine that it runs on, and writes the\n"
      "fastest of each size to a table, from which an Allreduce chooses. Start it as the program is started\n"
      "that is to be fast: mpirun -n 4 selvage-tune. Entries of other jobs in the file stay.",
      "selvage-tune");
  declare_options(app, request, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    request.text = app.help();
    return request;
  } catch (const CLI::CallForVersion&) {
    request.text = app.version() + '\n';
    return request;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, error.what());
  }
  if (!app.remaining().empty()) throw Error(ErrorKind::usage, unknown_argument(app.remaining().front(), app));
  request.operation = value_in(all_operations, words.operation, "operation");
  if (!words.types.empty()) request.types.clear();
  for (const std::string& type : words.types) request.types.push_back(value_in(all_types, type, "type"));
  if (app.count("--min") > 0) request.min_bytes = size_in("--min", words.min);
  if (app.count("--max") > 0) {
    request.max_bytes = size_in("--max", words.max);
    static_cast<void>(powers_of_two(request.min_bytes, request.max_bytes));
  }
  return request;
}

std::vector<std::int64_t> powers_of_two(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 1; bytes <= most && bytes <= largest_size; bytes *= 2) {
    if (bytes >= least) sizes.push_back(bytes);
  }
  if (sizes.empty())
    throw Error(ErrorKind::usage,
                fmt::format("there is no power of two from --min {} to --max {}", least, most));
  return sizes;
}

}  // namespace selvage::tune
