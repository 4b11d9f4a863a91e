#pragma once

#include "context_state.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace selvage::detail {

/// What an object keeps of the first error that left flags or messages of ranks at odds. Later calls say it again: they would wait for
/// what never comes.
class FirstError {
 public:
  [[nodiscard]] bool has_come() const { return !message_.empty(); }
  /// \param object  "a HaloExchange" \throws Error{usage} that repeats the error
  void require_none(std::string_view object) const {
    if (has_come())
      throw Error(ErrorKind::usage, fmt::format("{} can't go on after an error: {}", object, message_));
  }
  /// Of an error that all ranks have agreed on: nothing is underway.
  void note_agreed(const Error& error) {
    if (!has_come()) message_ = error.message();
  }
  /// Marks the Context as broken, too.
  void note(ContextState& context, const Error& error) {
    note_agreed(error);
    context.mark_broken();
  }
  /// Runs a step and notes its error, which goes on to the caller.
  template <class Step>
  void noting(ContextState& context, const Step& step) {
    try {
      step();
    } catch (const Error& error) {
      note(context, error);
      throw;
    }
  }

 private:
  std::string message_;
};

}  // namespace selvage::detail
