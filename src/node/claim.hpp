// What marks a node that is being made, replaced or erased: a lock, and an object that is called a claim. Both have a
// name at the store's root, `.sherd-new-HASH`, where HASH is that of the node's path; a node that is made next to its
// path is below the same name (node/new_node.hpp). The lock ends with the process that holds it. The claim
// `.sherd-new-HASH/claim` remains after a kill: while it exists, objects at the path that belong to no node are part of
// this one, so that the next process may erase or complete them.
// In a store without locks the claim replaces the lock, so the first process that stores it excludes others.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "node/node_location.hpp"

namespace sherd {

/// The name at the store's root. No node has it.
[[nodiscard]] std::string staging_name(const std::string& path);
[[nodiscard]] bool is_staging(std::string_view name) noexcept;

/// Acquires the lock of that name: while it is held, no other process creates or erases a node at this path.
Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location);

/// Where a node is that is made next to its path, and the note that identifies what is made.
[[nodiscard]] std::string prefix_of_unfinished(const NodeLocation& location);
[[nodiscard]] std::string note_key(const NodeLocation& location);
/// Takes the lock of the node if a process is making one at `location`, waiting for it, or has left something there.
Result<void> lock_if_being_made(const NodeLocation& location, std::unique_ptr<StoreLock>& lock);
/// Erases what a process that has ended left next to the path. The caller holds the lock of the node.
Result<void> erase_unfinished(const NodeLocation& location);

[[nodiscard]] std::string claim_key(const NodeLocation& location);
/// The text of the claim to the node at `location`; nullopt if there is none.
Result<std::optional<std::string>> claim_of(const NodeLocation& location);

/// `conflict` that names the claim if a process is making or erasing the node in a store without locks.
Result<void> refuse_claimed(const NodeLocation& location);

class Claim {
 public:
  /// What becomes of a claim that exists already, in a store without locks. With locks it was left by a process that
  /// has ended, and is replaced.
  enum class Existing : std::uint8_t { is_conflict, is_taken_over };

  /// The caller holds the lock of the node. `conflict` that names the claim if another process has one.
  static Result<Claim> take(const NodeLocation& location, const std::string& text, Existing existing);
  /// Replaces its text.
  Result<void> set(const std::string& text);
  /// `conflict` if another process has taken it over.
  [[nodiscard]] Result<void> confirm() const;
  /// Erases the claim, and what else is below the name.
  [[nodiscard]] Result<void> end() const;

 private:
  explicit Claim(const NodeLocation& location) : location_(location) {}
  Result<void> store(const std::string& text, const Condition& condition);

  NodeLocation location_;
  Generation stored_;
};

}  // namespace sherd
