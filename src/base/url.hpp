// How a user names a store: a plain path, or a URL such as file:///data/a.zarr. Which schemes there are is for the
// table of stores to say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sherd/result.hpp"

namespace sherd {

/// The scheme of a URL, in lower case, also where no `//` follows; empty for a text without one.
[[nodiscard]] std::string scheme_of(std::string_view text);
/// Whether a text is a URL whatever schemes there are: a scheme and `://`.
[[nodiscard]] bool is_url(std::string_view text);
/// Whether the URL of a store names only its kind, so that several stores have the same one.
[[nodiscard]] bool is_anonymous(std::string_view store_url);
/// The path of a plain path, unchanged, or of a file URL, percent-decoded once. invalid_argument for another text.
[[nodiscard]] Result<std::string> file_path(std::string_view text);
/// The path of a store's URL if that is one of files.
[[nodiscard]] std::optional<std::string> path_of_store(std::string_view store_url);
/// The file URL of an absolute path; file_path() returns the path.
[[nodiscard]] std::string file_url(std::string_view path);
/// The URL of the node at `path`, a path inside the store, where the store's own is `root`.
[[nodiscard]] std::string url_below(std::string_view root, std::string_view path);
/// The same error for a caller that does not know which store it comes from: one that names a key says in which store.
[[nodiscard]] Error in_store(Error error, std::string_view url);
template <class T>
[[nodiscard]] Result<T> in_store(Result<T> result, std::string_view url) {
  if (!result.has_value()) return in_store(std::move(result).error(), url);
  return result;
}

}  // namespace sherd
