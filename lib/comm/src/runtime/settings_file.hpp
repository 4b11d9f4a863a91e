#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace selvage::detail {

class ContextState;

/// A file of settings that all ranks have.
struct SettingsText {
  std::string path;    ///< empty where there is none
  std::string text;    ///< empty where there is none, or none that can be read
  std::string remark;  ///< what is wrong with the one in the default place; mostly empty
};

/// Collective: rank 0 reads, and its environment counts; every rank gets the same.
/// \param variable  names the file, or is "off"; see settings_path()
/// \param name      of the file in the default place
/// \param read      gives the text of a sound file, throws Error for another; called on rank 0 only
/// \throws Error on every rank for a file that the variable names and that can't be read. One in the default place that
///         can't be read is left alone, with a remark
[[nodiscard]] SettingsText read_settings(ContextState& context, const char* variable, std::string_view name,
                                         const std::function<std::string(const std::string& path)>& read,
                                         std::string_view operation);

}  // namespace selvage::detail
