// A root cannot be exchanged with a directory inside it, so that is renamed to a name next to the root, the two are
// exchanged, and the old root is moved into the new one. The lock under which this happens is a file in the root: it
// has a second name in the new root before that becomes visible, so that no other process acquires it in between.
// Killed before the exchange, the old root is complete; later, the new one is. Permissions are those of the directory
// that is replaced; one of another owner is not replaced, because the new one would be ours.
#include "store/file_exchange.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/try.hpp"
#include "store/file_entries.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

struct Entry {
  int directory;
  std::string name;
};

constexpr mode_t kPermissions = 07777;

/// Makes two directories of the same owner alike. False if that is not possible, or if they are something else, such as
/// links.
bool make_alike(const Entry& made, const Entry& old) noexcept {
  struct stat of_made{};
  struct stat of_old{};
  if (os::fstatat(made.directory, made.name.c_str(), of_made, AT_SYMLINK_NOFOLLOW) != 0 ||
      os::fstatat(old.directory, old.name.c_str(), of_old, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (!S_ISDIR(of_made.st_mode) || !S_ISDIR(of_old.st_mode) || of_made.st_dev != of_old.st_dev ||
      of_made.st_uid != of_old.st_uid)
    return false;
  if (of_made.st_gid != of_old.st_gid && os::chgrpat(made.directory, made.name.c_str(), of_old.st_gid) != 0)
    return false;
  const mode_t mode = of_old.st_mode & kPermissions;
  return (of_made.st_mode & kPermissions) == mode || os::fchmodat(made.directory, made.name.c_str(), mode) == 0;
}

bool rename(const Entry& from, const Entry& to, unsigned flags) noexcept {
  return os::renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags) == 0;
}

/// The name of a directory, and the directory that contains it.
struct Place {
  std::string_view above;
  std::string name;
};

Place place_of(std::string_view prefix) {
  const auto [above, name] = split_key(prefix.substr(0, prefix.size() - 1));
  return {above, std::string(name)};
}

/// Of a failure after the exchange.
std::string exchanged_with(const std::string& directory) {
  return "the new node is in place; what it replaced is below '" + directory + "'";
}

/// Whether the side file of another process is in the root: it is making a node, or writing an object. Those of
/// processes that have ended were removed when this store first wrote into the root.
Result<bool> is_shared(int root, const std::string& path, const std::string& own) {
  bool shared = false;
  SHERD_TRY(for_each_entry(root, path, [&](const dirent64& entry) -> Result<bool> {
    const std::string_view name = entry.d_name;
    shared = is_side_file(name) && name != own;
    return !shared;
  }));
  return shared;
}

}  // namespace

Result<bool> exchange_directories(const FileTree& tree, const std::string& from, const std::string& to) {
  const Place made = place_of(from), old = place_of(to);
  SHERD_TRY(source, tree.open_directory(made.above).in_key(from));
  SHERD_TRY(target, tree.open_directory(old.above).in_key(to));
  if (!source || !target) return false;
  const Entry one{source.get(), made.name}, other{target.get(), old.name};
  if (!make_alike(one, other) || !rename(one, other, RENAME_EXCHANGE)) return false;
  auto synced = tree.sync(target.get(), old.above).in_key(to);
  if (synced) synced = tree.sync(source.get(), made.above).in_key(from);
  SHERD_TRY(std::move(synced).in([&] { return exchanged_with(from); }));
  return true;
}

std::optional<RootNeighbor> neighbor_of_root(const FileTree& tree) {
  std::error_code failed;
  const std::filesystem::path root = std::filesystem::canonical(tree.path(""), failed);
  if (failed || !root.has_filename()) return std::nullopt;
  const std::string name = root.filename().string();
  return RootNeighbor{root.parent_path().string(), name, std::string(kScratchPrefix) + name + "-root"};
}

Result<bool> exchange_root(const FileTree& tree, const std::string& from, const RootNeighbor& neighbor,
                           FileLock& lock) {
  const Place made = place_of(from);
  const Fd above(os::openat(AT_FDCWD, neighbor.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  SHERD_TRY(source, tree.open_directory(made.above).in_key(from));
  SHERD_TRY(contents, tree.open_directory(from).in_key(from));
  if (!above || !source || !contents) return false;
  const std::string side_file = side_file_of(from.substr(0, from.find('/')), kLockSuffix);
  SHERD_TRY(shared, is_shared(lock.directory(), tree.path(""), side_file));
  const Entry inside{source.get(), made.name}, outside{above.get(), neighbor.name}, root{above.get(), neighbor.root};
  if (shared || !make_alike(inside, root) || lock.link(contents.get(), side_file) != 0) return false;
  const auto stay = [&] {
    os::unlinkat(contents.get(), side_file.c_str(), 0);
    return false;
  };
  if (!rename(inside, outside, RENAME_NOREPLACE)) return stay();
  if (!rename(outside, root, RENAME_EXCHANGE)) {
    if (!rename(outside, inside, RENAME_NOREPLACE)) return system_error("move", neighbor.name, errno).in_key(from);
    return stay();
  }
  lock.move_to(std::move(contents));
  const auto put_old_inside = [&]() -> Result<void> {
    SHERD_TRY(tree.sync(above.get(), ""));
    SHERD_TRY(target, tree.make_directory(made.above).in_key(from));
    target.keep();
    if (rename(outside, {target.fd.get(), made.name}, RENAME_NOREPLACE)) return {};
    return system_error("move", neighbor.name, errno).in_key(from);
  };
  SHERD_TRY(put_old_inside().in([&] { return exchanged_with(neighbor.directory + "/" + neighbor.name); }));
  return true;
}

}  // namespace sherd
