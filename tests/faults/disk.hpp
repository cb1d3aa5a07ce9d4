// A disk as its file system promises it to be: what of the effects of system calls is there after a power cut.
//
// The model is what ext4 and XFS have in common, and weaker where they differ:
//   - Only a sync makes anything durable: of a file its bytes and its size, of a directory the names in it.
//   - Of the page cache, each sector of 512 bytes is written at any time, in any order, as it was after any of the
//     writes to it. Sixteen aligned bytes are therefore never torn, and 4096 are.
//   - The size of a file changes in the order of the calls. It may be ahead of the bytes, which are then zeros.
//   (Neither
//     file system shows such zeros where it allocates late, but XFS does after a hole.) It may also end in the middle
//     of a write.
//   - A direct write that makes a file longer is the exception on which appending relies: the size is set when all its
//     bytes are on the disk, so it is there as a whole or not at all. (ext4 and XFS update the size on completion, in a
//     transaction whose commit flushes the cache of the disk first.)
//   - Each change of the names of a directory is there or not, independently of all others. A rename is one change, and
//     so is an exchange, also between two directories: the sync of one of them makes it durable.
//     (Both file systems journal names in order, and with the syncs of files; only `names_in_order` relies on that:
//     then a power cut leaves all changes up to some time, and each sync makes those before it durable.)
//   - What is stored for ever neither vanishes nor changes. Modes and times are not part of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/faults/effects.hpp"

namespace faults {

using sherd::os::Effect;

/// The files below a directory.
struct Tree {
  std::map<std::string, std::shared_ptr<const std::string>> files;  ///< one file with two names is the same pointer
  std::set<std::string> directories;

  /// Replaces what is in `folder`.
  void store(const std::string& folder) const;
  /// Equal for equal trees, and different for different ones (64 bits).
  [[nodiscard]] std::uint64_t hash() const;
};

class Disk {
 public:
  /// What is below `folder` is durable.
  explicit Disk(const std::string& folder);

  struct Options {
    bool tears_direct_writes = false;  ///< as tmpfs, btrfs, and ext4 with data=journal
    bool names_in_order = false;  ///< as in a journal: while one change of a name is durable, so are those before it
  };
  void set(Options options) noexcept { options_ = options; }

  [[nodiscard]] bool is_directory(ino_t inode) const { return names_.contains(inode); }
  void apply(const Effect& effect);
  /// Calls `visit` for the trees that a power cut may leave: all of them if there are at most kEnumerated, otherwise
  /// those that differ in one thing from nothing and from everything, and a random sample. Trees may be visited twice.
  void cut(const std::function<void(const Tree&)>& visit) const;

  static constexpr std::uint64_t kEnumerated = 1024, kSampled = 256;

 private:
  struct File {
    std::string durable;
    std::vector<Effect> pending;
  };
  using Names = std::map<ino_t, std::map<std::string, Effect::Name>>;  ///< by directory
  struct Change {
    std::vector<Effect::Name> names;
    bool is_durable = false;
  };

  void read(ino_t directory, const std::string& path);
  static void set(Names& names, const Change& change);
  [[nodiscard]] std::vector<Names> names() const;
  void cut_files(const Names& names, const std::function<void(const Tree&)>& visit) const;

  Options options_;
  std::vector<std::shared_ptr<const int>> open_;  // descriptors, by which inodes are not used again
  ino_t root_ = 0;
  std::map<ino_t, File> files_;
  Names names_;
  std::vector<Change> changes_;  ///< of names_, in their order; the first one is not durable
};

/// An update, and the disk before it.
struct Recording {
  Disk disk;
  std::vector<Effect> effects;
};

/// Calls visit(tree, number of effects) for what may be there after a power cut: right before something becomes
/// durable, and in the end. What may be there at other times may be there at these, too.
void cut_power(const Recording& recording, const std::function<void(const Tree&, std::size_t)>& visit);

}  // namespace faults
