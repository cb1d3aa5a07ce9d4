// What the formats of the Zarr family share: how a document is read, and its attributes.
#pragma once

#include <optional>
#include <string>

#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

struct StoredJson {
  Json json;
  Generation generation;
};
/// The JSON document at a key; nullopt where nothing is stored. Bounded by `limits`; errors name the key.
Result<std::optional<StoredJson>> read_json(Store& store, const std::string& key, const Limits& limits);

/// The document's attributes: an object, or null where it has none.
Result<Json> parse_attributes(const Json& document);

/// A name that no format of the family allows: empty, with '/' or NUL, of dots only, or that of what is being made.
Result<void> check_node_name(std::string_view name);
/// The refusal of a name, with the reason.
[[nodiscard]] Error bad_node_name(std::string_view name, std::string_view why);

/// Whether a key is that of a chunk in an array with dimensions: `c/1/2` or `c.1.2`; if `joined`, `c1/2` or `c1.2`.
[[nodiscard]] bool is_chunk_key(std::string_view key, bool joined) noexcept;

}  // namespace sherd
