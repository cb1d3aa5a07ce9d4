// The documents of Zarr v3 (`zarr.json` next to a node's chunks), the contents of group documents, the allowed names of
// nodes, and the de facto consolidated metadata of kind "inline" (a flat object from relative paths to documents).
// zarr3_array.cpp has array documents.
#include "format/zarr3.hpp"

#include <algorithm>

#include "base/lenient.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "format/zarr_common.hpp"
#include "node/document.hpp"
#include "node/format.hpp"
#include "node/path.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

constexpr const char* list_name = "consolidated_metadata";

/// Drafts of Zarr v3 have a URI there, and are other formats.
bool is_draft(const Json& document) {
  const Json* version = document.find("zarr_format");
  return version != nullptr && version->is_string() && version->text().find("://") != std::string::npos;
}

Result<NodeType> node_type(const Json& document) {
  if (!document.is_object()) return invalid_argument("a metadata document must be a JSON object");
  const Json* version = document.find("zarr_format");
  if (version == nullptr || !version->is_number())
    return invalid_argument("must be the number 3").in_member("zarr_format");
  if (version->as_int() != 3)
    return unsupported("Zarr format " + version->text() + " is not known under the name zarr.json; only 3 is")
        .in_member("zarr_format");
  const Json* type = document.find("node_type");
  const bool is_string = type != nullptr && type->is_string();
  if (is_string && type->text() == "array") return NodeType::array;
  if (is_string && type->text() == "group") return NodeType::group;
  return invalid_argument("must be \"array\" or \"group\"").in_member("node_type");
}

std::optional<NodeType> type_in(const Json& document) {
  if (is_draft(document)) return std::nullopt;
  const auto type = node_type(document);
  return type ? *type : NodeType::unknown;
}

Result<void> check_group(const Json& document) {
  SHERD_TRY(zarr3::refuse_unknown(document, {"zarr_format", "node_type", "attributes", list_name}));
  const Json* consolidated = document.find(list_name);
  if (consolidated != nullptr && !consolidated->is_null() && !consolidated->is_object())
    return invalid_argument("must be an object").in_member(list_name);
  return {};
}

class Zarr3 final : public Format, public Consolidation {
 public:
  [[nodiscard]] const FormatTraits& traits() const noexcept override {
    static const FormatTraits all{
        .name = "zarr3", .default_codecs = {{"zstd:3"}, {"bytes", "crc32c"}}, .encodes_fill_attribute = true};
    return all;
  }
  [[nodiscard]] NodeKeys keys(const std::string& path) const override {
    const std::string document = join_path(path, zarr3::kDocument), prefix = prefix_of(path);
    return {.array = document, .group = document, .documents = {document}, .chunks = prefix, .contents = {prefix}};
  }
  [[nodiscard]] Result<void> check_name(std::string_view name) const override;
  [[nodiscard]] bool names_chunk(std::string_view name) const noexcept override { return is_chunk_key(name, false); }

  Result<std::optional<NodeDocument>> open(Store& store, const std::string& path, const Limits& limits) const override;
  [[nodiscard]] Result<NodeDocument> lower(Json document, const Limits& limits) const override;
  [[nodiscard]] std::vector<std::string> ignored_members(const Json& document) const override {
    std::vector<std::string> names;
    for (const auto& [name, value] : document.members()) {
      const Json* understood = name == list_name ? nullptr : value.find("must_understand");
      if (understood != nullptr && *understood == Json(false)) names.push_back(name);
    }
    return names;
  }
  Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                const Limits& limits,
                                                                const KnownType& known) const override {
    const TypeDocument document{zarr3::kDocument, type_in};
    return members_in_directories(*this, store, path, limits, known, {&document, 1});
  }

  [[nodiscard]] Result<Json> array_document(const ArraySpec& spec) const override;
  [[nodiscard]] Result<Json> group_document(const Json& attributes) const override;
  [[nodiscard]] Result<Json> changed(Json document, const NodeChange& change) const override;
  [[nodiscard]] std::vector<Document> documents(const std::string& path, const Json& document) const override {
    return {{join_path(path, zarr3::kDocument), dump_lenient(document, 2)}};
  }

  [[nodiscard]] std::optional<Entries> take_entries(Json& group) const override;
  [[nodiscard]] Result<Json> with_entries(Json group, Entries entries) const override;
  [[nodiscard]] Json without_entries(Json node) const override {
    node.erase(list_name);
    const Json* transformers = node.find("storage_transformers");
    if (transformers != nullptr && transformers->size() == 0) node.erase("storage_transformers");  // by zarr-python
    return node;
  }
  [[nodiscard]] Result<NodeType> type(const Json& entry) const override { return node_type(entry); }
};

