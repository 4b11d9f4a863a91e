#include "slurm_lines.hpp"

#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace selvage::topo {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
}

/// Up to the first # without a backslash.
std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '#')
      return text.substr(0, i);
  }
  return text;
}

/// Takes the backslash off the end of a line that goes on: one that isn't itself behind a backslash.
bool take_continuation(std::string_view& text) {
  const std::string_view solid = text.substr(0, text.find_last_not_of(blanks) + 1);
  const std::size_t backslashes = solid.size() - (solid.find_last_not_of('\\') + 1);
  if (backslashes % 2 == 0) return false;
  text = solid.substr(0, solid.size() - 1);
  return true;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && ++i == text.size()) break;
    out += text[i];
  }
  return out;
}

class LineReader {
 public:
  void read(std::string_view text, const std::string& file) {
    if (--files_left_ < 0)
      throw Error(ErrorKind::input, fmt::format("{}: too many files are included", file));
    std::string pending;
    std::size_t number = 0;
    std::size_t first = 1;
    for (const std::string_view raw : split(text, '\n')) {
      ++number;
      std::string_view piece = without_comment(raw);
      const bool goes_on = take_continuation(piece);
      pending += piece;
      if (goes_on) continue;
      add(without_escapes(pending), file, first);
      pending.clear();
      first = number + 1;
    }
    add(without_escapes(pending), file, first);
  }

  [[nodiscard]] std::vector<SlurmLine> lines() && { return std::move(lines_); }

 private:
  void add(std::string_view text, const std::string& file, std::size_t number) {
    constexpr std::string_view include = "include";
    std::string_view rest = trimmed(text);
    if (rest.empty()) return;
    if (rest.size() > include.size() && blanks.find(rest[include.size()]) != std::string_view::npos &&
        lower(rest.substr(0, include.size())) == include) {
      read_included(std::string(trimmed(rest.substr(include.size()))), file, number);
      return;
    }
    SlurmLine line{.file = file, .number = number, .values = {}};
    while (!rest.empty()) line.values.push_back(next_value(rest, file, number));
    lines_.push_back(std::move(line));
  }

  void read_included(const std::string& name, const std::string& file, std::size_t number) {
    const std::string path = std::filesystem::path(file).replace_filename(name).string();
    std::string text;
    try {
      text = read_text_file(path);
    } catch (const Error& error) {
      fail_at(file, number, error.message());
    }
    read(text, path);
  }

  /// Takes it off the text.
  static SlurmValue next_value(std::string_view& rest, const std::string& file, std::size_t number) {
    const std::string_view all = rest;
    const auto equals = rest.find('=');
    const std::string_view key = trimmed(rest.substr(0, equals));
    rest = equals == std::string_view::npos ? "" : trimmed(rest.substr(equals + 1));
    const bool is_quoted = rest.starts_with('"');
    if (is_quoted) rest.remove_prefix(1);
    const auto end = is_quoted ? rest.find('"') : rest.find_first_of(blanks);
    const std::string_view value = rest.substr(0, end);
    // Without quotes, a sign in the value tells of a key before it that has none.
    const bool is_value = is_quoted ? end != std::string_view::npos
                                    : !value.empty() && value.find('=') == std::string_view::npos;
    if (!is_key(key) || !is_value) fail_at(file, number, fmt::format("'{}' is not KEY=VALUE", shown(all)));
    rest = end == std::string_view::npos ? "" : trimmed(rest.substr(end + 1));
    return {lower(key), std::string(value)};
  }

  std::vector<SlurmLine> lines_;
  int files_left_ = 256;
};

}  // namespace

void fail_at(const std::string& file, std::size_t line, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}:{}: {}", file, line, what));
}

std::vector<SlurmLine> slurm_lines(std::string_view text, const std::string& file) {
  LineReader reader;
  reader.read(text, file);
  return std::move(reader).lines();
}

}  // namespace selvage::topo
