// How a user names a store: a plain path, file:///data/a.zarr, memory:.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sherd/result.hpp"

namespace sherd {

struct StoreUrl {
  enum class Kind : std::uint8_t { file, memory } kind = Kind::file;
  std::string path;  ///< for files; never empty
};

/// The scheme of a URL in lower case; empty for a plain path.
[[nodiscard]] std::string scheme_of(std::string_view text);
/// A plain path is used unchanged; a file URL is percent-decoded once. Other schemes are `unsupported`.
[[nodiscard]] Result<StoreUrl> parse_url(std::string_view text);
/// The file URL of an absolute path; parse_url gives the path back.
[[nodiscard]] std::string file_url(std::string_view path);
/// The URL of the node at `path`, a path inside the store, where the store's own is `root`.
[[nodiscard]] std::string url_below(std::string_view root, std::string_view path);
/// The same error for somebody who does not know which store it comes from: one that names a key says in which store.
[[nodiscard]] Error in_store(Error error, std::string_view url);
template <class T>
[[nodiscard]] Result<T> in_store(Result<T> result, std::string_view url) {
  if (!result) return in_store(std::move(result).error(), url);
  return result;
}

}  // namespace sherd
