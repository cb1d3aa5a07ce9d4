// Changing a node's metadata documents so that no other writer's change is lost, and what that needs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/state.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Makes the new metadata from the present. Called again if another writer was first.
using DocumentEdit = std::function<Result<Json>(const NodeDocument&)>;

/// Changes the metadata of the node at `location`: holds the lock of its main document, reads all documents again, lets
/// `edit` make the new metadata, refuses what the format refuses, and replaces the documents that differ, each only if
/// it is still the version that was read. An edit that changes nothing writes nothing. Returns the node as it is now.
/// If more than consolidated metadata changes, the caller calls renew_consolidated() after it.
/// not_found if the node no longer exists, invalid_argument if `location` is not writable.
Result<NodeDocument> edit_document(const NodeLocation& location, NodeType type, const DocumentEdit& edit);

/// Writes the documents of the node at `location`, the one that makes it visible last. With Condition::absent() the
/// others replace what a creator that was killed has left, and the creator that makes the node visible is the one whose
/// documents it keeps. `unsupported` if a text is larger than readers accept; `conflict` if `condition` does not hold
/// for one of them.
Result<std::vector<DocumentVersion>> write_documents(const NodeLocation& location, const Json& document,
                                                     const Condition& condition);
/// `unsupported` if readers with these limits would not accept the documents of a node at `location`, or if a key of
/// the node is longer than those of the store.
Result<void> check_documents(const NodeLocation& location, const Json& document);

/// `unsupported` if a key is longer than those of the store.
Result<void> check_key_length(const Store& store, const std::string& key);

/// Writes the documents of the counterpart, if `node` has one; see NodeDocument::counterpart.
Result<void> write_counterpart(const NodeLocation& location, const NodeDocument& node);
/// If `node` has a counterpart: finds out whether objects below `location` can have two names, and leaves nothing
/// behind. `unsupported` if they cannot.
Result<void> check_links(const NodeLocation& location, const NodeDocument& node);

/// The generation of a stored document; nullopt if it does not exist.
Result<std::optional<Generation>> stored_generation(Store& store, const std::string& key);

/// `unsupported` where readers with these limits would not accept the text of a document.
Result<void> check_text(std::string_view text, const Limits& limits);

/// The attributes that the handle saw last, in which bare_number() knows numbers that are stored without quotes. In
/// attributes() of the handle, which is JSON, these are ordinary strings.
[[nodiscard]] Json stored_attributes(const Array& array);
[[nodiscard]] Json stored_attributes(const Group& group);

struct UpdatedAttributes {
  Json attributes;
  std::uint64_t removed = 0;
};
/// `attributes` without those that `remove` names and with the members of `set`, which must be an object.
Result<UpdatedAttributes> updated_attributes(Json attributes, const Json& set, std::span<const std::string> remove);

/// The same error about bytes that were stored: what would be invalid_argument in a request is `corrupt` there.
Error stored_error(Error error);

/// What is wrong with stored bytes, rather than with the store.
[[nodiscard]] bool is_stored_fault(const Error& error) noexcept;

/// invalid_argument where the handle at `location` was opened for reading only.
Result<void> require_writable(const NodeLocation& location);

}  // namespace sherd
