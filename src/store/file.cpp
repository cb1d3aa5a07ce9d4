// The file store: an object is a file, a prefix is a directory, a key is a path below the root.
//
// Readers never lock and never wait. A source opens its file once and keeps it open, so it shows one version
// throughout; a version is device, inode, time of the last change (nanoseconds) and size.
//
// Writers never change an object, except those that amend it. Each key has a side file, `.NAME.sherd-lock` next to the
// object NAME, which is first the lock and then the next version. The steps:
//   1. Acquire the key's lock in this process (key_locks.hpp). Then create the side file (O_EXCL), or open the existing
//      one, and try to acquire its exclusive open-file-description lock until that succeeds (lock_wait.hpp). If its
//      name no longer refers to the locked file, its holder has finished: start again. If it existed before, its holder
//      was killed: remove it and start again. So only its creator writes into a side file.
//   2. Write the next version into the side file.
//   3. To commit, compare the present object with the condition, set the mode of the side file to that of the object
//      and a time later than the object's, fsync it, rename it over the object, fsync the directory. If the object is a
//      symbolic link, the link is replaced, not its target.
//   4. If nothing was committed, remove the side file. Unlock it, close it.
// Missing directories are created before step 1, each followed by an fsync of its parent, and are removed again if
// nothing was committed. An existing directory may have been created by another writer who is still waiting for that
// fsync, so the first writer of a store in a directory syncs its parent, too. Neither is done on ext4 and XFS, where
// the fsyncs of step 3 make the names of all directories durable that were created before. Without `durable` there is
// no fsync.
//
// An amender (amend()) acquires the lock in the same way and then changes the object's own file, if it is a regular
// file with a single name on a local file system; otherwise it writes a copy as the next version, as above. The steps:
//   a. Write the appended bytes after the object's end. Nothing refers to them yet; giving up truncates them.
//   b. To commit, compare the object with the condition, fsync it, overwrite the changed ranges (16 aligned bytes at
//      once, so that neither a reader nor a disk's sector sees half of them), set the time as in step 3, fsync it.
// Aligned bytes are appended in one step instead, on file systems where the end of a file moves when all bytes of a
// direct write are stored: compare the object with the condition, write all of them by one call, overwrite, fdatasync.
// If killed before the first overwrite, it leaves the old version with dead bytes after it; later, the new version or,
// if it overwrites several ranges, some of them. Reads of a source that was opened before are a `conflict`. Between
// overwriting and setting the time the file may have the time that it had after step a: if the amender is killed right
// then, a reader that caches what it read just before keeps the old version until the next change.
//
// An object with two names (ObjectWriter::link()) is one file with two hard links. Its writer acquires the lock of the
// first name and then that of the second. The rename of step 3 is surrounded by:
//   A. Before it, the side file gets a second name, `.NAME2.sherd-link` next to the object NAME2, and that directory is
//      fsynced.
//   B. After it, `.NAME2.sherd-link` is renamed over NAME2, and that directory is fsynced again.
// A writer killed between the two leaves the new version under the first name and the old one under the second. The
// next writer finds the side file, which is the same file as that of the first name, and does step B before anything
// else. If two names are different files without such a trace, a program that knows only one name has separated them,
// and the writer cannot decide which one to keep.
//
// If the file system refuses the lock of step 1, other writers may be active. Then objects are only replaced, created
// (by linking the side file to its name, which fails if that exists) or erased, never compared or amended, unless the
// user promises that each has only one writer (Config::lock). A writer that finds a side file removes it; its maker, if
// alive, finds at step 3 that the name no longer refers to its file and fails with `conflict`. So that no other writer
// replaces the side file between this check and the rename, it is first renamed to `.NAME.INODE.sherd-link` and checked
// there.
//
// A writer killed at any time leaves the old version or the new one, and at most its side file and empty directories.
// Listings do not show side files. Leftover side files are removed by the next writer of the key, by erase_prefix, and
// by the next writer of another key in the same directory, except those whose lock is held. For this, a store searches
// each directory into which it writes, and its root, once, unless they are very large.
//
// Setting the time at step 3 makes generations differ: an inode may be reused at once, and the time that the file
// system would set does not advance for milliseconds.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/try.hpp"
#include "base/url.hpp"
#include "sherd/store.hpp"
#include "store/amendment.hpp"
#include "store/capabilities.hpp"
#include "store/condition.hpp"
#include "store/file_amender.hpp"
#include "store/file_entries.hpp"
#include "store/file_exchange.hpp"
#include "store/file_leftovers.hpp"
#include "store/file_lock.hpp"
#include "store/file_move.hpp"
#include "store/file_options.hpp"
#include "store/file_source.hpp"
#include "store/file_tree.hpp"
#include "store/file_writer.hpp"
#include "store/key.hpp"
#include "store/key_locks.hpp"
#include "store/listing.hpp"
#include "store/move_order.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

