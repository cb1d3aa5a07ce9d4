// How a user names a store: a plain path, or a URL such as file:///data/a.zarr. The table of stores determines which
// schemes exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sherd/result.hpp"

namespace sherd {

/// The scheme of a URL in lower case, even without `//` after it; empty for a text without a scheme.
[[nodiscard]] std::string scheme_of(std::string_view text);
/// Whether a text is a URL, whichever schemes exist: it has a scheme and `://`.
[[nodiscard]] bool is_url(std::string_view text);
/// Whether a store's URL only names its kind, so that several stores have the same URL.
[[nodiscard]] bool is_anonymous(std::string_view store_url);
/// Replaces each `%XX` once. invalid_argument for a `%` without two hexadecimal digits.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text);
/// Escapes what the path or the query of a URL may not contain. Escapes stay as they are.
[[nodiscard]] std::string escape_invalid(std::string_view text);
/// The path of a plain path (unchanged) or of a file URL (percent-decoded once). invalid_argument for other text.
[[nodiscard]] Result<std::string> file_path(std::string_view text);
/// The path of a store's URL if it is a store of files, and not inside one.
[[nodiscard]] std::optional<std::string> path_of_store(std::string_view store_url);
/// The file URL of an absolute path; the inverse of file_path().
[[nodiscard]] std::string file_url(std::string_view path);
/// The URL of the node at `path` inside the store with the URL `root`.
[[nodiscard]] std::string url_below(std::string_view root, std::string_view path);
/// Adds the store's URL to an error that names a key, for a caller that does not know which store it comes from.
[[nodiscard]] Error in_store(Error error, std::string_view url);
template <class T>
[[nodiscard]] Result<T> in_store(Result<T> result, std::string_view url) {
  if (!result.has_value()) return in_store(std::move(result).error(), url);
  return result;
}

}  // namespace sherd
