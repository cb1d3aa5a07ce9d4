// What system calls have done to files and to names, in their order: what a power cut may leave of it is in disk.hpp.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace sherd::os {

/// Files and directories are identified by their inodes.
struct Effect {
  enum class Kind : std::uint8_t {
    written,   ///< bytes, through the page cache
    appended,  ///< bytes, by one direct write that makes the file longer
    resized,   ///< without bytes
    named,     ///< names in one or two directories were set or removed, in one step
    synced,    ///< a file or a directory
  };
  struct Name {
    ino_t in = 0;  ///< the directory
    std::string name;
    ino_t inode = 0;  ///< 0: removed
    bool is_directory = false;
    friend bool operator==(const Name&, const Name&) = default;
  };
  Kind kind;
  ino_t of = 0;              ///< of `named`: the directory of the first name
  std::uint64_t offset = 0;  ///< of the bytes; the new size
  std::string bytes = {};
  std::vector<Name> names = {};
  friend bool operator==(const Effect&, const Effect&) = default;
};

/// Of calls that have succeeded, from the time at which it is made. Inodes are not used again while it exists.
/// Thread-safe.
class EffectLog {
 public:
  EffectLog() = default;
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  void wrote(int fd, std::uint64_t offset, std::span<const std::byte> bytes, bool direct = false);
  void resized(int fd, std::uint64_t size);
  void synced(int fd);
  void named(int directory, const char* path);
  void removed(int directory, const char* path);
  /// `exchanged`: both names exist afterwards.
  void renamed(int from_directory, const char* from, int to_directory, const char* to, bool exchanged);

  [[nodiscard]] std::vector<Effect> all() const;

 private:
  void add(Effect effect);
  void set(std::vector<Effect::Name> names);
  Effect::Name keep(int directory, const char* path);

  mutable std::mutex mutex_;
  std::vector<Effect> effects_;
  std::map<ino_t, int> kept_;  // descriptors, by which inodes stay in use
};

}  // namespace sherd::os
