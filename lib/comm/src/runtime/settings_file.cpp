#include "settings_file.hpp"

#include "context_state.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace selvage::detail {

SettingsText read_settings(ContextState& context, const char* variable, std::string_view name,
                           const std::function<std::string(const std::string& path)>& read,
                           std::string_view operation) {
  SettingsText settings;
  context.all_or_none(operation, [&] {
    if (context.rank() != 0) return;
    const auto file = settings_path(variable, name);
    std::error_code ignored;
    if (!file || (!file->is_named && !std::filesystem::exists(file->path, ignored))) return;
    settings.path = file->path;
    try {
      settings.text = read(file->path);
    } catch (const Error& error) {
      if (file->is_named)
        throw Error(error.kind(), fmt::format("{} ({} names it)", error.message(), variable),
                    error.native_code());
      settings.remark = fmt::format("left alone: {}", error.message());
    }
  });
  settings.path = context.broadcast(settings.path, operation);
  settings.text = context.broadcast(settings.text, operation);
  settings.remark = context.broadcast(settings.remark, operation);
  return settings;
}

}  // namespace selvage::detail
