// Errors of the library, reworded for the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd::cli {

/// Whether an option, such as "--codec", is on the command line.
using IsGiven = std::function<bool(const std::string& option)>;
/// `error`, naming the option at fault instead of the library's member: "--codec: unknown codec 'ztsd'". Errors
/// about stored objects, which have a key, are returned unchanged.
[[nodiscard]] Error name_option(const Error& error, const IsGiven& is_given);
/// An error about a destination that exists, for a command that can or cannot replace it: "overwrite it" gets the name
/// of the option, or is left out.
[[nodiscard]] Error name_overwrite(const Error& error, bool has_option);
/// "--dtype: configuration.unit: must be a string": prefixes the whole error text with the option.
[[nodiscard]] Error in_option(const Error& error, std::string_view option);
template <class T>
[[nodiscard]] Result<T> in_option(Result<T> result, std::string_view option) {
  if (!result) return in_option(result.error(), option);
  return result;
}

}  // namespace sherd::cli
