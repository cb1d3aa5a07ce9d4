// A format converts metadata documents to ArraySpec and back, and nothing else. The formats are rows of a table in
// src/api/registry.cpp. The metadata of a node is one Json value, from which the format makes the stored documents.
// Values are kept as parsed, so what a format does not know survives a rewrite verbatim. Features of only some formats
// are capabilities: separate interfaces that a format may also implement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/spec.hpp"
#include "sherd/group.hpp"
#include "sherd/store.hpp"

namespace sherd {

class Format;
class StorageKind;
struct NodeLocation;

/// What has happened, or is about to happen, to a node at its path.
enum class MemberChange : std::uint8_t {
  made,     ///< created, replaced, erased, or moved here from another group: whatever is there now
  renamed,  ///< moved here within its group, whose metadata about it are still right
  leaving,  ///< about to be erased or moved away
};
/// Called for each such change, so that a data model above the formats can keep lists of members in groups' metadata
/// (docs/decisions/0037). Returns whether the group around the node keeps one; then the metadata of the node and of
/// everything below it may have changed, too. The caller must call renew_consolidated() afterwards. `group` is the
/// metadata of that group as the caller has read them, or nullptr.
using MemberHook = Result<bool> (*)(const NodeLocation& node, MemberChange change, const Json* group);
inline Result<bool> no_lists(const NodeLocation&, MemberChange, const Json*) { return false; }

/// Called after arrays below a group have grown together, so that such a data model can record the new length and
/// extend other arrays. The caller must call renew_consolidated_of() afterwards.
using LengthsHook = Result<void> (*)(const NodeLocation& group);
inline Result<void> no_lengths(const NodeLocation&) { return {}; }

/// A document that a convention above the formats defines for groups of this name, and that Sherd does not read.
struct SideDocument {
  std::string_view group;
  std::string_view name;
};

/// The tables of src/api/registry.cpp, passed down.
struct Tables {
  CodecTable codecs;
  std::span<const Format* const> formats;
  std::span<const StorageKind* const> storages;  ///< the first one that applies to an array stores it
  MemberHook changed = no_lists;
  LengthsHook lengths_changed = no_lengths;
  std::span<const std::string_view> model_documents = {};  ///< of such a model, in the directories of nodes
  std::span<const SideDocument> side_documents = {};

  /// Whether an object in a node's directory is a document of any model or convention, judging by its name there.
  [[nodiscard]] bool is_model_document(std::string_view name) const noexcept {
    return std::ranges::find(model_documents, name) != model_documents.end() ||
           std::ranges::find(side_documents, name, &SideDocument::name) != side_documents.end();
  }
};
using FormatTable = std::span<const Format* const>;

/// One metadata document, as stored.
struct Document {
  std::string key;
  std::string text;
};

/// The version of a document that was read or written.
struct DocumentVersion {
  std::string key;
  Generation generation;  ///< empty if the store does not know it
};

/// The group of another format whose only array has the same objects; its documents are written with the array's.
struct CounterpartDocument {
  std::shared_ptr<const Format> format;
  Json document;
};

/// A node as described by its metadata. Paths are relative to the store, without leading and trailing `/`.
struct NodeDocument {
  NodeType type = NodeType::group;
  Json document;                          ///< all of its metadata; Format::documents() describes how they are stored
  std::vector<DocumentVersion> versions;  ///< of the stored documents; the last one makes the node visible
  std::optional<ArraySpec> array;         ///< set for arrays
  Json attributes;                        ///< an object, also if the document has none (see stored_attributes())
  bool implicit = false;                  ///< a group without a document: it exists because of the nodes below it
  std::optional<CounterpartDocument> counterpart = {};  ///< of a new array that another format reads, too

  /// The version of the document that makes the node visible; empty if there is none.
  [[nodiscard]] Generation generation() const { return versions.empty() ? Generation() : versions.back().generation; }
};

/// Where a node at a path is stored. Prefixes are empty or end in `/`.
struct NodeKeys {
  std::string array;                   ///< the document that makes an array visible
  std::string group;                   ///< the document that makes a group visible
  std::vector<std::string> documents;  ///< all documents that a node can have, the one most likely to exist first
  std::string chunks;                  ///< the prefix of chunk keys; KeyEncoding adds the rest
  std::vector<std::string> contents;   ///< prefixes of all objects of the node and its members; not of all documents

