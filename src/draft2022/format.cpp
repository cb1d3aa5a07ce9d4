// The documents of the Zarr v3 draft of 2022: the entry point `zarr.json` at the store's root, which determines the
// suffix of all others, `meta/root/PATH.array.json` and `meta/root/PATH.group.json`, and chunks below
// `data/root/PATH/`. A group needs no document: it exists if anything is below it, and the root always exists.
// Since `data` sorts before `meta`, a store that moves directories in this order moves documents last.
// array.cpp has array documents, type.cpp element types.
#include "draft2022/format.hpp"

#include <algorithm>
#include <map>

#include "base/lenient.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "node/document.hpp"
#include "node/extension.hpp"
#include "node/format.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace draft2022 {

namespace {

constexpr std::string_view entry_key = "zarr.json";
constexpr int text_indent = 4;
/// As written by zarr-python and GDAL; the draft's text of May 2022 omits `protocol/`.
constexpr std::string_view core_uri = "https://purl.org/zarr/spec/protocol/core/3.0";

bool is_core_uri(std::string_view uri) {
  const std::string_view name = without_scheme(uri);
  return name == "purl.org/zarr/spec/protocol/core/3.0" || name == "purl.org/zarr/spec/core/3.0";
}

/// The suffix given by an entry point; nullopt if it is not one of the draft's.
Result<std::optional<std::string>> parse_entry_point(const Json& document) {
  const Json* version = document.find("zarr_format");
  if (version == nullptr || !version->is_string() || version->text().find("://") == std::string::npos)
    return std::optional<std::string>();
  if (!is_core_uri(version->text()))
    return unsupported("'" + version->text() + "' is not a draft of Zarr v3 that draft2022 supports")
        .in_member("zarr_format");
  SHERD_TRY(check_members(document, {"zarr_format", "metadata_encoding", "metadata_key_suffix", "extensions"}));
  const Json* encoding = document.find("metadata_encoding");
  if (encoding != nullptr && !(encoding->is_string() && is_core_uri(encoding->text())))
    return unsupported("only " + std::string(core_uri) + " is known").in_member("metadata_encoding");
  const Json* suffix = document.find("metadata_key_suffix");
  if (suffix == nullptr) return std::optional<std::string>(".json");
  if (!suffix->is_string() || suffix->text().find('/') != std::string::npos ||
      suffix->text().find('\0') != std::string::npos)
    return wrong_value(*suffix, "a string that can end a key, such as \".json\"").in_member("metadata_key_suffix");
  return std::optional(suffix->text());
}

/// Whether metadata documents of a hierarchy are stored here, with or without an entry point.
Result<bool> has_documents(Store& store) {
  const auto listing = store.list_dir("meta/");
  if (!listing) return is_unlisted(listing.error()) ? Result<bool>(false) : Result<bool>(listing.error());
  if (std::ranges::any_of(listing->objects, [](const auto& object) { return object.name.starts_with("root."); }))
    return true;
  SHERD_TRY(nothing, lists_nothing(store, "meta/root/"));
  return !nothing;
}

/// Whether this is a node of Zarr v3, whose hierarchy may have members called `meta` and `data`.
bool is_zarr3_node(const Json& document) {
  const Json* version = document.find("zarr_format");
  const Json* type = document.find("node_type");
  return version != nullptr && version->is_number() && version->text() == "3" && type != nullptr && type->is_string() &&
         (type->text() == "group" || type->text() == "array");
}

std::string_view type_suffix(NodeType type) { return type == NodeType::array ? ".array" : ".group"; }

class Draft2022 final : public Format, public EntryPoint, public MemberDocuments {
 public:
  explicit Draft2022(CodecTable codecs) noexcept : codecs_(codecs) {}
  Draft2022(CodecTable codecs, std::string suffix)
      : codecs_(codecs), suffix_(std::move(suffix)), has_entry_point_(true) {}

  [[nodiscard]] const FormatTraits& traits() const noexcept override {
    // zarr-python's own codecs, which all its releases with the draft can read. The draft's index has no checksum.
    static const FormatTraits all{
        .name = "draft2022", .default_codecs = {{"blosc:lz4:5"}, {"bytes"}}, .only_index = draft2022::index_codecs()};
    return all;
  }
  [[nodiscard]] NodeKeys keys(const std::string& path) const override;
  [[nodiscard]] Result<void> check_name(std::string_view name) const override;
  [[nodiscard]] bool names_chunk(std::string_view name) const noexcept override { return is_chunk_key(name, true); }

