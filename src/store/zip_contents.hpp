// A zip archive as this process sees it: the members in the file, and what has been changed since.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "store/file_tree.hpp"
#include "store/zip_archive.hpp"
#include "store/zip_session.hpp"

namespace sherd {

/// Members by key; nullptr: erased.
using ZipChanges = std::map<std::string, std::shared_ptr<const ZipSpooled>, std::less<>>;

/// Thread-safe.
class ZipContents {
 public:
  /// Where a changed archive is written. Without it nothing can be changed.
  struct Place {
    FileTree tree;
    std::string key;
  };
  /// No archive: it does not exist yet, and is made by the first finish() after a change.
  ZipContents(std::shared_ptr<Store> outer, std::string key, Limits limits, std::shared_ptr<ZipArchive> archive,
              std::optional<Place> place)
      : outer_(std::move(outer)),
        key_(std::move(key)),
        limits_(limits),
        archive_(std::move(archive)),
        place_(std::move(place)) {}
  ~ZipContents();

  /// The archive's.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] bool can_change() const noexcept { return place_.has_value(); }
  /// Whether there are unfinished changes, or the archive is still the one that this shows.
  [[nodiscard]] bool is_current() const;

  // ---- reading ----
  [[nodiscard]] Result<std::shared_ptr<ByteSource>> find(const std::string& key) const;
  struct Listed {
    std::string name;
    std::uint64_t size = 0;
    bool is_prefix = false;
    Generation generation = {};
  };
  /// Entries below `prefix`, at most a page, beginning at the key `from`, which is set to the beginning of the next
  /// page; if this is the last page, `ended` is set.
  std::vector<Listed> next_page(const std::string& prefix, ListDepth depth, std::string& from, bool& ended) const;

  /// nullptr if there is none yet.
  [[nodiscard]] std::shared_ptr<ZipArchive> archive() const;
  /// The comment that the next version has.
  [[nodiscard]] std::string comment() const;

  // ---- changing: `conflict` if another writer has the archive or, as a lasting one, replaced it ----
  /// A writer's hold on the next version, which is begun if necessary. finish() waits for all.
  struct Hold {
    std::shared_lock<std::shared_mutex> lock;
    std::shared_ptr<ZipSession> session;
  };
  [[nodiscard]] Result<Hold> begin();
  /// `conflict` if the condition does not hold at present.
  [[nodiscard]] Result<void> check(const std::string& key, const Condition& condition) const;
  /// Makes a member visible; requires the Hold in which it was added.
  Result<void> accept(const std::string& key, std::shared_ptr<const ZipSpooled> member, const Condition& condition);
  Result<Erased> erase(const std::string& key, const Condition& condition);
  Result<void> erase_prefix(const std::string& prefix);
  Result<void> set_comment(std::string comment);
  void set_first(KeyTest is_first);
  void expect_first(std::uint64_t bytes, std::uint64_t count);
  /// After a failure before the archive was to be replaced, the changes are still there, and this may be repeated.
  Result<void> finish();

 private:
  Result<void> begin_session();
  [[nodiscard]] std::uint64_t first_bytes() const;
  void leave_to_parent();
  Result<void> place_first(ZipSession& session);
  /// Requires the mutex, as do the following.
  [[nodiscard]] const ZipMember* member(std::string_view key) const noexcept;
  [[nodiscard]] bool exists(const std::string& key) const noexcept;
  [[nodiscard]] Generation generation(std::string_view key) const;
  [[nodiscard]] Result<void> check_now(const std::string& key, const Condition& condition) const;
  /// The first key that exists and is not less than `from`, with its size.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::uint64_t>> lower_bound(std::string_view from) const;

  const std::shared_ptr<Store> outer_;
  const std::string key_;
  const Limits limits_;
  mutable std::shared_mutex sessions_;   ///< shared while a member is added, exclusive in finish()
  std::shared_ptr<ZipSession> session_;  ///< guarded by sessions_, as is the next
  Result<void> outcome_;                 ///< the failure of finish(), after which nothing can be changed
  mutable std::shared_mutex mutex_;      ///< guards what follows
  std::shared_ptr<ZipArchive> archive_;  ///< nullptr: there is none
  ZipChanges changes_;                   ///< nullptr: erased
  std::optional<std::string> comment_;
  KeyTest is_first_;                           ///< in the next version; may be empty
  std::uint64_t room_ = ZipSession::kMinRoom;  ///< for the members that are first
  const std::optional<Place> place_;
};

/// What the next version has in addition to the members that are kept.
struct ZipEdition {
  const ZipChanges& changes;
  std::string comment;
  const KeyTest& is_first;  ///< may be empty
  std::uint64_t max_directory_bytes = 0;
};
/// Writes the next version of an archive: the members of `archive` (may be null) whose keys are not changed, those that
/// are, the directory and the comment; and replaces the archive if it is still that version.
Result<void> finish_zip(ZipSession& session, ZipArchive* archive, const ZipEdition& edition);

}  // namespace sherd
