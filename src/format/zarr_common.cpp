// Knows how a metadata document gets from a store into memory: its size is looked at before it is read, its depth and
// its number of values before it is taken apart.
#include "format/zarr_common.hpp"

#include <algorithm>

#include "array/extension.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {

Result<std::optional<StoredJson>> read_json(Store& store, const std::string& key, const Limits& limits, Repair repair) {
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
    auto json = Json::parse(text, limits.json_depth, limits.json_values);
    if (!json && repair != nullptr) {
      auto repaired = Json::parse(repair(text), limits.json_depth, limits.json_values);
      if (repaired) json = std::move(repaired);
    }
    if (!json) return std::move(json).error();
    return std::optional(StoredJson{*std::move(json), std::move(generation)});
  };
  return read().in_key(key);
}

std::string with_quoted_numbers(std::string_view text) {
  std::string quoted;
  bool in_string = false;
  while (!text.empty()) {
    std::size_t length = 1;
    if (in_string && text[0] == '\\' && text.size() > 1) length = 2;
    if (text[0] == '"') in_string = !in_string;
    std::string_view number;
    for (const std::string_view each : {"NaN", "Infinity", "-Infinity"})
      if (!in_string && text.starts_with(each)) number = each;
    if (!number.empty()) length = number.size();
    quoted += number.empty() ? std::string(text.substr(0, length)) : '"' + std::string(number) + '"';
    text.remove_prefix(length);
  }
  return quoted;
}

Result<Json> parse_attributes(const Json& document) {
  const Json* attributes = document.find("attributes");
  if (attributes == nullptr) return Json();
  if (!attributes->is_object()) return wrong_value(*attributes, "an object").in_member("attributes");
  return *attributes;
}

std::vector<std::optional<std::string>> names_in_attributes(const Json& attributes, std::size_t rank) {
  std::vector<std::optional<std::string>> names;
  const Json* list = attributes.find(kNamesAttribute);
  if (list == nullptr || !list->is_array() || list->size() != rank) return names;
  if (!std::ranges::all_of(list->elements(), [](const Json& name) { return name.is_string(); })) return names;
  for (const Json& name : list->elements()) names.emplace_back(name.text());
  return names;
}

Result<Json> names_attribute_of(const ArraySpec& spec) {
  Json::Array names;
  for (const auto& name : spec.dimension_names)
    if (name) names.push_back(*name);
  if (!names.empty() && names.size() < spec.shape.size())
    return unsupported("the format keeps the names of all dimensions or of none, and some have none");
  return Json(std::move(names));
}

Json with_names_of(const Json& old, std::size_t rank, Json fresh) {
  if (!names_in_attributes(old, rank).empty() && fresh.find(kNamesAttribute) == nullptr)
    fresh.set(kNamesAttribute, *old.find(kNamesAttribute));
  return fresh;
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

Result<std::vector<std::pair<std::string, NodeType>>> members_in_directories(const Format& format, Store& store,
                                                                             const std::string& path,
                                                                             const Format::KnownType& known,
                                                                             const TypeAt& type_at) {
  SHERD_TRY(listing, store.list_dir(prefix_of(path)));
  std::vector<std::pair<std::string, NodeType>> found;
  for (const std::string& name : listing.prefixes) {
    if (!format.check_name(name)) continue;
    auto type = known ? known(name) : std::nullopt;
    if (!type) {
      SHERD_TRY(stored, type_at(join_path(path, name)));
      type = stored;
    }
    if (type) found.emplace_back(name, *type);
  }
  return found;
}

bool is_coordinates(std::string_view text, char separator) noexcept {
  for (;;) {
    const std::size_t end = text.find(separator);
    const std::string_view number = text.substr(0, end);
    if (number.empty() || number.find_first_not_of("0123456789") != number.npos) return false;
    if (number.size() > 1 && number.front() == '0') return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
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
  return is_coordinates(key, separator);
}

}  // namespace sherd
