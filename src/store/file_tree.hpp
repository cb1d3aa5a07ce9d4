// The directories of a file store as the operating system shows them: opening, finding and making them.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/fd.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"
#include "store/lock_wait.hpp"

namespace sherd {

using os::Fd;

/// `action` is what failed, such as "open"; `code` is an errno.
[[nodiscard]] Error system_error(std::string_view action, const std::string& path, int code);

/// Device, inode, time of the last change and size: equal if the bytes are equal.
[[nodiscard]] Generation generation_of(const struct stat& status);

/// The present time or, if that is not later than `before`, the next representable one.
[[nodiscard]] timespec time_after(const timespec& before) noexcept;

/// A directory to which an object is to be written. Directories that were created for it are removed again if they are
/// empty, unless keep() has been called.
class MadeDirectory {
 public:
  MadeDirectory() = default;
  MadeDirectory(MadeDirectory&&) = default;
  MadeDirectory& operator=(MadeDirectory&&) = delete;
  ~MadeDirectory();

  void keep() noexcept { made.clear(); }

  Fd fd;
  Fd above;                       ///< where the first of `made` was created
  std::vector<std::string> made;  ///< relative to `above`, outermost first
};

/// Directories whose entries in their parents have been synced to disk. Thread-safe.
class SyncedDirectories {
 public:
  /// The inode of a removed directory may soon be reused for another one, which has a later creation time.
  struct Identity {
    std::pair<std::uint32_t, std::uint32_t> device;
    std::uint64_t inode;
    std::pair<std::int64_t, std::uint32_t> created;
    auto operator<=>(const Identity&) const = default;
  };
  [[nodiscard]] bool contains(const Identity& directory);
  void add(const Identity& directory);

 private:
  std::mutex mutex_;
  std::set<Identity> all_;
};

class FileTree {
 public:
  struct Options {
    bool follow_symlinks = true;  ///< below the root; the root itself is always followed
    bool durable = true;          ///< directories are synced to disk before anything is put into them
    Locking lock = Locking::automatic;
    std::shared_ptr<const LockPatience> patience = std::make_shared<LockPatience>();  ///< of writers that wait
    bool standalone = false;                                                          ///< Store::parent() is none
  };
  /// `root` is absolute, without a trailing `/`.
  FileTree(std::string root, Options options) : root_(std::move(root)), options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// The path of a key or prefix.
  [[nodiscard]] std::string path(std::string_view key) const;
  /// Opens a file of any kind for reading without waiting; no Fd if it does not exist.
  [[nodiscard]] Result<Fd> open_file(const std::string& key) const;
  /// Opens a directory for listing and syncing; no Fd if it does not exist.
  [[nodiscard]] Result<Fd> open_directory(std::string_view prefix) const;
  /// Opens a directory; creates the directory and all its parents if they do not exist.
  [[nodiscard]] Result<MadeDirectory> make_directory(std::string_view prefix) const;
  /// Syncs the entries of a directory to disk, if `durable`.
  [[nodiscard]] Result<void> sync(int directory, std::string_view prefix) const;

 private:
  [[nodiscard]] Result<Fd> walk_to(std::string_view prefix, int flags) const;
  [[nodiscard]] Result<void> make_missing(std::string_view prefix, MadeDirectory& directory) const;
  [[nodiscard]] Result<void> make_one(const Fd& at, const std::string& name, MadeDirectory& directory) const;
  [[nodiscard]] Result<void> sync_entry(const Fd& directory, std::string_view prefix) const;

  std::string root_;
  Options options_;
  std::shared_ptr<SyncedDirectories> synced_ = std::make_shared<SyncedDirectories>();  ///< shared by all copies
};

}  // namespace sherd
