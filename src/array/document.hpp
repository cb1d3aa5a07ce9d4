// Changing one metadata document so that nobody else's change is lost, and what that needs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "array/state.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Makes the new document from the present one. Called again where another writer was first.
using DocumentEdit = std::function<Result<Json>(const NodeDocument&)>;

/// Changes the document of the node at `place` in one atomic step: holds its key's lock, reads it afresh, lets `edit`
/// make the new one, refuses what the format refuses, and replaces the object only where it is still the one that was
/// read. An edit that changes nothing writes nothing. Gives the node as it is now.
/// Who changes more than consolidated metadata calls renew_consolidated() after it.
/// not_found where no node of this type stands there any more, invalid_argument where `place` is not writable.
Result<NodeDocument> edit_document(const NodePlace& place, NodeType type, const DocumentEdit& edit);

/// Writes the first document of the node of this type at `place`, or another in its stead.
/// `unsupported` where the text is larger than readers accept; `conflict` where `condition` does not hold.
/// Gives the new document's generation, empty where the store does not know it.
Result<Generation> write_document(const NodePlace& place, NodeType type, const Json& document,
                                  const Condition& condition);

/// Writes the document of the counterpart, if `node` has one; see NodeDocument::counterpart.
Result<void> write_counterpart(const NodePlace& place, const NodeDocument& node);
/// If `node` has a counterpart: finds out whether objects below `place` can have two names, and leaves nothing behind.
/// `unsupported` if they cannot.
Result<void> check_links(const NodePlace& place, const NodeDocument& node);

/// The generation of a stored document; nullopt if it does not exist.
Result<std::optional<Generation>> stored_generation(Store& store, const std::string& key);

/// `unsupported` where readers with these limits would not accept the text of a document.
Result<void> check_text(std::string_view text, const Limits& limits);

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

/// invalid_argument where the handle at `place` was opened for reading only.
Result<void> require_writable(const NodePlace& place);

}  // namespace sherd