  [[nodiscard]] bool is_document(std::string_view key) const noexcept;
  /// The documents that make a node visible. More than one of them must not exist at a time.
  [[nodiscard]] std::vector<std::string> visible() const;
};

/// The default codecs of a new array, in the form of CreateOptions.
struct DefaultCodecs {
  std::vector<Json> chunks;
  std::vector<Json> index;
  /// Whether documents give the order of elements and of their bytes separately from the codecs; see CreateOptions.
  bool has_orders = false;
  /// Whether zstd stores its checksum by default. False if readers of the format refuse it.
  bool has_checksums = true;
};

/// Properties shared by all nodes of a format.
struct FormatTraits {
  std::string_view name;  ///< as used by `info` and --store-format, such as "zarr3"
  DefaultCodecs default_codecs = {};
  /// The index_codecs of every shard, with the index at its end, if the format cannot express others.
  std::optional<Json> only_index = {};
  std::optional<CodecTable> codecs = {};  ///< the codecs that its chunks can have, if different from those of Tables
  /// False if the documents of groups describe their arrays, so that arrays are not created or erased separately.
  bool arrays_have_documents = true;
  /// Whether floats in an array's attribute `_FillValue` are the base64 of a double, which xarray requires there.
  bool encodes_fill_attribute = false;
};

/// A change of a node's metadata. What is not set stays verbatim.
struct NodeChange {
  std::optional<Shape> shape = {};
  std::optional<Json> attributes = {};
  const ArraySpec* chunks = nullptr;  ///< gives the new chunk grid and codecs
};

class Format {
 public:
  virtual ~Format() = default;
  [[nodiscard]] virtual const FormatTraits& traits() const noexcept = 0;
  [[nodiscard]] virtual NodeKeys keys(const std::string& path) const = 0;
  /// Refuses node names that the format does not allow.
  [[nodiscard]] virtual Result<void> check_name(std::string_view name) const = 0;
  /// Whether an object below an array's chunk prefix is named like a chunk. False for names that files of other
  /// programs often have.
  [[nodiscard]] virtual bool names_chunk(std::string_view name) const noexcept = 0;

  /// Reads and lowers the node at `path`; nullopt if there is none in this format.
  virtual Result<std::optional<NodeDocument>> open(Store& store, const std::string& path,
                                                   const Limits& limits) const = 0;
  /// Like open(), from parsed metadata (consolidated, or about to be written). Errors are invalid_argument; for stored
  /// metadata, open() and stored_error() turn them into `corrupt`.
  [[nodiscard]] virtual Result<NodeDocument> lower(Json document, const Limits& limits) const = 0;
  /// Members found by listing the store, sorted by name; `unknown` if the document is broken. `known` may be empty; it
  /// may return the type of a member whose document then is not read.
  using KnownType = std::function<std::optional<NodeType>(const std::string& name)>;
  virtual Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                        const Limits& limits,
                                                                        const KnownType& known) const = 0;

  /// The canonical metadata of a new array or group.
  [[nodiscard]] virtual Result<Json> array_document(const ArraySpec& spec) const = 0;
  [[nodiscard]] virtual Result<Json> group_document(const Json& attributes) const = 0;
  [[nodiscard]] virtual Result<Json> changed(Json document, const NodeChange& change) const = 0;
  /// Members of a node's metadata that the format does not have and that readers ignore.
  [[nodiscard]] virtual std::vector<std::string> ignored_members(const Json& document) const {
    (void)document;
    return {};
  }
  /// The documents that store this metadata. The one that makes the node visible is the last; of a new node it is
  /// stored first.
  [[nodiscard]] virtual std::vector<Document> documents(const std::string& path, const Json& document) const = 0;

  [[nodiscard]] std::string_view name() const noexcept { return traits().name; }
  [[nodiscard]] bool arrays_have_documents() const noexcept { return traits().arrays_have_documents; }
  /// The key of the document that makes a node of this type visible.
  [[nodiscard]] std::string document_key(const std::string& path, NodeType type) const;
  /// The key where a node's document is most likely to be.
  [[nodiscard]] std::string likeliest_key(const std::string& path) const;
  [[nodiscard]] std::string chunk_prefix(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> contents(const std::string& path) const;
  /// This format as the hierarchy in `store` uses it; see EntryPoint. nullptr if another hierarchy begins there.
  [[nodiscard]] Result<std::shared_ptr<const Format>> in(Store& store, const Limits& limits) const;
};

/// Capability: a document at the root of a store begins a hierarchy of this format, and determines some of its names.
class EntryPoint {
 public:
  [[nodiscard]] virtual std::string_view key() const noexcept = 0;
  /// This format as determined by the entry point of this store, or the default without one; nullptr if the entry point
  /// belongs to another format.
  [[nodiscard]] virtual Result<std::shared_ptr<const Format>> bind(Store& store, const Limits& limits) const = 0;
  /// Writes the entry point if the store has none, and returns what bind() does.
  virtual Result<std::shared_ptr<const Format>> create(Store& store, const Limits& limits) const = 0;
  /// The format as if the store had the entry point: for nodes that are made in another store and then moved.
  [[nodiscard]] virtual std::shared_ptr<const Format> created() const = 0;