Result<std::optional<NodeDocument>> Zarr3::open(Store& store, const std::string& path, const Limits& limits) const {
  const std::string key = join_path(path, zarr3::kDocument);
  // zarr-python writes attributes as Python prints them, and reads such fill values.
  SHERD_TRY(stored, read_json(store, key, limits, BareNumbers::in_values));
  if (!stored || is_draft(stored->json)) return std::optional<NodeDocument>();
  auto node = lower(std::move(stored->json), limits);
  if (!node) return stored_error(std::move(node).error()).in_key(key);
  node->versions = {{key, std::move(stored->generation)}};
  return std::optional(*std::move(node));
}

Result<NodeDocument> Zarr3::lower(Json document, const Limits& limits) const {
  NodeDocument node;
  SHERD_TRY(kind, node_type(document));
  node.type = kind;
  if (kind == NodeType::array) {
    SHERD_TRY(array, zarr3::parse_array(document, limits));
    node.array = std::move(array);
    quote_fill(document);
  } else {
    SHERD_TRY(check_group(document));
  }
  SHERD_TRY(attributes, parse_attributes(document));
  node.attributes = attributes.is_null() ? Json(Json::Object{}) : std::move(attributes);
  node.document = std::move(document);
  return node;
}

Result<Json> Zarr3::array_document(const ArraySpec& spec) const {
  if (!spec.format_options.is_null())
    return invalid_argument("Zarr v3 has no options of its own").in_member("format_options");
  return zarr3::print_array(spec);
}

Result<Json> Zarr3::group_document(const Json& attributes) const {
  Json document;
  document.set("attributes", attributes.is_null() ? Json(Json::Object{}) : attributes);
  document.set("zarr_format", 3);
  document.set("node_type", "group");
  return document;
}

Result<Json> Zarr3::changed(Json document, const NodeChange& change) const {
  if (change.shape) document.set("shape", Json::numbers(*change.shape));
  if (change.attributes) {
    const Json* present = document.find("attributes");
    document.set("attributes", with_bare_numbers_of(present != nullptr ? *present : Json(), *change.attributes));
  }
  if (change.chunks == nullptr) return document;
  const Json fresh = zarr3::print_array(*change.chunks);
  for (const char* member : {"chunk_grid", "codecs"}) document.set(member, *fresh.find(member));
  return document;
}

Result<void> Zarr3::check_name(std::string_view name) const {
  SHERD_TRY(check_node_name(name));
  if (name.starts_with("__"))
    return bad_node_name(name, "Zarr v3 reserves names that begin with '__'; choose another name, or Zarr v2");
  if (name == zarr3::kDocument) return bad_node_name(name, "it is the name of the metadata documents");
  if (!is_utf8(name)) return bad_node_name(name, "it is not valid UTF-8");
  return {};
}

std::optional<Consolidation::Entries> Zarr3::take_entries(Json& group) const {
  Json* consolidated = group.find(list_name);
  const Json* kind = consolidated != nullptr ? consolidated->find("kind") : nullptr;
  Json* metadata = consolidated != nullptr ? consolidated->find("metadata") : nullptr;
  if (kind == nullptr || !kind->is_string() || kind->text() != "inline") return std::nullopt;
  if (metadata == nullptr || !metadata->is_object()) return std::nullopt;
  Entries entries;
  for (auto& [path, json] : metadata->members())
    if (is_node_path(*this, path)) entries.emplace_back(path, std::move(json));
  group.erase(list_name);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return entries;
}

Result<Json> Zarr3::with_entries(Json group, Entries entries) const {
  for (auto& [path, json] : entries) json.erase(list_name);
  Json consolidated;
  consolidated.set("kind", "inline");
  consolidated.set("must_understand", false);
  consolidated.set("metadata", Json(std::move(entries)));
  group.set(list_name, std::move(consolidated));
  return group;
}

constinit const Zarr3 instance;

}  // namespace

const Format& zarr3_format() noexcept;
const Format& zarr3_format() noexcept { return instance; }

}  // namespace sherd
