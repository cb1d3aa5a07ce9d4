// Errors of the library in the words of the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd::cli {

/// Whether an option, such as "--codec", is on the command line.
using IsGiven = std::function<bool(const std::string& option)>;
/// The same error with the option that is at fault instead of the library's member: "--codec: unknown codec 'ztsd'".
/// Errors about stored objects, which have a key, stay as they are.
[[nodiscard]] Error name_option(const Error& error, const IsGiven& is_given);
/// "--dtype: configuration.unit: must be a string": everything that the error says, as part of an option.
[[nodiscard]] Error in_option(const Error& error, std::string_view option);
template <class T>
[[nodiscard]] Result<T> in_option(Result<T> result, std::string_view option) {
  if (!result) return in_option(result.error(), option);
  return result;
}

}  // namespace sherd::cli