 protected:
  ~EntryPoint() = default;
};

/// Capability: documents of members, or other objects of the format, are directly below a group's contents.
class MemberDocuments {
 public:
  /// The name of the member whose document this object is; empty for another object of the format, nullopt for a
  /// foreign one.
  [[nodiscard]] virtual std::optional<std::string> member_of(std::string_view object) const = 0;
  /// The names of documents that a group may have next to its own.
  [[nodiscard]] virtual std::span<const std::string_view> side_documents() const noexcept { return {}; }

 protected:
  ~MemberDocuments() = default;
};

/// Capability: a group can represent one array in several resolutions.
class Multiscale {
 public:
  /// The name of a member, in the document's order; empty if it does not exist.
  [[nodiscard]] virtual std::string resolution(const Json& group, std::uint64_t number) const = 0;

 protected:
  ~Multiscale() = default;
};

/// Capability: groups refer to collections of objects that belong to the format but are not nodes.
class Collections {
 public:
  /// The members of a group's document that refer to collections, with their relative paths.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> references(const Json& group) const = 0;
  /// Whether a collection is stored at `location`.
  [[nodiscard]] virtual Result<bool> holds_objects(const NodeLocation& location) const = 0;
  /// The first object there that does not belong to the collection; without a collection, the first object.
  [[nodiscard]] virtual Result<std::optional<std::string>> foreign_object_among(const NodeLocation& location) const = 0;

 protected:
  ~Collections() = default;
};

/// Capability: a group can keep copies of the metadata of all nodes below it.
class Consolidation {
 public:
  using Entries = std::vector<std::pair<std::string, Json>>;  ///< relative path and metadata, sorted by path
  /// Removes the entries from the metadata of the group. nullopt, changing nothing, if it has none.
  [[nodiscard]] virtual std::optional<Entries> take_entries(Json& group) const = 0;
  [[nodiscard]] virtual Result<Json> with_entries(Json group, Entries entries) const = 0;
  /// A node's metadata without its own entries, as stored in the entries of a group around it.
  [[nodiscard]] virtual Json without_entries(Json node) const = 0;
  /// The copy of the group's own metadata next to the entries; nullopt if there is none.
  [[nodiscard]] virtual std::optional<Json> own_copy(const Json& group) const {
    (void)group;
    return std::nullopt;
  }
  /// Whether an entry is an array's or a group's, regardless of its other members.
  [[nodiscard]] virtual Result<NodeType> type(const Json& entry) const = 0;
  /// The name of the document that contains the entries; empty if it is the one that makes the group visible.
  [[nodiscard]] virtual std::string_view entries_document() const noexcept { return {}; }
  /// Completes a node that was lowered from an entry with what open() finds in the store in addition to the documents.
  virtual Result<void> complete(Store& store, const std::string& path, NodeDocument& node) const {
    (void)store, (void)path, (void)node;
    return {};
  }

 protected:
  ~Consolidation() = default;
};

/// This capability of a format; nullptr if it does not have it.
template <class Capability>
[[nodiscard]] const Capability* capability(const Format& format) noexcept {
  return dynamic_cast<const Capability*>(&format);
}

/// The keys of all documents that can make a node of one of these formats at `path`, including entry points.
[[nodiscard]] std::vector<std::string> document_keys(FormatTable formats, const std::string& path);

/// The result of a capability, or nothing (nullopt, false, empty) if the format does not have it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> references_of(const Format& format, const Json& group);
[[nodiscard]] std::optional<std::string> resolution_of(const Format& format, const Json& group, std::uint64_t number);
[[nodiscard]] std::optional<Consolidation::Entries> consolidated_entries(const Format& format, Json group);
[[nodiscard]] std::optional<std::string> member_of(const Format& format, std::string_view object);
/// The error for a location in a hierarchy that is not of this format.
[[nodiscard]] Error other_hierarchy(const Format& format);

}  // namespace sherd
