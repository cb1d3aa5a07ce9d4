// What only some stores can do: interfaces that a store may also implement. A wrapper implements them too, and passes
// the calls on. All prefixes end in `/` or are empty.
#pragma once

#include <optional>
#include <string>

#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Of stores that rename directories: objects are made somewhere else and then put in place.
class RenamingStore {
 public:
  virtual ~RenamingStore() = default;
  /// Whether objects can be moved to the prefix `to` from anywhere else in the store. False for wrappers of stores that
  /// cannot rename, and for directories on another file system.
  [[nodiscard]] virtual bool can_move_to(const std::string& to) const = 0;
  /// Moves every object below `from` to the same key below `to` in one step, with the locks of active writers below
  /// `from`: what these commit appears below `to`. It is a `conflict` if such a lock cannot move. Returns false, having
  /// changed nothing, if that is not possible here or if anything exists at `to`; `not_found` if there is nothing at
  /// `from`.
  virtual Result<bool> move_at_once(const std::string& from, const std::string& to) = 0;
  /// False if that would return false even if nothing existed at `to`. There is something at `from`.
  [[nodiscard]] virtual Result<bool> may_move_at_once(const std::string& from, const std::string& to) const = 0;
  /// Moves them in one step if possible, otherwise directory by directory, replacing each existing object atomically.
  /// Deeper keys are moved first, so that a document follows what it describes. There must be no other writers below
  /// either prefix: what they store meanwhile may be lost.
  virtual Result<void> move_all(const std::string& from, const std::string& to) = 0;
  /// Exchanges everything below `from` with everything below `to` in one step: readers find one or the other at `to`.
  /// `from` is not empty; an empty `to` means the whole store without `from`: then the caller must hold the lock of the
  /// first segment of `from`. Other writers below either may begin meanwhile: each stores into the directory whose lock
  /// it holds, at whichever of the two it then is. Returns false, having changed nothing, if this is not possible here,
  /// or if either does not exist.
  virtual Result<bool> exchange(const std::string& from, const std::string& to) = 0;
};

/// Of stores whose parent() may be none on request.
class StandaloneStore {
 public:
  virtual ~StandaloneStore() = default;
  /// What parent() would be without the request; nullopt if there was none.
  [[nodiscard]] virtual Result<std::optional<ParentStore>> hidden_parent() const = 0;
};

/// Of stores whose objects may have two names (ObjectWriter::link()).
class LinkingStore {
 public:
  virtual ~LinkingStore() = default;
  /// Whether a writer has stored a version under the name `first`, but not yet under `second`: it is about to, or was
  /// killed, and the next writer does it.
  virtual Result<bool> is_link_pending(const std::string& first, const std::string& second) = 0;
};

/// The capability of a store that renames directories, also to the prefix `to`; otherwise nullptr.
[[nodiscard]] inline RenamingStore* renaming(Store& store, const std::string& to) {
  auto* const renames = dynamic_cast<RenamingStore*>(&store);
  return renames != nullptr && renames->can_move_to(to) ? renames : nullptr;
}

}  // namespace sherd