  [[nodiscard]] std::string_view key() const noexcept override { return entry_key; }
  [[nodiscard]] Result<std::shared_ptr<const Format>> bind(Store& store, const Limits& limits) const override;
  Result<std::shared_ptr<const Format>> create(Store& store, const Limits& limits) const override;
  [[nodiscard]] std::shared_ptr<const Format> created() const override {
    return std::make_shared<const Draft2022>(codecs_, suffix_);
  }
  [[nodiscard]] std::optional<std::string> member_of(std::string_view object) const override;

  Result<std::optional<NodeDocument>> open(Store& store, const std::string& path, const Limits& limits) const override;
  [[nodiscard]] Result<NodeDocument> lower(Json document, const Limits& limits) const override;
  Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                const Limits& limits,
                                                                const KnownType& known) const override;

  [[nodiscard]] Result<Json> array_document(const ArraySpec& spec) const override { return print_array(spec, codecs_); }
  [[nodiscard]] Result<Json> group_document(const Json& attributes) const override;
  [[nodiscard]] Result<Json> changed(Json document, const NodeChange& change) const override;
  [[nodiscard]] std::vector<Document> documents(const std::string& path, const Json& document) const override;

 private:
  [[nodiscard]] static std::string meta_prefix(const std::string& path) {
    return path.empty() ? "meta/root/" : "meta/root/" + path + "/";
  }
  [[nodiscard]] std::string own_key(const std::string& path, NodeType type) const {
    return (path.empty() ? "meta/root" : "meta/root/" + path) + std::string(type_suffix(type)) + suffix_;
  }
  [[nodiscard]] static Result<NodeType> type(const Json& document);
  static Result<void> set_attributes(Json& document, Json all);
  [[nodiscard]] std::optional<std::pair<std::string, NodeType>> node_of(std::string_view object) const;
  Result<NodeDocument> lower_as(NodeType type, Json document, const Limits& limits) const;
  Result<std::optional<NodeDocument>> implicit_group(Store& store, const std::string& path) const;
  /// `corrupt` if the entry point's suffix hides the document of the node at `path`.
  Result<void> check_suffix(Store& store, const std::string& path) const;

  CodecTable codecs_;
  std::string suffix_ = ".json";
  bool has_entry_point_ = false;  ///< whether the store to which this is bound has one
};

NodeKeys Draft2022::keys(const std::string& path) const {
  const std::string array = own_key(path, NodeType::array), group = own_key(path, NodeType::group);
  const std::string chunks = path.empty() ? "data/root/" : "data/root/" + path + "/";
  return {.array = array,
          .group = group,
          .documents = {array, group},
          .chunks = chunks,
          .contents = {meta_prefix(path), chunks}};
}

Result<std::shared_ptr<const Format>> Draft2022::bind(Store& store, const Limits& limits) const {
  const std::string key(entry_key);
  SHERD_TRY(stored, read_json(store, key, limits, BareNumbers::in_values));
  if (!stored) return std::shared_ptr<const Format>(std::make_shared<const Draft2022>(codecs_));
  auto suffix = parse_entry_point(stored->json);
  if (!suffix) return stored_error(std::move(suffix).error()).in_key(key);
  if (!*suffix && is_zarr3_node(stored->json)) return std::shared_ptr<const Format>();
  if (!*suffix) {
    SHERD_TRY(damaged, has_documents(store));
    if (!damaged) return std::shared_ptr<const Format>();
    return corrupt("must be " + std::string(core_uri) + ": documents of the format draft2022 exist; repair it")
        .in_member("zarr_format")
        .in_key(key);
  }
  return std::shared_ptr<const Format>(std::make_shared<const Draft2022>(codecs_, **std::move(suffix)));
}

Result<std::shared_ptr<const Format>> Draft2022::create(Store& store, const Limits& limits) const {
  if (!has_entry_point_) {
    Json document;
    document.set("zarr_format", core_uri);
    document.set("metadata_encoding", core_uri);
    document.set("metadata_key_suffix", suffix_);
    document.set("extensions", Json::Array{});
    const std::string key(entry_key);
    auto written = store.set(key, document.dump(text_indent), Condition::absent());
    // Another creator may have been first, in the same hierarchy or another.
    if (!written && written.error().code() != ErrorCode::conflict) return std::move(written).in_key(key).error();
  }
  return bind(store, limits);
}

std::optional<std::pair<std::string, NodeType>> Draft2022::node_of(std::string_view object) const {
  for (const NodeType type : {NodeType::array, NodeType::group}) {
    const std::string ending = std::string(type_suffix(type)) + suffix_;
    if (!object.ends_with(ending)) continue;
    std::string name(object.substr(0, object.size() - ending.size()));
    if (check_name(name)) return std::pair(std::move(name), type);
  }
  return std::nullopt;
}

