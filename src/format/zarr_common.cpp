// Knows how a metadata document gets from a store into memory: its size is looked at before it is read, its depth and
// its number of values before it is taken apart.
#include "format/zarr_common.hpp"

#include "array/extension.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"

namespace sherd {

Result<std::optional<StoredJson>> read_json(Store& store, const std::string& key, const Limits& limits) {
  const auto read = [&]() -> Result<std::optional<StoredJson>> {
    SHERD_TRY(source, store.open(key));
    if (source == nullptr) return std::optional<StoredJson>();
    SHERD_TRY(size, source->size());
    if (size > limits.metadata_bytes)
      return unsupported("the document has " + std::to_string(size) +
                         " bytes, more than the limit metadata_bytes = " + std::to_string(limits.metadata_bytes));
    std::string text(size, '\0');
    const RangeRead range{0, std::as_writable_bytes(std::span(text))};
    SHERD_TRY(source->read(std::span(&range, 1)));
    SHERD_TRY(generation, source->generation());
    SHERD_TRY(json, Json::parse(text, limits.json_depth, limits.json_values));
    return std::optional(StoredJson{std::move(json), std::move(generation)});
  };
  return read().in_key(key);
}

Result<Json> parse_attributes(const Json& document) {
  const Json* attributes = document.find("attributes");
  if (attributes == nullptr) return Json();
  if (!attributes->is_object()) return wrong_value(*attributes, "an object").in_member("attributes");
  return *attributes;
}

Error bad_node_name(std::string_view name, std::string_view why) {
  return invalid_argument("'" + std::string(name) + "' cannot be the name of a node: " + std::string(why));
}

Result<void> check_node_name(std::string_view name) {
  if (name.empty()) return invalid_argument("a node's name cannot be empty");
  if (name.find('/') != name.npos) return bad_node_name(name, "it contains '/'");
  if (name.find('\0') != name.npos) return bad_node_name(name, "it contains a NUL byte");
  if (name.find_first_not_of('.') == name.npos) return bad_node_name(name, "it consists of dots only");
  if (is_staging(name)) return bad_node_name(name, "names that begin like it are those of nodes that are being made");
  return {};
}

bool is_chunk_key(std::string_view key, bool joined) noexcept {
  if (!key.starts_with('c')) return false;
  key.remove_prefix(1);
  const std::size_t at = key.find_first_of("./");
  const char separator = at == key.npos ? '/' : key[at];
  if (!joined) {
    if (at != 0) return false;
    key.remove_prefix(1);
  }
  for (;;) {
    const std::size_t end = key.find(separator);
    const std::string_view number = key.substr(0, end);
    if (number.empty() || number.find_first_not_of("0123456789") != number.npos) return false;
    if (number.size() > 1 && number.front() == '0') return false;
    if (end == key.npos) return true;
    key.remove_prefix(end + 1);
  }
}

}  // namespace sherd
