// What marks a node that is being made, replaced or erased: a lock, and an object that is called a claim. The lock has
// a name at the store's root, `.sherd-new-HASH`, where HASH is that of the node's path; a node that is made next to its
// path is below the same name (node/new_node.hpp). The lock ends with the process that holds it. The claim remains
// after a kill: while it exists, objects at the path that belong to no node are part of this one, so that the next
// process may erase or complete them. In a store with locks it is `.sherd-new-HASH/claim`. In a store without locks the
// claim replaces the lock, so the first process that stores it excludes others. It is inside the node,
// PATH/.sherd-new-00000000/claim: its key does not depend on the store from whose root a process names the path. A copy
// of all objects of a store, whatever they mean, has a claim without a format there.
// "Staging" means such a name and what is below it ("scratch" in src/store, which removes it where no process holds
// it).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node_location.hpp"

namespace sherd {

/// No node has such a name.
[[nodiscard]] std::string staging_name(const std::string& path);
[[nodiscard]] bool is_staging(std::string_view name) noexcept;

/// Acquires the lock of that name: while it is held, no other process creates or erases a node at this path.
Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location);

/// Where a node is that is made next to its path, and the note that identifies what is made.
[[nodiscard]] std::string staging_prefix(const NodeLocation& location);
[[nodiscard]] std::string note_key(const NodeLocation& location);
/// Takes the lock of the node if a process is making one at `location`, waiting for it, or has left something there.
Result<void> lock_if_being_made(const NodeLocation& location, std::unique_ptr<StoreLock>& lock);
/// Erases what a process that has ended left next to the path. The caller holds the lock of the node.
Result<void> erase_staging(const NodeLocation& location);

[[nodiscard]] std::string claim_key(const NodeLocation& location);
/// Whether it is the key of a claim to any node.
[[nodiscard]] bool is_claim(std::string_view key) noexcept;
/// What a claim says; empty where it cannot be read.
struct ClaimText {
  std::string path, format;  ///< of the node; the format is empty if objects are copied there, whatever they mean
  std::string note;          ///< identifies what is made there, once the path is free

  /// Whether everything at the path is part of a copy of objects.
  [[nodiscard]] bool has_all_objects() const { return format.empty() && note == kAllObjects; }
  static constexpr std::string_view kAllObjects = "all objects";
};
/// What the claim at `key` says; nullopt if nothing is stored there.
Result<std::optional<ClaimText>> read_claim(const NodeLocation& location, const std::string& key);
/// The claim to the node at `location`.
Result<std::optional<ClaimText>> claim_of(const NodeLocation& location);

/// The keys of the claim to the node and, without locks, of those to the groups around it.
[[nodiscard]] std::vector<std::string> claim_keys(const NodeLocation& location);
/// In a store without locks, `conflict` that names the claim if the object at `key` is one.
Result<void> refuse_claim(const NodeLocation& location, const std::string& key);
/// `conflict` that names the claim if a process is making or erasing a group around the node, in a store without locks.
Result<void> refuse_claimed_around(const NodeLocation& location);
/// `conflict` that names the claim if a process is making or erasing a group around the node or a node inside it; lists
/// everything there.
Result<void> refuse_overlapping(const NodeLocation& location);

class Claim {
 public:
  /// What becomes of a claim that exists already, in a store without locks. With locks it was left by a process that
  /// has ended, and is replaced.
  enum class Existing : std::uint8_t { is_conflict, is_taken_over };

  /// The caller holds the lock of the node; without a format, what is made is a copy of objects. In a store without
  /// locks, `conflict` that names the claim of another process to this node. Two processes may claim nodes one inside
  /// the other at the same time, so the caller looks afterwards for claims to groups around the node and, unless
  /// nothing was there, to nodes inside it.
  static Result<Claim> take(const NodeLocation& location, const std::string& note, Existing existing);
  /// In a store without locks, take() for objects that are copied or built at a path, whatever they mean; a claim that
  /// is taken over keeps its note. `conflict` if it is that of a node, or if a group around is being made or erased.
  /// nullopt with locks. Because erasing the place takes the claim over, the caller confirms it before it makes the
  /// objects visible.
  static Result<std::optional<Claim>> take_for_objects(NodeLocation location, std::string note, Existing existing);
  /// Whether everything at the path was part of such objects before it was taken.
  [[nodiscard]] bool continues_objects() const { return replaced_ && replaced_->has_all_objects(); }
  Result<void> set_note(const std::string& note);
  /// Leaves what was there before it was taken, unless another process has taken it over.
  void undo();
  /// `conflict` if another process has taken it over.
  [[nodiscard]] Result<void> confirm() const;
  /// Erases the claim, and what else is below the name.
  [[nodiscard]] Result<void> end() const;
  /// end() in a store without locks, where the caller has just confirmed it.
  [[nodiscard]] Result<void> end_confirmed() const;

 private:
  explicit Claim(const NodeLocation& location) : location_(location) {}
  Result<void> store(const std::string& note, const Condition& condition);

  NodeLocation location_;
  Generation stored_;
  std::optional<ClaimText> replaced_;
};

}  // namespace sherd
