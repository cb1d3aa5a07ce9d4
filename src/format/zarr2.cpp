// The documents of Zarr v2: `.zarray` or `.zgroup` makes a node visible, `.zattrs` next to it has the attributes, and
// `.zmetadata` in a group has copies of all documents below it, including the group's own. A node's metadata is an
// object of these documents by name. zarr2_array.cpp has array documents.
#include "format/zarr2.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "base/lenient.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "format/zarr_common.hpp"
#include "node/codec_members.hpp"
#include "node/document.hpp"
#include "node/extension.hpp"
#include "node/format.hpp"
#include "node/grid.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

using zarr2::kArray, zarr2::kAttributes, zarr2::kConsolidated, zarr2::kGroup;

constexpr int kIndent = 4;
constexpr const char *kEntries = "metadata", *kVersion = "zarr_consolidated_format";
/// In the order of writing; the last two make a node visible.
constexpr const char* kNames[] = {kAttributes, kConsolidated, kGroup, kArray};

Result<NodeType> type_of(const Json& node) {
  if (!node.is_object()) return invalid_argument("a node's metadata is an object of its documents");
  if (node.find(kArray) != nullptr) return NodeType::array;
  if (node.find(kGroup) != nullptr) return NodeType::group;
  return invalid_argument("neither an array nor a group: .zarray and .zgroup are missing");
}

Result<void> check_object(const Json* json, const char* name) {
  if (json == nullptr || json->is_object() || (json->is_null() && name == kConsolidated)) return {};
  return wrong_value(*json, "an object").in_member(name);
}

Json attributes_of(const Json& node) {
  const Json* attributes = node.find(kAttributes);
  return attributes != nullptr ? *attributes : Json(Json::Object{});
}

/// The document to which a key in a list of keys belongs.
struct EntryKey {
  std::string path, name;
};
std::optional<EntryKey> entry_key(const std::string& key) {
  const KeyParts parts = split_key(key);
  if (parts.name != kArray && parts.name != kGroup && parts.name != kAttributes) return std::nullopt;
  std::string path(parts.prefix);
  if (!path.empty()) path.pop_back();
  return EntryKey{std::move(path), std::string(parts.name)};
}

const Json* entries_in(const Json& group) {
  const Json* found = group.find(kConsolidated);
  return found != nullptr ? zarr2::consolidated_entries(*found) : nullptr;
}

template <NodeType type>
std::optional<NodeType> stored_type(const Json& document) {
  return zarr2::check_version(document) ? type : NodeType::unknown;
}

class Zarr2 final : public Format, public Consolidation, public CodecMembers {
 public:
  explicit Zarr2(CodecTable codecs) noexcept : codecs_(codecs) {}

  [[nodiscard]] const FormatTraits& traits() const noexcept override {
    // zarr-python's own default.
    static const FormatTraits all{
        .name = "zarr2",
        .default_codecs = {
            {Json(Json::Object{
                {"name", "blosc"},
                {"configuration",
                 Json::Object{{"cname", "lz4"}, {"clevel", 5}, {"shuffle", "shuffle"}, {"blocksize", 0}}}})},
            {"bytes"},
            true,
            false}};
    return all;
  }
  [[nodiscard]] NodeKeys keys(const std::string& path) const override {
    const std::string prefix = prefix_of(path);
    return {.array = prefix + kArray,
            .group = prefix + kGroup,
            .documents = {prefix + kArray, prefix + kGroup, prefix + kAttributes, prefix + kConsolidated},
            .chunks = prefix,
            .contents = {prefix}};
  }
  [[nodiscard]] Result<void> check_name(std::string_view name) const override;
  [[nodiscard]] bool names_chunk(std::string_view name) const noexcept override;