std::optional<std::string> Draft2022::member_of(std::string_view object) const {
  if (object == zarr2::kConsolidated) return std::string();
  auto node = node_of(object);
  return node ? std::optional(std::move(node->first)) : std::nullopt;
}

Result<std::optional<NodeDocument>> Draft2022::open(Store& store, const std::string& path, const Limits& limits) const {
  SHERD_TRY(documents, prefetched_store(store, keys(path).documents));
  for (const NodeType type : {NodeType::array, NodeType::group}) {
    const std::string key = own_key(path, type);
    SHERD_TRY(stored, read_json(*documents, key, limits));
    if (!stored) continue;
    if (!has_entry_point_)
      return not_found("missing: " + key + " is of the format draft2022, whose hierarchies have an entry point there")
          .in_key(entry_key);
    auto node = lower_as(type, std::move(stored->json), limits);
    if (!node) return stored_error(std::move(node).error()).in_key(key);
    node->versions = {{key, std::move(stored->generation)}};
    if (node->array && node->array->shape.empty()) {
      // The text says `c`, zarr-python `c0`: the stored one is used.
      KeyEncoding& encoding = node->array->keys;
      SHERD_TRY(other, store.open(keys(path).chunks + (encoding.bare ? "c0" : "c")));
      if (other != nullptr) encoding.bare = !encoding.bare;
    }
    return std::optional(*std::move(node));
  }
  if (has_entry_point_) SHERD_TRY(check_suffix(store, path));
  return implicit_group(store, path);
}

// If the suffix were different, there would be a document of this node, and none of its neighbours would have this one.
Result<void> Draft2022::check_suffix(Store& store, const std::string& path) const {
  const std::string key = own_key(path, NodeType::array);
  const KeyParts parts = split_key(key);
  const std::string name(
      parts.name.substr(0, parts.name.size() - suffix_.size() - type_suffix(NodeType::array).size()));
  const auto listing = store.list_dir(std::string(parts.prefix));
  if (!listing) return is_unlisted(listing.error()) ? Result<void>() : listing.error();
  std::string other;
  for (const auto& object : listing->objects) {
    if (node_of(object.name)) return {};
    const bool is_named = object.name.starts_with(name + ".array") || object.name.starts_with(name + ".group");
    if (is_named) other = object.name;
  }
  if (other.empty()) return {};
  return corrupt("'" + suffix_ + "' is not the suffix of the documents: found " + std::string(parts.prefix) + other +
                 "; repair it")
      .in_member("metadata_key_suffix")
      .in_key(entry_key);
}

Result<std::optional<NodeDocument>> Draft2022::implicit_group(Store& store, const std::string& path) const {
  if (!has_entry_point_) return std::optional<NodeDocument>();
  if (!path.empty()) {
    const auto nothing = lists_nothing(store, meta_prefix(path));
    if (!nothing.has_value() && !is_unlisted(nothing.error())) return nothing.error();
    if (!nothing.has_value() || *nothing) return std::optional<NodeDocument>();
  }
  NodeDocument node;
  SHERD_TRY(document, group_document(Json()));
  node.document = std::move(document);
  node.attributes = Json(Json::Object{});
  node.implicit = true;
  return std::optional(std::move(node));
}

Result<NodeType> Draft2022::type(const Json& document) {
  if (!document.is_object()) return invalid_argument("a metadata document must be a JSON object");
  return document.find("shape") != nullptr ? NodeType::array : NodeType::group;
}

Result<NodeDocument> Draft2022::lower(Json document, const Limits& limits) const {
  SHERD_TRY(kind, type(document));
  return lower_as(kind, std::move(document), limits);
}

Result<NodeDocument> Draft2022::lower_as(NodeType type, Json document, const Limits& limits) const {
  if (!document.is_object()) return invalid_argument("a metadata document must be a JSON object");
  NodeDocument node;
  node.type = type;
  if (type == NodeType::array) {
    SHERD_TRY(array, parse_array(document, limits, codecs_));
    node.array = std::move(array);
  } else {
    SHERD_TRY(check_members(document, {"attributes", "extensions"}));
  }
  SHERD_TRY(attributes, parse_attributes(document));
  node.attributes = attributes.is_null() ? Json(Json::Object{}) : std::move(attributes);
  if (type == NodeType::array && hidden_filters(document) != nullptr) node.attributes.erase("filters");
  if (node.array && !node.array->dimension_names.empty()) node.attributes.erase(kNamesAttribute);
  node.document = std::move(document);
  return node;
}

Result<Json> Draft2022::group_document(const Json& attributes) const {
  Json document;
  document.set("attributes", attributes.is_null() ? Json(Json::Object{}) : attributes);
  return document;
}

