// Changes a node's metadata documents without losing changes by other writers, and the helpers for that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/node_location.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Makes the new metadata from the present ones. Called again if another writer was first.
using DocumentEdit = std::function<Result<Json>(const NodeDocument&)>;

/// Changes the metadata of the node at `location`. Holds the lock of its main document, reads all documents again,
/// calls `edit`, applies the format's checks, and replaces the documents that differ, each only if it is still the
/// version that was read. An edit that changes nothing writes nothing. Returns the node as it is now.
/// If more than consolidated metadata changes, the caller must call renew_consolidated() afterwards.
/// `known` is the node as the caller last saw it: a store without locks, where a look costs a round trip, first tries
/// whether that is still the stored version. `edit` must then have no other effect.
/// not_found if the node no longer exists, invalid_argument if `location` is not writable.
Result<NodeDocument> edit_document(const NodeLocation& location, NodeType type, const DocumentEdit& edit,
                                   const NodeDocument* known = nullptr);

/// Writes the documents of the node at `location`, ending with the one that makes it visible. `unsupported` if a text
/// is larger than readers accept; `conflict` if `condition` does not hold for one of them.
Result<std::vector<DocumentVersion>> write_documents(const NodeLocation& location, const Json& document,
                                                     const Condition& condition);

/// Writes one document.
Result<DocumentVersion> write_document(Store& store, const Document& document, const Condition& condition);

/// `unsupported` if readers with these limits would not accept the documents of a node at `location`, or if a key of
/// the node is longer than the store allows.
Result<void> check_documents(const NodeLocation& location, const Json& document);

/// `unsupported` if a key is longer than the store allows.
Result<void> check_key_length(const Store& store, const std::string& key);

/// Writes the documents of the counterpart, if `node` has one; see NodeDocument::counterpart.
Result<void> write_counterpart(const NodeLocation& location, const NodeDocument& node);
/// If `node` has a counterpart: tests whether objects below `location` can have two names, leaving nothing behind.
/// `unsupported` if they cannot.
Result<void> check_links(const NodeLocation& location, const NodeDocument& node);

/// The generation of a stored document; nullopt if it does not exist.
Result<std::optional<Generation>> stored_generation(Store& store, const std::string& key);

/// `unsupported` if readers with these limits would not accept the texts.
Result<void> check_texts(std::span<const Document> documents, const Limits& limits);
/// `unsupported` if readers with these limits would not accept the text of a document.
Result<void> check_text(std::string_view text, const Limits& limits);

struct UpdatedAttributes {
  Json attributes;
  std::uint64_t removed = 0;
};
/// `attributes` without those named in `remove` and with the members of `set`, which must be an object.
Result<UpdatedAttributes> updated_attributes(Json attributes, const Json& set, std::span<const std::string> remove);

/// An error about a document as one about stored bytes: what is invalid_argument in a request is `corrupt` there.
Error stored_error(Error error);

/// Whether an error is about stored bytes rather than about the store.
[[nodiscard]] bool is_stored_fault(const Error& error) noexcept;

/// invalid_argument if the handle at `location` was opened for reading only.
Result<void> require_writable(const NodeLocation& location);

}  // namespace sherd