  Result<std::optional<NodeDocument>> open(Store& store, const std::string& path, const Limits& limits) const override;
  [[nodiscard]] Result<NodeDocument> lower(Json document, const Limits& limits) const override;
  [[nodiscard]] std::vector<std::string> ignored_members(const Json& document) const override;
  Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                const Limits& limits,
                                                                const KnownType& known) const override {
    const TypeDocument documents[] = {{kArray, stored_type<NodeType::array>}, {kGroup, stored_type<NodeType::group>}};
    return members_in_directories(*this, store, path, limits, known, documents);
  }

  [[nodiscard]] Result<Json> array_document(const ArraySpec& spec) const override;
  [[nodiscard]] Result<Json> group_document(const Json& attributes) const override;
  [[nodiscard]] Result<Json> changed(Json document, const NodeChange& change) const override;
  [[nodiscard]] std::vector<Document> documents(const std::string& path, const Json& document) const override;

  [[nodiscard]] std::optional<Entries> take_entries(Json& group) const override;
  [[nodiscard]] Result<Json> with_entries(Json group, Entries entries) const override;
  [[nodiscard]] Json without_entries(Json node) const override;
  [[nodiscard]] std::optional<Json> own_copy(const Json& group) const override {
    const Json* const list = entries_in(group);
    if (list == nullptr || list->find(kGroup) == nullptr) return std::nullopt;
    Json copy{Json::Object{{kGroup, *list->find(kGroup)}}};
    if (const Json* attributes = list->find(kAttributes)) copy.set(kAttributes, *attributes);
    return copy;
  }
  [[nodiscard]] Result<NodeType> type(const Json& entry) const override { return type_of(entry); }
  [[nodiscard]] std::string_view entries_document() const noexcept override { return kConsolidated; }

  Result<void> complete(Store& store, const std::string& path, NodeDocument& node) const override;
  [[nodiscard]] std::string stored_member(const NodeDocument& array, std::string_view member) const override {
    return zarr2::stored_member(*array.document.find(kArray), array.array->codecs, member);
  }

 private:
  CodecTable codecs_;
};

/// Determines the separator of chunk keys from the stored keys, if it is not in the document: writers whose stores
/// nested directories did not always write it.
Result<void> find_separator(Store& store, const std::string& prefix, ArraySpec& array) {
  KeyEncoding& keys = array.keys;
  const ChunkGrid dots(array);
  SHERD_TRY(first, store.open(prefix + dots.key(Shape(array.shape.size(), 0))));
  if (first != nullptr) return {};
  ArraySpec nested = array;
  nested.keys.separator = '/';
  const ChunkGrid slashes(nested);
  const auto listed = store.visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    if (slashes.parse_key(entry.name)) keys.separator = '/';
    return keys.separator != '/' && !dots.parse_key(entry.name);
  });
  if (!listed.has_value()) {
    if (!is_unlisted(listed.error())) return listed.error();
    SHERD_TRY(other, store.open(prefix + slashes.key(Shape(array.shape.size(), 0))));
    if (other != nullptr) keys.separator = '/';
  }
  if (keys.separator == '/')
    array.remarks.emplace_back(
        "'dimension_separator' is missing, and the keys of chunks use '/'; other readers find none");
  return {};
}

/// One of a node's documents, which must be an object. Consolidated metadata are copies: if they are damaged and the
/// store can list, they are null.
Result<std::optional<StoredJson>> read_document(Store& store, Store& documents, const std::string& key,
                                                std::string_view name, const Limits& limits) {
  const bool by_python = name == kAttributes || name == kConsolidated;  // zarr-python prints xarray's _FillValue there
  auto stored = read_json(documents, key, limits, by_python ? BareNumbers::anywhere : BareNumbers::in_values);
  if (stored && *stored && !(*stored)->json.is_object())
    stored = corrupt("a metadata document must be a JSON object").in_key(key);
  if (stored || name != kConsolidated || !store.traits().can_list || !is_stored_fault(stored.error())) return stored;
  SHERD_TRY(generation, stored_generation(documents, key));
  if (!generation) return std::optional<StoredJson>();
  return std::optional(StoredJson{{}, *std::move(generation)});
}

