// What a user wrote to name a place, as one value. These forms exist:
//   data/a.zarr, /data/a#1.zarr           a path, in which every character is ordinary; an existing one always wins
//   file:///data/a.zarr, memory:          a URL
//   a.zip|zip:inner/|zarr3:group          a pipeline: each part is in the one before
//   zip://inner::file:///a.zip            a chain of fsspec: each part is in the one after
//   zarr3://file:///data/a.zarr           a URL after the name of a format
//   URL#mode=zarr,zip, [mode=zarr]PATH    a fragment, whose words belong to netCDF
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/result.hpp"

namespace sherd {

struct StoreUrl {
  /// A store inside an object.
  struct Layer {
    std::string scheme;       ///< such as `zip`
    std::string path = {};    ///< in it, decoded, without `/` at its ends
    bool seeks_root = false;  ///< begins in the only directory at the root if that is a node
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  std::string scheme = {};    ///< in lower case; that of files for a plain path
  std::string userinfo = {};  ///< before the `@` of a host; a secret
  std::string host = {}, port = {};
  std::string path = {};           ///< of files: decoded; of others: as written
  std::string query = {};          ///< without `?`; may be a secret
  std::string fragment = {};       ///< without `#`
  std::vector<Layer> layers = {};  ///< each is in the one before, the first in the object at `path`
  std::string format = {};         ///< of the node, if the name says it
  /// Storage options that the name says. Those that a user gives win.
  std::map<std::string, std::string> options = {};
  std::string shown = {};       ///< as it was written, without the fragment and secrets
  bool has_all_layers = false;  ///< an object is not examined for a store inside it

  [[nodiscard]] bool is_file() const noexcept { return scheme == "file" && layers.empty(); }
};

/// The words that have a meaning in the names of places. Whatever is none of them is part of a path.
struct UrlWords {
  /// A scheme of a format, and the name of the format; empty if it is any.
  struct FormatWord {
    std::string_view scheme, format;
  };
  std::span<const std::string_view> stores;  ///< schemes
  std::span<const std::string_view> layers;
  std::span<const FormatWord> formats;
  /// Whether the text after a `#` is a fragment, rather than part of a name. invalid_argument if it is neither.
  Result<bool> (*is_fragment)(std::string_view text, bool is_url) = nullptr;
};

/// invalid_argument for a name that no form allows, `unsupported` for a scheme that is not among the words; the error
/// lists what was tried.
[[nodiscard]] Result<StoreUrl> parse_store_url(std::string_view text, const UrlWords& words);

/// The query in names that are shown or pickled, in place of one that may be a secret.
inline constexpr std::string_view kHiddenQuery = "...";
/// The URL of a store that has a query, which the URL does not show, with `?...` in its place.
[[nodiscard]] std::string with_hidden_query(std::string store_url);

/// A name with `...` in place of what may be a secret in a URL: what is before the `@` of a host, and a query.
[[nodiscard]] std::string shown_name(std::string_view text);

/// A place in a store: the store's name, and the key of the object or prefix there.
struct ObjectUrl {
  StoreUrl store;
  std::string key;
};
/// Divides a name at its last `/`. nullopt if it has no name to divide: `/`, `memory:`, `a.zip|zip:`.
[[nodiscard]] std::optional<ObjectUrl> parent_of(StoreUrl url);

}  // namespace sherd
