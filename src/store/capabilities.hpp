// What only some stores can do: interfaces that a store may also implement. A wrapper implements them too, and passes
// the calls on. All prefixes end in `/` or are empty.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
  /// Gives the present version of the object `existing` the name `added`, too; a `conflict` if that exists. The caller
  /// holds the locks of both.
  virtual Result<void> add_name(const std::string& existing, const std::string& added) = 0;
};

using OnLeftover = std::function<Result<void>(const std::string& key)>;

/// Of stores in which killed writers leave something that is not an object, and that lists do not show.
class LeftoverStore {
 public:
  virtual ~LeftoverStore() = default;
  /// Removes it below `prefix`, except what belongs to active writers or to something that can be continued. Calls
  /// `removed` for each, with its name as a key.
  virtual Result<void> remove_leftovers(const std::string& prefix, const OnLeftover& removed) = 0;
};

/// Receives an upload; returns whether it is to be given up.
using OnUpload = std::function<Result<bool>(const std::string& key, const std::string& since)>;

/// Of stores to which an object is sent in several requests. The parts of a killed writer stay; readers do not see
/// them.
class UploadingStore {
 public:
  virtual ~UploadingStore() = default;
  /// Calls `visit` for each object below `prefix` that a writer has begun to send, and not ended or given up: its key,
  /// and when it began, as the store says it. Gives up those for which it returns true: then their writers fail, if
  /// there still are any. Store::erase_prefix() gives up all.
  virtual Result<void> visit_uploads(const std::string& prefix, const OnUpload& visit) = 0;
};

/// Of locks of stores in which an amendment can begin before it is known.
class AmendingLock : public StoreLock {
 public:
  /// Store::amend() of the key is likely to follow, after reads that take some time.
  virtual void expect_amend() = 0;
};

/// Of stores that copy objects of some others without a transfer of their bytes through this process.
class CopyingStore {
 public:
  virtual ~CopyingStore() = default;
  /// Whether a writer's copy() of the whole object that `from` reads does so.
  [[nodiscard]] virtual bool copies_itself(const ByteSource& from) const = 0;
  /// The version of an object of this store that a list has shown, without a request. nullptr if the list does not say
  /// which version it is.
  [[nodiscard]] virtual std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                           const Generation& generation) const = 0;
};

using KeyTest = std::function<bool(std::string_view key)>;

/// Of stores whose URL may have a query.
class QueriedStore {
 public:
  virtual ~QueriedStore() = default;
  /// Whether it has one, which Store::url() does not show, since it may be a secret.
  [[nodiscard]] virtual bool has_query() const noexcept = 0;
};

/// Of stores whose objects are the members of one object of another store, an archive.
class ArchiveStore {
 public:
  virtual ~ArchiveStore() = default;
  /// That other store.
  [[nodiscard]] virtual const Store& outer() const noexcept = 0;
  /// The archive's own key in it.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// Whether the store has unfinished changes, or shows the present version of the archive.
  [[nodiscard]] virtual bool is_current() const = 0;
  [[nodiscard]] virtual std::string comment() const = 0;
  /// Sets the comment of the version that Store::finish() makes. `invalid_argument` if no archive can have it.
  virtual Result<void> set_comment(std::string comment) = 0;
  /// The version that the next Store::finish() makes begins with the members that are first, by depth and then by key,
  /// as far as they fit into the room that is kept for them; its directory begins with all of them. Call this before
  /// the first change.
  virtual void set_first(KeyTest is_first) = 0;
  /// Keeps this much room for them instead of 64 KiB, if it is more: the sum of their sizes and keys. Call this before
  /// the first change.
  virtual void expect_first(std::uint64_t bytes, std::uint64_t count) = 0;
  /// Whether the present version begins with all members that are first, by depth.
  struct Order {
    bool in_directory = true;
    bool in_file = true;  ///< also their bytes
  };
  [[nodiscard]] virtual Result<Order> has_first(const KeyTest& is_first) const = 0;
  struct SomeMembers {
    std::uint64_t count = 0;
    std::string example = {};  ///< the name of one
  };
  /// Those that are superseded by later ones with the same name.
  [[nodiscard]] virtual SomeMembers duplicates() const = 0;
  /// Those of the present version whose names are longer than keys may be: they are not objects.
  [[nodiscard]] virtual SomeMembers too_long() const = 0;
  /// Those of the present version that are compressed.
  [[nodiscard]] virtual SomeMembers compressed() const = 0;
  /// Whether there is an archive: a new one is made by Store::finish().
  [[nodiscard]] virtual bool exists() const = 0;
};

/// The capability of a store that renames directories, also to the prefix `to`; otherwise nullptr.
[[nodiscard]] inline RenamingStore* renaming(Store& store, const std::string& to) {
  auto* const renames = dynamic_cast<RenamingStore*>(&store);
  return renames != nullptr && renames->can_move_to(to) ? renames : nullptr;
}

}  // namespace sherd
