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
    named,     ///< names of a directory were set or removed, in one step
    synced,    ///< a file or a directory
  };
  struct Name {
    std::string name;
    ino_t inode = 0;  ///< 0: removed
    bool is_directory = false;
    friend bool operator==(const Name&, const Name&) = default;
  };
  Kind kind;
  ino_t of = 0;
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
  void renamed(int from_directory, const char* from, int to_directory, const char* to);

  [[nodiscard]] std::vector<Effect> all() const;

 private:
  void add(Effect effect);
  Effect::Name keep(int directory, const char* path);

  mutable std::mutex mutex_;
  std::vector<Effect> effects_;
  std::map<ino_t, int> kept_;  // descriptors, by which inodes stay in use
};

}  // namespace sherd::os
