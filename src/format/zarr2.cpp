// The documents of Zarr v2: `.zarray` or `.zgroup` makes a node visible, `.zattrs` next to it has the attributes, and
// `.zmetadata` in a group has copies of all documents below it, including the group's own. A node's metadata is an
// object of these documents by name. zarr2_array.cpp has array documents.
#include "format/zarr2.hpp"

#include <algorithm>
#include <functional>
#include <map>

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
#include "store/prefetched.hpp"

namespace sherd {

namespace {

using zarr2::kArray, zarr2::kAttributes, zarr2::kConsolidated, zarr2::kGroup;

constexpr int kIndent = 4;
constexpr const char *kEntries = "metadata", *kVersion = "zarr_consolidated_format";
constexpr const char* kSeparator = "dimension_separator";
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

constexpr const char* kAddedNames = "added_dimension_names";        ///< in a spelling: names that only the copy has
constexpr const char* kReplacedNames = "replaced_dimension_names";  ///< their attribute, if the copy's is different
constexpr const char* kNamesBefore = "dimension_names_before";      ///< what follows it; only if needed anyway

/// The attribute after the dimension names; empty if they are the last or there are none.
std::string behind_names(const Json& attributes) {
  const Json::Object& members = attributes.members();
  const auto names = std::ranges::find(members, kNamesAttribute, &Json::Member::first);
  return names == members.end() || names + 1 == members.end() ? std::string() : (names + 1)->first;
}

/// The attributes with the dimension names before another one, if both exist.
Json with_names_before(const Json& attributes, std::string_view next) {
  const Json* names = attributes.find(kNamesAttribute);
  if (names == nullptr || attributes.find(next) == nullptr) return attributes;
  Json::Object members;
  for (const auto& [key, value] : attributes.members()) {
    if (key == kNamesAttribute) continue;
    if (key == next) members.emplace_back(kNamesAttribute, *names);
    members.emplace_back(key, value);
  }
  return Json(std::move(members));
}

template <NodeType type>
std::optional<NodeType> stored_type(const Json& document) {
  return zarr2::check_version(document) ? type : NodeType::unknown;
}

/// The spelling differences between `document` and `canonical`, which has the same values: for each such member its
/// value in `canonical` (`is`) and in the document (`was`), where one may be missing; and the order of members.
Json spelling_of(const Json& document, const Json& canonical) {
  Json::Object members;
  Json::Array order, usual;
  for (const auto& [key, was] : document.members()) {
    order.emplace_back(key);
    const Json* is = canonical.find(key);
    if (is == nullptr)
      members.emplace_back(key, Json::Object{{"was", was}});
    else if (is->dump() != was.dump())
      members.emplace_back(key, Json::Object{{"is", *is}, {"was", was}});
  }
  for (const auto& [key, is] : canonical.members()) {
    usual.emplace_back(key);
    if (document.find(key) == nullptr) members.emplace_back(key, Json::Object{{"is", is}});
  }
  Json spelling;
  if (!members.empty()) spelling.set("members", Json(std::move(members)));
  if (order != usual) spelling.set("order", Json(std::move(order)));
  return spelling;
}

Json respelled_as(const Json& document, const Json& spelling) {
  std::vector<std::pair<std::string_view, const Json*>> all;  // nullptr: not a member
  std::map<std::string_view, std::size_t> index;
  const auto at = [&](std::string_view key) -> const Json*& {
    const auto [found, is_new] = index.emplace(key, all.size());
    if (is_new) all.emplace_back(key, nullptr);
    return all[found->second].second;
  };
  for (const auto& [key, value] : document.members()) at(key) = &value;
  if (const Json* members = spelling.find("members"))
    for (const auto& [key, each] : members->members()) {
      const Json *is = each.find("is"), *&now = at(key);
      if ((is == nullptr) == (now == nullptr) && (is == nullptr || is->dump() == now->dump())) now = each.find("was");
    }
  Json::Object ordered;
  const auto take = [&](std::string_view key, const Json*& value) {
    if (value != nullptr) ordered.emplace_back(key, *value);
    value = nullptr;
  };
  if (const Json* order = spelling.find("order"))
    for (const Json& key : order->elements())
      if (const auto found = index.find(key.text()); found != index.end()) take(key.text(), all[found->second].second);
  for (auto& [key, value] : all) take(key, value);
  return ordered;
}

/// A node with these documents in that spelling.
Json respelled_node(Json document, const Json& spelling) {
  for (const char* name : {kArray, kGroup})
    if (Json* each = document.find(name)) {
      Json spelled = respelled_as(*each, spelling);
      // Without it the document means '.', and only stored chunks show that it is '/'.
      const Json* separator = each->find(kSeparator);
      if (separator != nullptr && separator->text() == "/" && spelled.find(kSeparator) == nullptr)
        spelled.set(kSeparator, *separator);
      *each = std::move(spelled);
    }
  const Json* added = spelling.find(kAddedNames);
  Json* attributes = document.find(kAttributes);
  const Json* names = attributes == nullptr ? nullptr : attributes->find(kNamesAttribute);
  if (added != nullptr && names != nullptr && *names == *added) attributes->erase(kNamesAttribute);
  const Json* next = spelling.find(kNamesBefore);
  if (next != nullptr && next->is_string() && names != nullptr)
    *attributes = with_names_before(*attributes, next->text());
  return document;
}

class Zarr2 final : public Format, public Consolidation, public Spelling, public CodecMembers {
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
  [[nodiscard]] std::string_view member() const noexcept override { return "sherd_zarr2"; }
  [[nodiscard]] Json spelling(const NodeDocument& node) const override;
  [[nodiscard]] Json respelled(const Json& document, const Json& spelling,
                               const std::function<bool(const Json&)>& accepts) const override;
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
  if (store.traits().can_list) {
    SHERD_TRY(store.visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      if (slashes.parse_key(entry.name)) keys.separator = '/';
      return keys.separator != '/' && !dots.parse_key(entry.name);
    }));
  } else {
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

// The spelling of the document that makes the node visible. Attributes are copied, and may be edited in the copy.
Json Zarr2::spelling(const NodeDocument& node) const {
  if (!node.array) {
    const Json* group = node.document.find(kGroup);
    // Readers of Zarr v3 tolerate less in groups, so only data that would be lost are worth a member there.
    return group != nullptr && group->size() > 1 ? spelling_of(*group, Json::Object{{"zarr_format", 2}}) : Json();
  }
  auto canonical = zarr2::print_array(*node.array, codecs_);
  if (!canonical) {  // the copy cannot be expressed exactly, for example because it has shards
    const auto own = zarr2::parse_array(*node.document.find(kArray), {}, codecs_);
    if (own) canonical = zarr2::print_array(*own, codecs_);
  }
  Json spelling = canonical ? spelling_of(*node.document.find(kArray), *canonical) : Json();
  // A copy in a format that requires dimension names has some that this array lacks.
  const Json* attributes = node.document.find(kAttributes);
  const auto names = names_attribute_of(*node.array);
  const Json* own = attributes != nullptr ? attributes->find(kNamesAttribute) : nullptr;
  if (names && names->size() > 0 && own == nullptr) spelling.set(kAddedNames, *names);
  if (names && names->size() > 0 && own != nullptr && !(*own == *names))
    spelling.set(kReplacedNames, Json::Object{{"is", *names}, {"was", *own}});
  const std::string next = attributes == nullptr ? std::string() : behind_names(*attributes);
  if (!spelling.is_null() && !next.empty()) spelling.set(kNamesBefore, next);
  return spelling;
}

Json with_replaced_names(Json document, const Json& spelling) {
  const Json* replaced = spelling.find(kReplacedNames);
  Json* attributes = document.find(kAttributes);
  Json* names = attributes == nullptr ? nullptr : attributes->find(kNamesAttribute);
  if (replaced == nullptr || names == nullptr) return document;
  const Json *is = replaced->find("is"), *was = replaced->find("was");
  if (is != nullptr && was != nullptr && *is == *names) *names = *was;
  return document;
}

// If a member contradicts the data, the others are restored without it.
Json Zarr2::respelled(const Json& document, const Json& spelling,
                      const std::function<bool(const Json&)>& accepts) const {
  Json whole = respelled_node(document, spelling);
  if (accepts(whole)) return with_replaced_names(std::move(whole), spelling);
  const Json* members = spelling.find("members");
  if (members == nullptr || !members->is_object()) return document;
  Json kept = spelling;
  Json::Object unknown;
  for (const auto& [key, each] : members->members())
    if (each.find("is") == nullptr) unknown.emplace_back(key, each);
  kept.set("members", Json(std::move(unknown)));
  for (const auto& [key, each] : members->members()) {
    if (each.find("is") == nullptr) continue;
    Json more = kept;
    more.find("members")->set(key, each);
    if (accepts(respelled_node(document, more))) kept = std::move(more);
  }
  Json part = respelled_node(document, kept);
  return accepts(part) ? with_replaced_names(std::move(part), spelling) : document;
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
