#include "text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/special_file.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace selvage::topo {
namespace {

struct Close {
  void operator()(FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

[[noreturn]] void fail(ErrorKind kind, const char* what, const std::string& path) {
  const int code = errno;
  throw Error(kind, fmt::format("cannot {} {}: {}", what, path, std::strerror(code)), code);
}

/// Where a file is written until it is complete.
std::string path_aside(const std::string& path) {
  return path + ".partial";
}

}  // namespace

void check_writable(const std::string& path) {
  if (is_special_file(path)) {
    // A device or a pipe isn't opened, since that may wait or do something.
    std::error_code ignored;
    const bool is_directory = std::filesystem::is_directory(path, ignored);
    if (is_directory) errno = EISDIR;
    if (is_directory || access(path.c_str(), W_OK) != 0) fail(ErrorKind::io, "write", path);
    return;
  }
  const std::string aside = path_aside(path);
  if (!File(std::fopen(aside.c_str(), "wb"))) fail(ErrorKind::io, "write", path);
  (void)std::remove(aside.c_str());
}

void write_text_file(const std::string& path, std::string_view text) {
  const bool is_replaced = !is_special_file(path);
  const std::string aside = is_replaced ? path_aside(path) : path;
  File file(std::fopen(aside.c_str(), "wb"));
  if (!file) fail(ErrorKind::io, "write", path);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const bool is_complete = std::fclose(file.release()) == 0 && is_written;
  if (!is_replaced && is_complete) return;
  if (is_complete && std::rename(aside.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  if (is_replaced) (void)std::remove(aside.c_str());
  errno = code;
  fail(ErrorKind::io, "write", path);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator, begin)) {
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace selvage::topo
