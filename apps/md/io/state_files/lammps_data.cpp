#include "md/io/state_files/lammps_data.hpp"

#include <selvage/error.hpp>
#include <selvage/special_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace selvage::md {
namespace {

constexpr std::size_t longest_line = 65'536;

using Words = std::vector<std::string_view>;

Words split(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blank = " \t\r\v\f";
  Words words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(blank);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(blank, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

class Reader {
 public:
  Reader(std::istream& text, const std::string& name) : text_(text), name_(name) {}

  StateFile read() {
    read_line();  // the first one is a comment, whatever it holds
    Words words = next();
    while (!words.empty() && !is_section(words)) {
      read_header(words);
      words = next();
    }
    check_header();
    while (!words.empty()) words = read_section(words);
    return finish();
  }

 private:
  [[noreturn]] void refuse(std::string why) const {
    // A file of another kind has bytes that a terminal would act on.
    std::ranges::replace_if(
        why, [](char c) { return c < ' ' || c > '~'; }, '?');
    throw Error(ErrorKind::input, fmt::format("{}:{}: {}", name_, line_number_, why));
  }

  /// Of bounded length: a file without ends of lines may not fit into memory.
  bool read_line() {
    text_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto taken = static_cast<std::size_t>(text_.gcount());
    if (text_.bad()) refuse(fmt::format("the next line can't be read: {}", std::strerror(errno)));
    if (text_.fail() && taken == 0) return false;
    ++line_number_;
    if (text_.fail()) refuse(fmt::format("the line has more than {} bytes", longest_line));
    line_ = std::string_view(buffer_.data(), text_.eof() ? taken : taken - 1);
    return true;
  }

  /// The words of the next line that has any; none at the end of the file.
  Words next() {
    while (read_line()) {
      Words words = split(line_);
      if (!words.empty()) return words;
    }
    return {};
  }

  template <class T>
  T number(std::string_view word) const {
    T value{};
    const char* const end = word.data() + word.size();
    const bool has_plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
    const auto [stopped, error] = std::from_chars(word.data() + (has_plus ? 1 : 0), end, value);
    if (error != std::errc{} || stopped != end)
      refuse(fmt::format("'{}' is not a number that fits here", word));
    return value;
  }

  static bool is_section(const Words& words) { return words[0][0] >= 'A' && words[0][0] <= 'Z'; }

  void read_header(const Words& words) {
    if (words.size() == 2 && words[1] == "atoms") {
      atoms_ = number<std::int64_t>(words[0]);
      if (*atoms_ < 1 || *atoms_ > std::numeric_limits<std::int32_t>::max()) {
        refuse(fmt::format("{} atoms are not 1 to {}", *atoms_, std::numeric_limits<std::int32_t>::max()));
      }
    } else if (words.size() == 3 && words[1] == "atom" && words[2] == "types") {
      if (number<int>(words[0]) != 1) refuse(fmt::format("{} atom types, and md knows one", words[0]));
    } else if (words.size() == 4 && words[3].size() == 3 && words[3].substr(1) == "hi" &&
               is_axis(words[3][0])) {
      const int axis = words[3][0] - 'x';
      state_.domain.lower[axis] = number<double>(words[0]);
      state_.domain.upper[axis] = number<double>(words[1]);
      axes_ |= 1 << axis;
    } else {
      refuse_header(words);
    }
  }

  /// Nothing for what isn't a number.
  static std::optional<double> value_of(std::string_view word) {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, value);
    return error == std::errc{} && stopped == end ? std::optional(value) : std::nullopt;
  }

  static bool is_axis(char letter) { return letter >= 'x' && letter <= 'z'; }

  void refuse_header(const Words& words) const {
    // "0 bonds" promises nothing, nor does "0 0 0 xy xz yz" of a box that isn't tilted.
    const auto is_nothing = [](std::string_view word) { return value_of(word).value_or(0) == 0; };
    if (words.size() >= 2 && value_of(words[0]) && std::ranges::all_of(words, is_nothing)) return;
    refuse(fmt::format("'{}' is not known in the header", fmt::join(words, " ")));
  }

  void check_header() const {
    if (!atoms_) refuse("the header doesn't say how many atoms there are");
    if (axes_ != 0b111) refuse("the header lacks one of 'xlo xhi', 'ylo yhi' and 'zlo zhi'");
  }

  /// \return the words of the line after it
  Words read_section(const Words& title) {
    const std::string name(title[0]);
    if (name == "Masses") return read_rows("Masses", 1, [this](const Words& words) { read_mass(words); });
    if (name == "Atoms") {
      if (!place_of_.empty()) refuse("there is a section Atoms already");
      check_style();
      return read_rows("Atoms", *atoms_, [this](const Words& words) { read_atom(words); });
    }
    if (name == "Velocities") {
      if (place_of_.empty()) refuse("the section Velocities comes before Atoms");
      if (!has_velocity_.empty()) refuse("there is a section Velocities already");
      has_velocity_.assign(state_.ids.size(), false);
      return read_rows("Velocities", *atoms_, [this](const Words& words) { read_velocity(words); });
    }
    if (name != "Pair" && name != "PairIJ")
      refuse(fmt::format("md knows no section {}", fmt::join(title, " ")));
    Words words = next();
    while (!words.empty() && !is_section(words)) words = next();
    return words;
  }

  template <class Read>
  Words read_rows(std::string_view section, std::int64_t count, const Read& read) {
    for (std::int64_t row = 0; row < count; ++row) {
      const Words words = next();
      if (words.empty() || is_section(words)) {
        refuse(fmt::format("the section {} ends after {} of {} lines", section, row, count));
      }
      read(words);
    }
    const Words words = next();
    if (!words.empty() && !is_section(words)) {
      refuse(fmt::format("the section {} has more than the {} lines that the header says", section, count));
    }
    return words;
  }

  /// LAMMPS writes it behind the title: "Atoms # atomic".
  void check_style() const {
    const std::size_t comment = line_.find('#');
    if (comment == std::string_view::npos) return;
    std::string hint(line_.substr(comment + 1));
    std::ranges::replace(hint, '#', ' ');
    const Words words = split(hint);
    if (!words.empty() && words[0] != "atomic")
      refuse(fmt::format("atom style {}, and md knows only atomic", words[0]));
  }

  void read_mass(const Words& words) const {
    if (words.size() != 2 || number<double>(words[1]) != 1)
      refuse("the mass is not 1, the only one that md knows");
  }

  void read_atom(const Words& words) {
    if (words.size() != 5 && words.size() != 8) {
      refuse(fmt::format("{} words instead of 'id type x y z', with or without three image flags",
                         words.size()));
    }
    if (state_.ids.empty()) words_per_atom_ = words.size();
    if (words.size() != words_per_atom_)
      refuse(fmt::format("{} words, and {} in the lines before", words.size(), words_per_atom_));
    const auto id = number<std::int64_t>(words[0]);
    if (number<int>(words[1]) != 1) refuse(fmt::format("type {}, and md knows only 1", words[1]));
    if (!place_of_.emplace(id, state_.ids.size()).second) refuse(fmt::format("atom {} is there twice", id));
    state_.ids.push_back(id);
    state_.positions.push_back(
        {number<double>(words[2]), number<double>(words[3]), number<double>(words[4])});
    Images images{0, 0, 0};
    if (words.size() == 8) {
      images = {number<std::int32_t>(words[5]), number<std::int32_t>(words[6]),
                number<std::int32_t>(words[7])};
    }
    state_.images.push_back(images);
    state_.velocities.push_back({0, 0, 0});
  }

  void read_velocity(const Words& words) {
    if (words.size() != 4) refuse(fmt::format("{} words instead of 'id vx vy vz'", words.size()));
    const auto id = number<std::int64_t>(words[0]);
    const auto place = place_of_.find(id);
    if (place == place_of_.end()) refuse(fmt::format("atom {} has a velocity and no position", id));
    if (has_velocity_[place->second]) refuse(fmt::format("atom {} has a velocity already", id));
    has_velocity_[place->second] = true;
    state_.velocities[place->second] = {number<double>(words[1]), number<double>(words[2]),
                                        number<double>(words[3])};
  }

  StateFile finish() {
    if (state_.ids.empty()) refuse("the file ends without a section Atoms");
    return {std::move(state_), !has_velocity_.empty()};
  }

  std::istream& text_;
  const std::string& name_;
  std::vector<char> buffer_ = std::vector<char>(longest_line + 1);  ///< ends with a 0
  std::string_view line_;                                           ///< of the buffer
  std::int64_t line_number_ = 0;
  std::optional<std::int64_t> atoms_;
  int axes_ = 0;  ///< bit per axis of the box that was given
  std::size_t words_per_atom_ = 0;
  std::vector<bool> has_velocity_;  ///< by atom, once there is a section of them
  State state_;
  std::unordered_map<std::int64_t, std::size_t> place_of_;  ///< by id
};

}  // namespace

StateFile read_lammps_data(std::istream& text, const std::string& name) {
  return Reader(text, name).read();
}

StateFile read_lammps_data(const std::string& path) {
  require_regular_file(path);
  errno = 0;
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::input, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return read_lammps_data(file, path);
}

}  // namespace selvage::md
