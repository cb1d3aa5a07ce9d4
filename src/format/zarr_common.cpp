// Reads a metadata document from a store into memory: at most as many bytes as allowed, with its depth and number of
// values bounded while it is parsed.
#include "format/zarr_common.hpp"

#include <algorithm>
#include <map>

#include "base/lenient.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/extension.hpp"
#include "node/path.hpp"
#include "store/key.hpp"
#include "store/reply.hpp"

namespace sherd {

namespace {

/// In consolidated metadata zarr-python before 3.1.2 and other writers in Python have fill values such as NaN without
/// quotes.
void quote_fills(Json& document) {
  Json* const consolidated = document.find("consolidated_metadata");
  Json* const entries = consolidated != nullptr ? consolidated->find("metadata") : nullptr;
  if (entries == nullptr) return;
  for (auto& [path, entry] : entries->members()) quote_fill(entry);
}

/// Whether numbers without quotes are nowhere but in the fill value of an array, and in attributes.
bool has_bare_values_only(const Json& document) {
  return std::ranges::all_of(document.members(), [](const Json::Member& each) {
    return each.first == "attributes" || each.first == "fill_value" || !has_bare_number(each.second, "attributes");
  });
}

Result<std::optional<StoredJson>> parse_reply(Result<ReadReply> reply, const Limits& limits, BareNumbers bare) {
  if (!reply) return std::move(reply).error();
  if (reply->source == nullptr) return std::optional<StoredJson>();
  SHERD_TRY(size, reply->source->size());
  if (size > limits.metadata_bytes)
    return unsupported("the document has " + std::to_string(size) +
                       " bytes, more than the limit metadata_bytes = " + std::to_string(limits.metadata_bytes));
  const std::string_view text(reinterpret_cast<const char*>(reply->bytes.data()), reply->bytes.size());
  SHERD_TRY(generation, reply->source->generation());
  auto json = Json::parse(text, limits.json_depth, limits.json_values);
  if (!json && bare != BareNumbers::refused) {
    auto lenient = parse_lenient(text, limits, {.tails = false, .points = bare == BareNumbers::anywhere});
    if (lenient && bare == BareNumbers::in_values) quote_fills(lenient->json);
    if (lenient && (bare == BareNumbers::anywhere || has_bare_values_only(lenient->json)))
      json = std::move(lenient->json);
  }
  if (!json) return std::move(json).error();
  return std::optional(StoredJson{*std::move(json), std::move(generation)});
}

/// The whole object, unless it is too large.
Result<ReadReply> read_whole(Store& store, const std::string& key, const Limits& limits) {
  SHERD_TRY(source, store.open(key));
  if (source == nullptr) return ReadReply{};
  SHERD_TRY(size, source->size());
  if (size > limits.metadata_bytes) return ReadReply{.source = std::move(source)};
  return reply_from(source, {.of = source});
}

}  // namespace

Result<void> read_all_json(Store& store, std::span<const std::string> keys, const Limits& limits, const OnJson& visit,
                           BareNumbers bare) {
  if (store.traits().parallel_requests <= 1) {  // then getting a size costs no request
    for (std::size_t i = 0; i < keys.size(); ++i)
      SHERD_TRY(visit(i, parse_reply(read_whole(store, keys[i], limits), limits, bare).in_key(keys[i])));
    return {};
  }
  std::vector<ReadRequest> requests;
  requests.reserve(keys.size());
  for (const std::string& key : keys) requests.push_back({.key = key, .length = limits.metadata_bytes});
  return store.read_all(requests, [&](std::size_t i, Result<ReadReply> reply) {
    return visit(i, parse_reply(std::move(reply), limits, bare).in_key(keys[i]));
  });
}

Result<std::optional<StoredJson>> read_json(Store& store, const std::string& key, const Limits& limits,
                                            BareNumbers bare) {
  Result<std::optional<StoredJson>> read = std::optional<StoredJson>();
  SHERD_TRY(read_all_json(
      store, {&key, 1}, limits,
      [&](std::size_t, Result<std::optional<StoredJson>> stored) -> Result<void> {
        read = std::move(stored);
        return {};
      },
      bare));
  return read;
}

Json with_bare_numbers_of(const Json& old, Json fresh) {
  if (!has_bare_number(old)) return fresh;
  for (auto& [name, value] : fresh.members())
    if (const Json* present = old.find(name); present != nullptr && *present == value) value = *present;
  return fresh;
}

Result<void> check_bare_fill(const Json& fill, const DType& dtype, std::vector<std::string>& remarks) {
  if (!has_bare_number(fill)) return {};
  const DType::Kind kind = dtype.kind();
  if (dtype.is_variable() || kind == DType::Kind::raw || kind == DType::Kind::utf32 ||
      kind == DType::Kind::null_terminated_bytes)
    return wrong_value(fill, "a value of type " + dtype.name());
  remarks.emplace_back("'fill_value' has NaN or Infinity without quotes, which JSON lacks");
  return {};
}

void quote_fill(Json& document) {
  if (Json* const fill = document.find("fill_value")) *fill = with_quoted_numbers(std::move(*fill));
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
    return unsupported("the format needs names for all dimensions or none; some have none");
  return Json(std::move(names));
}

Json with_names_of(const Json& old, std::size_t rank, Json fresh) {
  if (names_in_attributes(old, rank).empty() || fresh.find(kNamesAttribute) != nullptr) return fresh;
  std::optional<std::string> before;  // the last member before the names that both have
  for (const auto& [key, value] : old.members()) {
    if (key == kNamesAttribute) break;
    if (fresh.find(key) != nullptr) before = key;
  }
  Json::Object members;
  const auto add_names = [&] { members.emplace_back(kNamesAttribute, *old.find(kNamesAttribute)); };
  if (!before) add_names();
  for (const auto& [key, value] : fresh.members()) {
    members.emplace_back(key, value);
    if (key == before) add_names();
  }
  return members;
}

Error bad_node_name(std::string_view name, std::string_view why) {
  return invalid_argument("'" + std::string(name) + "' cannot be the name of a node: " + std::string(why));
}

Result<void> check_node_name(std::string_view name) {
  if (name.empty()) return invalid_argument("a node's name cannot be empty");
  if (name.find('/') != name.npos) return bad_node_name(name, "it contains '/'");
  if (name.find('\0') != name.npos) return bad_node_name(name, "it contains a NUL byte");
  if (name.find_first_not_of('.') == name.npos) return bad_node_name(name, "it consists of dots only");
  if (is_staging(name))
    return bad_node_name(name, "names with this prefix are reserved for nodes that are being created");
  return {};
}

bool is_node_path(const Format& format, std::string_view path) {
  while (true) {
    const std::size_t end = path.find('/');
    if (!format.check_name(path.substr(0, end))) return false;
    if (end == path.npos) return true;
    path.remove_prefix(end + 1);
  }
}

namespace {

/// Reads the document with this name in each directory, and keeps the types that they give.
Result<void> read_types(Store& store, std::span<const std::string> keys, const Limits& limits,
                        const TypeDocument& document, std::span<std::optional<NodeType>* const> types) {
  return read_all_json(
      store, keys, limits,
      [&](std::size_t i, Result<std::optional<StoredJson>> stored) -> Result<void> {
        if (!stored && stored.error().code() == ErrorCode::unavailable) return std::move(stored).error();
        if (!stored)
          *types[i] = NodeType::unknown;
        else if (*stored)
          *types[i] = document.type_of((*stored)->json);
        return {};
      },
      BareNumbers::in_values);
}

}  // namespace

Result<std::vector<std::pair<std::string, NodeType>>> members_in_directories(const Format& format, Store& store,
                                                                             const std::string& path,
                                                                             const Limits& limits,
                                                                             const Format::KnownType& known,
                                                                             std::span<const TypeDocument> documents) {
  std::map<std::string, std::optional<NodeType>> types;  // there may be many other objects, which are not kept
  SHERD_TRY(store.visit(prefix_of(path), ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    std::string name(entry.name);
    if (!entry.is_prefix || !format.check_name(name)) return true;
    const auto type = known ? known(name) : std::nullopt;
    types.emplace(std::move(name), type);
    return true;
  }));
  for (const TypeDocument& document : documents) {
    std::vector<std::string> keys;
    std::vector<std::optional<NodeType>*> open;
    for (auto& [name, type] : types) {
      if (type) continue;
      keys.push_back(prefix_of(join_path(path, name)) + std::string(document.name));
      open.push_back(&type);
    }
    SHERD_TRY(read_types(store, keys, limits, document, open));
  }
  std::vector<std::pair<std::string, NodeType>> found;
  for (const auto& [name, type] : types)
    if (type) found.emplace_back(name, *type);
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