Result<Json> Draft2022::changed(Json document, const NodeChange& change) const {
  if (change.shape) document.set("shape", Json::numbers(*change.shape));
  if (change.attributes) SHERD_TRY(set_attributes(document, *change.attributes));
  return change.chunks != nullptr ? with_chunks(std::move(document), *change.chunks, codecs_) : document;
}

Result<void> Draft2022::set_attributes(Json& document, Json all) {
  SHERD_TRY(kind, type(document));
  if (kind == NodeType::array) {
    if (const Json* filters = hidden_filters(document)) all.set("filters", *filters);
    const Json* old = document.find("attributes");
    const Json* shape = document.find("shape");
    if (old != nullptr) all = with_names_of(*old, shape->size(), std::move(all));
  }
  document.set("attributes", std::move(all));
  return {};
}

std::vector<Document> Draft2022::documents(const std::string& path, const Json& document) const {
  const auto kind = type(document);
  // Attributes of a copy may have numbers that these documents do not allow.
  return {{own_key(path, kind ? *kind : NodeType::group), with_quoted_numbers(document).dump(text_indent)}};
}

Result<void> Draft2022::check_name(std::string_view name) const {
  constexpr std::size_t longest = 255;
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  SHERD_TRY(check_node_name(name));
  if (name.size() > longest) return bad_node_name(name, "it has more than 255 characters");
  if (name.find_first_not_of(allowed) != name.npos)
    return bad_node_name(name, "draft2022 allows letters A-Z and a-z, digits, '.', '_' and '-' only");
  return {};
}

Result<std::vector<std::pair<std::string, NodeType>>> Draft2022::members(Store& store, const std::string& path,
                                                                         const Limits& limits, const KnownType&) const {
  const std::string prefix = meta_prefix(path);
  SHERD_TRY(listing, store.list_dir(prefix));
  std::map<std::string, NodeType> found;
  for (const std::string& name : listing.prefixes) {
    if (!check_name(name)) continue;
    SHERD_TRY(nothing, lists_nothing(store, prefix + name + "/"));
    if (!nothing) found.emplace(name, NodeType::group);
  }
  std::vector<std::pair<std::string, NodeType>> nodes;
  std::vector<std::string> keys;
  for (const auto& object : listing.objects) {
    auto node = node_of(object.name);
    if (!node) continue;
    nodes.push_back(*std::move(node));
    keys.push_back(prefix + object.name);
  }
  std::vector<char> readable(nodes.size(), 0);
  SHERD_TRY(
      read_all_json(store, keys, limits, [&](std::size_t i, Result<std::optional<StoredJson>> stored) -> Result<void> {
        if (!stored && stored.error().code() == ErrorCode::unavailable) return std::move(stored).error();
        readable[i] = stored && *stored && (*stored)->json.is_object() ? 1 : 0;
        return {};
      }));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // An array's document precedes a group's.
    const auto [location, is_new] = found.emplace(nodes[i].first, NodeType::group);
    if (is_new || location->second == NodeType::group)
      location->second = readable[i] != 0 ? nodes[i].second : NodeType::unknown;
  }
  return std::vector<std::pair<std::string, NodeType>>(found.begin(), found.end());
}

}  // namespace

std::string_view without_scheme(std::string_view uri) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (uri.starts_with(scheme)) return uri.substr(scheme.size());
  }
  return uri;
}

Result<void> check_members(const Json& document, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : document.members()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return unsupported("unknown member; the draft allows others only in 'extensions' or 'attributes'").in_member(key);
  }
  const Json* extensions = document.find("extensions");
  if (extensions == nullptr) return {};
  if (!extensions->is_array()) return wrong_value(*extensions, "a list").in_member("extensions");
  for (std::size_t i = 0; i < extensions->size(); ++i) {
    const Json& extension = extensions->elements()[i];
    const std::string location = "extensions[" + std::to_string(i) + "]";
    const Json* uri = extension.find("extension");
    if (uri == nullptr || !uri->is_string())
      return invalid_argument("must be an object with the URI of an extension").in_member(location);
    const Json* flag = extension.find("must_understand");
    if (flag == nullptr || flag->as_bool() != false)
      return unsupported("the extension '" + uri->text() +
                         "' is not known; only one with \"must_understand\": false may be ignored")
          .in_member(location);
  }
  return {};
}

}  // namespace draft2022

const Format& draft2022_format(CodecTable codecs) noexcept;
const Format& draft2022_format(CodecTable codecs) noexcept {
  static const draft2022::Draft2022 instance(codecs);
  return instance;
}

}  // namespace sherd
