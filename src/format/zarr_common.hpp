// Shared by the formats of the Zarr family: reading a document, and its attributes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/format.hpp"
#include "node/spec.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

struct StoredJson {
  Json json;
  Generation generation;
};
/// Where NaN, Infinity and -Infinity are accepted without quotes, which Python writes although JSON lacks them; values
/// are attributes and fill values.
enum class BareNumbers : std::uint8_t { refused, in_values, anywhere };
/// The JSON document at a key; nullopt if nothing is stored there. Bounded by `limits`; errors name the key.
Result<std::optional<StoredJson>> read_json(Store& store, const std::string& key, const Limits& limits,
                                            BareNumbers bare = BareNumbers::refused);
/// Reads the documents of many keys as a batch: calls `visit` with the document at keys[i], in any order.
using OnJson = std::function<Result<void>(std::size_t i, Result<std::optional<StoredJson>> stored)>;
Result<void> read_all_json(Store& store, std::span<const std::string> keys, const Limits& limits, const OnJson& visit,
                           BareNumbers bare = BareNumbers::refused);
/// New attributes of a node; those that equal the `old` ones keep their spelling.
[[nodiscard]] Json with_bare_numbers_of(const Json& old, Json fresh);

/// Checks a fill value that may have NaN or Infinity without quotes: only numbers may, and `check` reports them.
Result<void> check_bare_fill(const Json& fill, const DType& dtype, std::vector<std::string>& remarks);
/// Turns those of a document into ordinary strings, so that they are written with quotes.
void quote_fill(Json& document);

/// The document's attributes: an object, or null if it has none.
Result<Json> parse_attributes(const Json& document);

/// The attribute in which xarray stores dimension names, for formats that cannot express them.
inline constexpr const char* kNamesAttribute = "_ARRAY_DIMENSIONS";
/// The names in that attribute, for an array of this rank; empty unless it has one name per dimension.
[[nodiscard]] std::vector<std::optional<std::string>> names_in_attributes(const Json& attributes, std::size_t rank);
/// The value of that attribute: an empty list if no dimension has a name. `unsupported` if only some have one.
Result<Json> names_attribute_of(const ArraySpec& spec);
/// New attributes that keep the dimension names of the old ones unless they have others.
[[nodiscard]] Json with_names_of(const Json& old, std::size_t rank, Json fresh);

/// A document that shows the kind of node in its directory: its type, NodeType::unknown if it is broken, nullopt if the
/// document belongs to another format.
using TypeOf = std::function<std::optional<NodeType>(const Json& document)>;
struct TypeDocument {
  std::string_view name;
  TypeOf type_of;
};
/// Format::members() of a format whose nodes have their own directories. The first of `documents` is read in all
/// directories in one batch, and each further one in the directories whose type is still unknown. A document that
/// cannot be read does not hide other members; only failures that affect all of them (no memory, no descriptors) are
/// errors.
Result<std::vector<std::pair<std::string, NodeType>>> members_in_directories(const Format& format, Store& store,
                                                                             const std::string& path,
                                                                             const Limits& limits,
                                                                             const Format::KnownType& known,
                                                                             std::span<const TypeDocument> documents);

/// Refuses names that no format of the family allows: empty, with '/' or NUL, only dots, or the name of a staged node.
Result<void> check_node_name(std::string_view name);
/// Whether the format allows each name in a relative path, such as one in consolidated metadata.
[[nodiscard]] bool is_node_path(const Format& format, std::string_view path);
/// The error for a name, with the reason.
[[nodiscard]] Error bad_node_name(std::string_view name, std::string_view why);

/// Whether a text is the coordinates of a chunk, such as `1/2` for the separator '/'.
[[nodiscard]] bool is_coordinates(std::string_view text, char separator) noexcept;
/// Whether a key is that of a chunk in an array with dimensions: `c/1/2` or `c.1.2`; if `joined`, `c1/2` or `c1.2`.
[[nodiscard]] bool is_chunk_key(std::string_view key, bool joined) noexcept;

}  // namespace sherd