Result<std::optional<NodeDocument>> Zarr2::open(Store& store, const std::string& path, const Limits& limits) const {
  const std::string prefix = prefix_of(path);
  SHERD_TRY(documents, prefetched_store(store, keys(path).documents));
  Json document;
  std::vector<DocumentVersion> versions;
  const auto read = [&](const char* name) -> Result<bool> {
    SHERD_TRY(stored, read_document(store, *documents, prefix + name, name, limits));
    if (!stored) return false;
    document.set(name, std::move(stored->json));
    versions.insert(versions.begin(), {prefix + name, std::move(stored->generation)});
    return true;
  };
  SHERD_TRY(is_array, read(kArray));
  if (!is_array) {
    SHERD_TRY(is_group, read(kGroup));
    if (!is_group) return std::optional<NodeDocument>();
    SHERD_TRY(read(kConsolidated));
  }
  SHERD_TRY(read(kAttributes));
  auto node = lower(std::move(document), limits);
  if (!node) return stored_error(std::move(node).error()).in_key(prefix + (is_array ? kArray : kGroup));
  SHERD_TRY(complete(store, path, *node));
  node->versions = std::move(versions);
  return std::optional(*std::move(node));
}

Result<void> Zarr2::complete(Store& store, const std::string& path, NodeDocument& node) const {
  if (!node.array || !zarr2::lacks_separator(*node.document.find(kArray))) return {};
  return find_separator(store, prefix_of(path), *node.array);
}

Result<NodeDocument> Zarr2::lower(Json document, const Limits& limits) const {
  NodeDocument node;
  SHERD_TRY(kind, type_of(document));
  node.type = kind;
  SHERD_TRY(check_object(document.find(kAttributes), kAttributes));
  node.attributes = attributes_of(document);
  if (kind == NodeType::array) {
    SHERD_TRY(array, zarr2::parse_array(*document.find(kArray), limits, codecs_));
    array.dimension_names = names_in_attributes(node.attributes, array.shape.size());
    if (!array.dimension_names.empty()) node.attributes.erase(kNamesAttribute);
    node.array = std::move(array);
    quote_fill(*document.find(kArray));
  } else {
    SHERD_TRY(zarr2::check_version(*document.find(kGroup)));
    SHERD_TRY(check_object(document.find(kConsolidated), kConsolidated));
  }
  node.document = std::move(document);
  return node;
}

Result<Json> Zarr2::array_document(const ArraySpec& spec) const {
  if (!spec.format_options.is_null())
    return invalid_argument("Zarr v2 has no options of its own").in_member("format_options");
  SHERD_TRY(array, zarr2::print_array(spec, codecs_));
  SHERD_TRY(names, names_attribute_of(spec).in_member("dimension_names"));
  Json attributes = spec.attributes.is_null() ? Json(Json::Object{}) : spec.attributes;
  if (names.size() > 0) attributes.set(kNamesAttribute, std::move(names));
  return Json(Json::Object{{kArray, std::move(array)}, {kAttributes, std::move(attributes)}});
}

// Always with attributes, even if empty: netcdf-c 4.10 cannot open an array without them.
Result<Json> Zarr2::group_document(const Json& attributes) const {
  return Json(Json::Object{{kGroup, Json::Object{{"zarr_format", 2}}},
                           {kAttributes, attributes.is_null() ? Json(Json::Object{}) : attributes}});
}

Result<Json> Zarr2::changed(Json document, const NodeChange& change) const {
  Json* array = document.find(kArray);
  if (change.shape) *array = zarr2::with_shape(std::move(*array), *change.shape);
  if (change.attributes) {
    const std::size_t rank = array != nullptr ? array->find("shape")->size() : 0;
    Json fresh = with_bare_numbers_of(attributes_of(document), *change.attributes);
    if (array != nullptr) fresh = with_names_of(attributes_of(document), rank, std::move(fresh));
    document.set(kAttributes, std::move(fresh));
    if (const auto list = consolidated_entries(*this, document)) {
      SHERD_TRY(renewed, with_entries(std::move(document), *list));
      document = std::move(renewed);
    }
  }
  if (change.chunks == nullptr) return document;
  SHERD_TRY(chunks, zarr2::with_chunks(*document.find(kArray), *change.chunks, codecs_));
  document.set(kArray, std::move(chunks));
  return document;
}

std::vector<Document> Zarr2::documents(const std::string& path, const Json& document) const {
  std::vector<Document> all;
  for (const char* name : kNames)
    if (const Json* each = document.find(name); each != nullptr && !each->is_null())
      all.push_back({prefix_of(path) + name, dump_lenient(*each, kIndent)});
  return all;
}

