#include <selvage/special_file.hpp>

#include <filesystem>
#include <system_error>

namespace selvage {

bool is_special_file(const std::string& path) {
  std::error_code none;
  const std::filesystem::file_status status = std::filesystem::status(path, none);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace selvage
