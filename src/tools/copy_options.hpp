// Which errors of a copy are about what the caller asked for, and which about the source.
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
/// An error without the key of a document that is not written yet.
[[nodiscard]] Error of_request(const Error& error);

}  // namespace sherd
