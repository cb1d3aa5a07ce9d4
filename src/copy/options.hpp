// Distinguishes errors of a copy about the caller's options from errors about the source.
#pragma once

#include <string>
#include <utility>

#include "sherd/tools.hpp"

namespace sherd {

/// Names the source's document in an error, unless the error is about an option of the copy that the caller has set.
[[nodiscard]] Error in_source(Error error, const std::string& key, const CopyOptions& options);
template <class T>
[[nodiscard]] Result<T> in_source(Result<T> result, const std::string& key, const CopyOptions& options) {
  if (!result) return in_source(std::move(result).error(), key, options);
  return result;
}
/// An error without the key of a document that has not been written yet.
[[nodiscard]] Error of_request(const Error& error);

}  // namespace sherd