Result<void> Zarr2::check_name(std::string_view name) const {
  SHERD_TRY(check_node_name(name));
  if (std::ranges::find(kNames, name) != std::end(kNames))
    return bad_node_name(name, "it is the name of metadata documents");
  if (!is_utf8(name)) return bad_node_name(name, "it is not valid UTF-8");
  return {};
}

bool Zarr2::names_chunk(std::string_view name) const noexcept {
  const std::size_t at = name.find_first_of("./");
  return is_coordinates(name, at == name.npos ? '/' : name[at]);
}

std::optional<Consolidation::Entries> Zarr2::take_entries(Json& group) const {
  if (entries_in(group) == nullptr) return std::nullopt;
  std::map<std::string, Json> nodes;
  for (auto& [key, document] : group.find(kConsolidated)->find(kEntries)->members()) {
    if (const auto entry = entry_key(key); entry && is_node_path(*this, entry->path))
      nodes[entry->path].set(entry->name, std::move(document));
  }
  group.erase(kConsolidated);
  std::erase_if(nodes, [](const auto& node) { return !type_of(node.second); });
  return Entries(std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
}

// Existing entries keep their order, and unknown ones are preserved. If there are new ones, all are sorted by key,
// which keeps those of one group together: zarr-python 3 loses members of a group whose entries are apart.
Result<Json> Zarr2::with_entries(Json group, Entries entries) const {
  std::map<std::string, Json> fresh;
  const auto add = [&](const std::string& path, const Json& node) {
    for (const char* name : kNames)
      if (const Json* document = node.find(name); document != nullptr && name != kConsolidated)
        fresh.emplace(prefix_of(path) + name, *document);
  };
  add("", group);
  for (const auto& [path, node] : entries) add(path, node);
  const Json* present = group.find(kConsolidated);
  Json consolidated = present != nullptr && present->is_object() ? *present : Json(Json::Object{{kEntries, nullptr}});
  consolidated.set(kVersion, 1);
  Json::Object list;
  if (const Json* old = consolidated.find(kEntries))
    for (const auto& [key, document] : old->members()) {
      auto now = fresh.extract(key);
      if (!now.empty() || !entry_key(key)) list.emplace_back(key, now.empty() ? document : std::move(now.mapped()));
    }
  for (auto& [key, document] : fresh) list.emplace_back(key, std::move(document));
  if (!fresh.empty()) std::ranges::sort(list, {}, &Json::Member::first);
  consolidated.set(kEntries, Json(std::move(list)));
  group.set(kConsolidated, std::move(consolidated));
  return group;
}

std::vector<std::string> Zarr2::ignored_members(const Json& document) const {
  constexpr std::string_view known_in_arrays[] = {
      "zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator"};
  constexpr std::string_view known_in_groups[] = {"zarr_format", "consolidated_metadata"};
  std::vector<std::string> names;
  const auto add = [&](const char* part, std::span<const std::string_view> known) {
    const Json* members = document.find(part);
    if (members == nullptr) return;
    for (const auto& [name, value] : members->members())
      if (std::ranges::find(known, name) == known.end()) names.push_back(name);
  };
  add(kArray, known_in_arrays);
  add(kGroup, known_in_groups);
  return names;
}

Json Zarr2::without_entries(Json node) const {
  node.erase(kConsolidated);
  if (Json* group = node.find(kGroup)) group->erase("consolidated_metadata");  // zarr-python 3 adds an empty one
  if (node.find(kAttributes) != nullptr && node.find(kAttributes)->size() == 0) node.erase(kAttributes);
  return node;
}

}  // namespace

const Json* zarr2::consolidated_entries(const Json& consolidated) {
  const Json *list = consolidated.find(kEntries), *version = consolidated.find(kVersion);
  if (version != nullptr && version->as_int() != 1) return nullptr;
  return list != nullptr && list->is_object() ? list : nullptr;
}

const Format& zarr2_format(CodecTable codecs) noexcept;
const Format& zarr2_format(CodecTable codecs) noexcept {
  static const Zarr2 instance(codecs);
  return instance;
}

}  // namespace sherd