/// The maximum number of directories searched for leftovers of killed writers.
constexpr std::size_t kMaxSwept = std::size_t{1} << 16;

Result<std::shared_ptr<Store>> open_files(std::string root, FileTree::Options options);

class FileStore final : public Store,
                        public RenamingStore,
                        public StandaloneStore,
                        public LinkingStore,
                        public LeftoverStore {
 public:
  FileStore(std::string root, FileTree::Options options)
      : url_(file_url(root.empty() ? "/" : root)), tree_(std::move(root), std::move(options)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    // A run that fits in a core's cache is still there when its chunks are decoded.
    return {.coalesce_gap = std::uint64_t{32} << 10,
            .max_run_bytes = std::uint64_t{1} << 20,
            .locks = true,
            .conditional_write = true,
            .conditional_erase = true,
            .links = true,
            .amend = AmendCost::at_once};
  }

  Result<void> read(ReadQueue& queue) override {
    return reply_from_found(queue, [&](const std::string& key) { return find(key); });
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override;
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override;
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override;
  Result<Erased> erase(const std::string& key, const Condition& condition) override;
  Result<void> erase_prefix(const std::string& prefix) override;
  Result<void> wait_for_writers(const std::string& prefix) override;
  [[nodiscard]] bool can_move_to(const std::string& to) const override;
  Result<bool> move_at_once(const std::string& from, const std::string& to) override;
  [[nodiscard]] Result<bool> may_move_at_once(const std::string& from, const std::string& to) const override;
  Result<bool> exchange(const std::string& from, const std::string& to) override;
  Result<bool> is_link_pending(const std::string& first, const std::string& second) override;
  Result<void> add_name(const std::string& existing, const std::string& added) override;
  Result<void> remove_leftovers(const std::string& prefix, const OnLeftover& removed) override {
    SHERD_TRY(check_prefix(prefix));
    return remove_leftovers_in(tree_, prefix, removed);
  }
  Result<void> move_all(const std::string& from, const std::string& to) override;
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override;
  [[nodiscard]] Result<std::optional<ParentStore>> hidden_parent() const override;

 private:
  [[nodiscard]] Result<std::optional<ParentStore>> directory_above() const;
  using Identity = std::pair<dev_t, ino_t>;

  Result<std::shared_ptr<ByteSource>> find(const std::string& key) const;
  Result<std::shared_ptr<KeyHold>> hold(const std::string& key, Exclusion exclusion = Exclusion::required);
  void sweep_once(std::string_view prefix);
  Result<void> wait_in(int directory, const std::string& prefix, std::string_view below, int depth);
  [[nodiscard]] std::vector<Identity> way_to(std::string_view prefix) const;
  [[nodiscard]] bool passes_link(std::string_view prefix) const;

  std::string url_;
  FileTree tree_;
  std::shared_ptr<KeyLocks> locks_ = std::make_shared<KeyLocks>();
  std::mutex sweeping_;  ///< guards everything below; no thread waits for it
  std::set<std::string, std::less<>> swept_;
};

Result<std::shared_ptr<ByteSource>> FileStore::find(const std::string& key) const {
  SHERD_TRY(check_key(key));
  SHERD_TRY(file, tree_.open_file(key).in_key(key));
  if (!file) return std::shared_ptr<ByteSource>();
  struct stat status{};
  if (os::fstat(file.get(), status) != 0) return system_error("look at", tree_.path(key), errno).in_key(key);
  if (!S_ISREG(status.st_mode)) return corrupt("not a regular file").in_key(key);
  return std::make_shared<FileSource>(key, std::move(file), status);
}

Result<std::unique_ptr<ObjectWriter>> FileStore::write(const std::string& key, const WriteHints& hints) {
  SHERD_TRY(check_key(key));
  SHERD_TRY(held, hold(key, Exclusion::where_possible).in_key(key));
  SHERD_TRY(held->begin_writer());
  auto writer = std::make_unique<FileWriter>(key, std::move(held), tree_, locks_);
  if (hints.keeps_offsets) writer->keep_offsets();
  return writer;
}

Result<Generation> FileStore::amend(const std::string& key, const Amendment& amendment) {
  SHERD_TRY(check_key(key));
  SHERD_TRY(check_amendment(amendment).in_key(key));
  SHERD_TRY(held, hold(key).in_key(key));
  SHERD_TRY(changed, amend_file(key, *held->file_lock, amendment, tree_.options().durable).in_key(key));
  return changed ? *std::move(changed) : Store::amend(key, amendment);
}

Result<std::unique_ptr<StoreLock>> FileStore::lock(const std::string& key) {
  SHERD_TRY(check_key(key));
  SHERD_TRY(held, hold(key).in_key(key));
  return lock_of(std::move(held));
}

Result<std::shared_ptr<KeyHold>> FileStore::hold(const std::string& key, Exclusion exclusion) {
  if (tree_.options().lock == Locking::automatic) {  // otherwise active writers look like killed ones
    sweep_once("");
    sweep_once(split_key(key).prefix);
  }
  return hold_object(*locks_, tree_, key, exclusion);
}

void FileStore::sweep_once(std::string_view prefix) {
  {
    const std::unique_lock hold(sweeping_, std::try_to_lock);
    if (!hold || swept_.size() >= kMaxSwept || swept_.contains(prefix)) return;
    swept_.emplace(prefix);
  }
  const auto directory = tree_.open_directory(prefix);
  if (directory && *directory) sweep(directory->get(), prefix.empty());
}

/// The lock is acquired before an object is compared. Erasing an absent object without a condition costs nothing.
Result<Erased> FileStore::erase(const std::string& key, const Condition& condition) {
  SHERD_TRY(check_key(key));
  const auto [prefix, name] = split_key(key);
  const bool compares = condition.kind == Condition::Kind::matches;
  std::shared_ptr<KeyHold> held;
  const auto take = [&](Exclusion exclusion) -> Result<void> {
    SHERD_TRY(taken, hold(key, exclusion).in_key(key));
    held = std::move(taken);
    return {};
  };
  if (compares) SHERD_TRY(take(Exclusion::required));
  SHERD_TRY(directory, tree_.open_directory(prefix).in_key(key));
  if (!directory && !compares) return Erased::nothing;
  const Links links = compares && tree_.options().follow_symlinks ? Links::follow : Links::keep;
  SHERD_TRY(status, look_at(directory.get(), std::string(name), links).in_key(key));
  SHERD_TRY(check_condition(condition, status.has_value(), [&] { return generation_of(*status); }).in_key(key));
  if (!status) return Erased::nothing;
  if (S_ISDIR(status->st_mode)) return corrupt("not a regular file").in_key(key);
  if (!held) SHERD_TRY(take(Exclusion::where_possible));
  if (os::unlinkat(directory.get(), std::string(name).c_str(), 0) != 0) {
    if (errno == ENOENT) return Erased::nothing;
    return system_error("erase", tree_.path(key), errno).in_key(key);
  }
  SHERD_TRY(tree_.sync(directory.get(), prefix).in_key(key));
  return Erased::object;
}

Result<void> FileStore::erase_prefix(const std::string& prefix) {
  SHERD_TRY(check_prefix(prefix));
  if (prefix.empty()) {
    SHERD_TRY(root, tree_.open_directory(prefix));
    if (!root) return {};
    const std::string path = tree_.path(prefix);
    SHERD_TRY(erase_children(root.get(), path.substr(0, path.size() - 1), 0));
    return tree_.sync(root.get(), prefix);
  }
  const std::string key = prefix.substr(0, prefix.size() - 1);
  const auto [above, name_view] = split_key(key);
  const std::string name(name_view);
  SHERD_TRY(parent, tree_.open_directory(above).in_key(prefix));
  if (!parent) return {};
  SHERD_TRY(status, look_at(parent.get(), name, Links::follow).in_key(prefix));
  if (!status || !S_ISDIR(status->st_mode)) return {};
  const Fd directory(os::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!directory && errno == ENOENT) return {};  // another writer has removed it, because it was empty
  if (!directory && errno != ENOTDIR && errno != ELOOP)
    return system_error("open", tree_.path(key), errno).in_key(prefix);
  if (directory) SHERD_TRY(erase_children(directory.get(), tree_.path(key), 0).in_key(prefix));
  const int failed = os::unlinkat(parent.get(), name.c_str(), directory ? AT_REMOVEDIR : 0);
  if (failed != 0 && errno != ENOTEMPTY && errno != ENOENT) {
    return system_error("erase", tree_.path(key), errno).in_key(prefix);
  }
  return tree_.sync(parent.get(), above).in_key(prefix);
}

/// The caller holds the locks of both names.
Result<void> FileStore::add_name(const std::string& existing, const std::string& added) {
  SHERD_TRY(check_key(existing));
  SHERD_TRY(check_key(added));
  const auto [from, old_name] = split_key(existing);
  const auto [to, new_name] = split_key(added);
  SHERD_TRY(directory, tree_.open_directory(from).in_key(existing));
  if (!directory) return not_found("does not exist").in_key(existing);
  SHERD_TRY(made, tree_.make_directory(to).in_key(added));
  if (os::linkat(directory.get(), std::string(old_name).c_str(), made.fd.get(), std::string(new_name).c_str(), 0) !=
      0) {
    if (errno == EEXIST) return conflict("the object exists already").in_key(added);
    return system_error("link", tree_.path(added), errno).in_key(added);
  }
  made.keep();
  return tree_.sync(made.fd.get(), to).in_key(added);
}

/// A writer has a side file from before it looks at anything until its version is in place. So if no side file is
/// found, the writer has ended, or begins later.
Result<void> FileStore::wait_for_writers(const std::string& prefix) {
  SHERD_TRY(check_prefix(prefix));
  SHERD_TRY(directory, tree_.open_directory(prefix).in_key(prefix));
  if (!directory) return {};
  return wait_in(directory.get(), prefix, prefix, 0);
}

/// In a directory and those below it; links are not followed, as in erase_prefix().
Result<void> FileStore::wait_in(int directory, const std::string& prefix, std::string_view below, int depth) {
  if (depth > kMaxDirectoryDepth) return invalid_argument("'" + prefix + "' is nested too deeply");
  SHERD_TRY(entries, entries_of(directory, tree_.path(prefix)));
  for (const std::string& side_file : entries.side_files) {
    if (!side_file.ends_with(kLockSuffix)) continue;
    const std::string key = prefix + side_file.substr(1, side_file.size() - 1 - kLockSuffix.size());
    if (is_waited_for(key, below)) SHERD_TRY(hold_object(*locks_, tree_, key).in_key(key));
  }
  for (const std::string& name : entries.directories) {
    if (!is_waited_for(prefix + name, below)) continue;
    const Fd child(os::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!child && errno == ENOENT) continue;
    if (!child) return system_error("open", tree_.path(prefix + name), errno);
    SHERD_TRY(wait_in(child.get(), prefix + name + "/", below, depth + 1));
  }
  return {};
}

Result<bool> FileStore::move_at_once(const std::string& from, const std::string& to) {
  SHERD_TRY(check_prefix(from));
  SHERD_TRY(check_prefix(to));
  return move_directory(tree_, from, to);
}

Result<bool> FileStore::may_move_at_once(const std::string& from, const std::string& to) const {
  SHERD_TRY(check_prefix(from));
  SHERD_TRY(check_prefix(to));
  return may_move_directory(tree_, from, to);
}

Result<bool> FileStore::exchange(const std::string& from, const std::string& to) {
  SHERD_TRY(check_prefix(from));
  SHERD_TRY(check_prefix(to));
  if (!to.empty()) return exchange_directories(tree_, from, to);
  const auto neighbor = neighbor_of_root(tree_);
  if (!neighbor) return false;
  const auto around = open_files(neighbor->directory, tree_.options());
  // What a killed process has left. If it cannot be erased, nothing can be moved there either.
  if (!around || !(*around)->erase_prefix(neighbor->name + "/")) return false;
  SHERD_TRY(held, hold_object(*locks_, tree_, from.substr(0, from.find('/'))));
  return exchange_root(tree_, from, *neighbor, *held->file_lock);
}

Result<bool> FileStore::is_link_pending(const std::string& first, const std::string& second) {
  SHERD_TRY(check_key(first));
  SHERD_TRY(check_key(second));
  const auto [prefix, name] = split_key(second);
  const std::string next = tree_.path(prefix) + side_file_of(name, kLinkSuffix);
  struct stat stored{};
  struct stat pending{};
  return os::fstatat(AT_FDCWD, tree_.path(first).c_str(), stored, AT_SYMLINK_NOFOLLOW) == 0 &&
         os::fstatat(AT_FDCWD, next.c_str(), pending, AT_SYMLINK_NOFOLLOW) == 0 && stored.st_dev == pending.st_dev &&
         stored.st_ino == pending.st_ino;
}

/// Whether the directory, or the nearest one above it that exists, is on the root's file system.
bool FileStore::can_move_to(const std::string& to) const {
  struct stat root{};
  if (os::fstatat(AT_FDCWD, tree_.path("").c_str(), root) != 0) return true;  // it is made where it is needed
  for (std::string_view at = to;; at = split_key(at.substr(0, at.size() - 1)).prefix) {
    struct stat status{};
    if (os::fstatat(AT_FDCWD, tree_.path(at).c_str(), status) == 0) return status.st_dev == root.st_dev;
    if (at.empty()) return true;
  }
}

Result<void> FileStore::move_all(const std::string& from, const std::string& to) {
  const auto moved = move_at_once(from, to);
  if (!moved.has_value() && moved.error().code() != ErrorCode::not_found) return moved.error();
  if (!moved.has_value() || *moved) return {};
  SHERD_TRY(source, tree_.open_directory(from).in_key(from));
  if (!source) return {};
  SHERD_TRY(target, tree_.make_directory(to).in_key(to));
  SHERD_TRY(move_children(tree_, source.get(), from, target.fd.get(), to));
  target.keep();
  return erase_prefix(from);
}

/// The directories from the root to a prefix. A directory that contains itself through a symbolic link would make lists
/// endless, so it is not shown inside itself.
std::vector<FileStore::Identity> FileStore::way_to(std::string_view prefix) const {
  std::vector<Identity> way;
  std::string name = tree_.path("");
  for (Fd at;;) {
    at = Fd(os::openat(at ? at.get() : AT_FDCWD, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat status{};
    if (!at || os::fstat(at.get(), status) != 0) return way;
    way.emplace_back(status.st_dev, status.st_ino);
    if (prefix.empty()) return way;
    name = prefix.substr(0, prefix.find('/'));
    prefix.remove_prefix(name.size() + 1);
  }
}

/// Whether there is a symbolic link on the way from the root to a prefix.
bool FileStore::passes_link(std::string_view prefix) const {
  if (!tree_.options().follow_symlinks) return false;
  for (std::size_t end = prefix.find('/'); end != prefix.npos; end = prefix.find('/', end + 1)) {
    struct stat status{};
    const std::string path = tree_.path(prefix.substr(0, end));
    if (os::fstatat(AT_FDCWD, path.c_str(), status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) return true;
  }
  return false;
}

/// Visits what is not a directory. Only a file has a size and versions: a link that leads nowhere, say, has none.
Result<bool> visit_file(std::string_view name, const struct stat& status, const OnEntry& visit) {
  if (!S_ISREG(status.st_mode)) return visit({.name = name});
  const Generation generation = generation_of(status);
  using Time = std::chrono::system_clock::time_point;
  constexpr std::int64_t kMostSeconds = 9'000'000'000;  // more nanoseconds have no place in a Time
  std::optional<Time> modified;
  if (status.st_mtim.tv_sec < kMostSeconds && status.st_mtim.tv_sec > -kMostSeconds)
    modified = Time(std::chrono::duration_cast<Time::duration>(std::chrono::seconds(status.st_mtim.tv_sec) +
                                                               std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
  return visit({.name = name,
                .size = static_cast<std::uint64_t>(status.st_size),
                .generation = generation.token,
                .modified = modified});
}

Result<bool> FileStore::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  SHERD_TRY(check_prefix(prefix));
  if (depth == ListDepth::all) return visit_levels(*this, prefix, visit);
  SHERD_TRY(directory, tree_.open_directory(prefix).in_key(prefix));
  if (!directory) return true;
  std::vector<Identity> way;
  Result<bool> more = true;  // a failure of `visit` has a key of its own
  const auto links = tree_.options().follow_symlinks ? Links::follow : Links::keep;
  const bool linked = passes_link(prefix);
  SHERD_TRY(for_each_entry(directory.get(), tree_.path(prefix), [&](const dirent64& entry) -> Result<bool> {
              if (is_side_file(entry.d_name)) return true;
              if (entry.d_type == DT_DIR && !linked) {  // nothing more needs to be known about it
                more = visit({.name = entry.d_name, .is_prefix = true});
                return more.has_value() && *more;
              }
              SHERD_TRY(status, look_at(directory.get(), entry.d_name, links));
              if (!status) return true;
              const bool is_directory = S_ISDIR(status->st_mode);
              if (is_directory) {
                if (way.empty()) way = way_to(prefix);
                const Identity child(status->st_dev, status->st_ino);
                if (std::ranges::find(way, child) != way.end()) return true;
              }
              more = is_directory ? visit({.name = entry.d_name, .is_prefix = true})
                                  : visit_file(entry.d_name, *status, visit);
              return more.has_value() && *more;
            }).in_key(prefix));
  return more;
}

Result<std::optional<ParentStore>> FileStore::parent() const {
  return tree_.options().standalone ? std::optional<ParentStore>() : directory_above();
}

Result<std::optional<ParentStore>> FileStore::hidden_parent() const {
  return tree_.options().standalone ? directory_above() : std::optional<ParentStore>();
}

/// The parent directory, by name: if the root ends in `..`, it has none with such a name.
Result<std::optional<ParentStore>> FileStore::directory_above() const {
  std::filesystem::path at = tree_.path("");
  while (at.has_relative_path() && (at.filename().empty() || at.filename() == ".")) at = at.parent_path();
  if (!at.has_relative_path() || at.filename() == "..") return std::optional<ParentStore>();
  FileTree::Options options = tree_.options();
  options.standalone = false;
  SHERD_TRY(store, open_files(at.parent_path().string(), std::move(options)));
  return std::optional(ParentStore{std::move(store), at.filename().string()});
}

/// `root` is absolute.
Result<std::shared_ptr<Store>> open_files(std::string root, FileTree::Options options) {
  root.erase(root.find_last_not_of('/') + 1);
  struct stat status{};
  if (!root.empty() && os::fstatat(AT_FDCWD, root.c_str(), status) == 0 && !S_ISDIR(status.st_mode)) {
    return invalid_argument("'" + root + "' is not a directory");
  }
  return std::make_shared<FileStore>(std::move(root), std::move(options));
}

}  // namespace

Result<std::shared_ptr<Store>> file_store(const std::string& directory, const Config& config) {
  if (directory.empty()) return invalid_argument("the directory of a file store has an empty name");
  if (directory.find('\0') != std::string::npos) return invalid_argument("a directory's name contains a NUL byte");
  SHERD_TRY(standalone, is_standalone(config));
  std::error_code failed;
  std::string root = std::filesystem::absolute(directory, failed).string();
  if (root.size() > 2 && root.ends_with("/.")) root.resize(root.size() - 2);
  if (failed) return system_error("find", directory, failed.value());
  return open_files(std::move(root), {config.follow_symlinks, config.durable, config.lock,
                                      std::make_shared<const LockPatience>(config), standalone});
}

}  // namespace sherd
