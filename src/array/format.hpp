// A format: metadata text <-> ArraySpec, and nothing else. Rows of the format table in src/api/registry.cpp.
// Documents are kept as parsed Json, so that what a format does not know survives a rewrite verbatim.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/spec.hpp"
#include "sherd/group.hpp"
#include "sherd/store.hpp"

namespace sherd {

class Format;
struct NodePlace;

/// The document of a group of another format whose only array has the same objects; it is written with the array's.
struct CounterpartDocument {
  std::shared_ptr<const Format> format;
  Json document;
};

/// A node as its metadata tells it. `path` is relative to the store, without leading and trailing `/`.
struct NodeDocument {
  NodeType type = NodeType::group;
  Json document;
  Generation generation;           ///< of the object the document came from
  std::optional<ArraySpec> array;  ///< set for arrays
  Json attributes;                 ///< an object, also where the document has none
  bool implicit = false;           ///< a group without a document of its own: nodes stand below it, that is all
  std::optional<CounterpartDocument> counterpart = {};  ///< of a new array that another format reads, too
};

/// What a new array's codecs are where nobody says; as CreateOptions has them.
struct DefaultCodecs {
  std::vector<Json> chunks;
  std::vector<Json> index;
};

struct Tables;

class Format {
 public:
  virtual ~Format() = default;
  /// As in `info` and --store-format, such as "zarr3".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// This format as the hierarchy in `store` has it, whose entry point may choose some of the names. nullptr where the
  /// entry point is another format's. A format without one is the same in every store: its row of the table.
  [[nodiscard]] virtual Result<std::shared_ptr<const Format>> in(Store& store, const Limits& limits) const {
    return (void)store, (void)limits, std::shared_ptr<const Format>(std::shared_ptr<const Format>(), this);
  }
  /// The same, after writing the entry point where the store has none yet.
  virtual Result<std::shared_ptr<const Format>> enter(Store& store, const Limits& limits) const {
    return in(store, limits);
  }
  /// For what is made in another store and moved into this one: as if the entry point stood there, too.
  [[nodiscard]] virtual std::shared_ptr<const Format> entered() const {
    return {std::shared_ptr<const Format>(), this};
  }
  /// The keys at which a node's document can stand, the likeliest first.
  [[nodiscard]] virtual std::vector<std::string> probes(const std::string& path) const = 0;
  /// The key of the document of a node of this type at `path`.
  [[nodiscard]] virtual std::string document_key(const std::string& path, NodeType type) const = 0;
  /// The prefix (ending in `/`, or empty) below which the node's chunks stand; KeyEncoding adds the rest.
  [[nodiscard]] virtual std::string chunk_prefix(const std::string& path) const = 0;
  /// The prefixes (likewise) below which all stands that is the node's or its members', its document perhaps aside.
  [[nodiscard]] virtual std::vector<std::string> contents(const std::string& path) const = 0;
  /// Of an object directly below contents(): the name of the member whose document it is, empty where it is something
  /// else of this format's, and nullopt where it is not.
  [[nodiscard]] virtual std::optional<std::string> member_of(std::string_view object) const {
    return (void)object, std::nullopt;
  }
  [[nodiscard]] virtual DefaultCodecs default_codecs() const = 0;
  /// The index_codecs of every shard, and its index at the end, where the format has words for nothing else.
  [[nodiscard]] virtual std::optional<Json> only_index() const { return std::nullopt; }
  /// Where its chunks' codecs are looked up.
  [[nodiscard]] virtual CodecTable codecs(const Tables& tables) const noexcept;
  /// Of a group that is one array in several resolutions: the name of a member, in the document's order; empty where
  /// there is no such. nullopt for every other group.
  [[nodiscard]] virtual std::optional<std::string> resolution(const Json& group, std::uint64_t number) const {
    return (void)group, (void)number, std::nullopt;
  }
  /// The members of a group's document that lead to collections of objects that are not nodes, and their relative
  /// paths.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> references(const Json& group) const {
    return (void)group, std::vector<std::pair<std::string, std::string>>();
  }
  /// Whether an object is a chunk by its name below an array's chunks, whatever the array. What files of other programs
  /// may well be called is not.
  [[nodiscard]] virtual bool names_chunk(std::string_view name) const noexcept { return (void)name, false; }
  /// Whether a collection of objects that are not nodes, but belong to this format, is stored at `place`.
  [[nodiscard]] virtual Result<bool> holds_objects(const NodePlace& place) const { return (void)place, false; }
  /// The first object there that does not belong to the collection; if there is no collection, the first of all.
  [[nodiscard]] virtual Result<std::optional<std::string>> foreign_object_among(const NodePlace& place) const {
    return (void)place, std::optional<std::string>();
  }
  /// False where arrays stand in the documents of their groups, and neither come nor go alone.
  [[nodiscard]] virtual bool arrays_have_documents() const noexcept { return true; }

  /// Reads and lowers the node at `path`; nullopt where this format has none there.
  virtual Result<std::optional<NodeDocument>> open(Store& store, const std::string& path,
                                                   const Limits& limits) const = 0;
  /// Whether a document is an array's or a group's, whatever else it holds.
  [[nodiscard]] virtual Result<NodeType> type(const Json& document) const = 0;
  /// As open(), from a parsed document (of consolidated metadata, or one about to be written). What is wrong with it
  /// is invalid_argument; where the document was stored, open() and stored_error() make that `corrupt`.
  [[nodiscard]] virtual Result<NodeDocument> lower(Json document, const Limits& limits) const = 0;

  /// The canonical document of a new array or group.
  [[nodiscard]] virtual Result<Json> array_document(const ArraySpec& spec) const = 0;
  [[nodiscard]] virtual Result<Json> group_document(const Json& attributes) const = 0;
  /// The same document with one thing changed and all else verbatim.
  [[nodiscard]] virtual Result<Json> with_shape(Json document, const Shape& shape) const = 0;
  [[nodiscard]] virtual Result<Json> with_attributes(Json document, const Json& attributes) const = 0;
  /// With the chunk grid and the codecs of `spec`.
  [[nodiscard]] virtual Result<Json> with_chunks(Json document, const ArraySpec& spec) const = 0;
  /// The text that is stored.
  [[nodiscard]] virtual std::string text(const Json& document) const = 0;
  /// Refuses node names the format does not allow.
  [[nodiscard]] virtual Result<void> check_name(std::string_view name) const = 0;

  /// Members found by listing the store, sorted by name; `unknown` where the document is broken. `known` may give the
  /// type of one whose document need not be read then; it may be empty.
  using KnownType = std::function<std::optional<NodeType>(const std::string& name)>;
  virtual Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                        const Limits& limits,
                                                                        const KnownType& known) const = 0;
  /// The documents of consolidated metadata (relative path, document), or nullopt where the document has none.
  [[nodiscard]] virtual std::optional<std::vector<std::pair<std::string, Json>>> consolidated(
      const Json& document) const = 0;
  [[nodiscard]] virtual Result<Json> with_consolidated(Json document,
                                                       std::vector<std::pair<std::string, Json>> documents) const = 0;
};

using FormatTable = std::span<const Format* const>;

class StorageKind;

/// The tables of src/api/registry.cpp, handed down.
struct Tables {
  CodecTable codecs;
  FormatTable formats;
  std::span<const StorageKind* const> storages;  ///< the first one that stores an array does
};

inline CodecTable Format::codecs(const Tables& tables) const noexcept { return tables.codecs; }

}  // namespace sherd
