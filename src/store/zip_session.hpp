// The next version of a zip archive on the local file system, while members are added to it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "sherd/store.hpp"
#include "store/extent.hpp"
#include "store/file_source.hpp"
#include "store/file_tree.hpp"
#include "store/file_writer.hpp"
#include "store/zip_encode.hpp"

namespace sherd {

class ZipSession;

/// A member of the next version. Its bytes stay in place as long as it exists.
class ZipSpooled {
 public:
  ZipSpooled(std::shared_ptr<ZipSession> session, Extent where) : session_(std::move(session)), where_(where) {}
  ZipSpooled(const ZipSpooled&) = delete;
  ZipSpooled& operator=(const ZipSpooled&) = delete;
  ~ZipSpooled();

  [[nodiscard]] ZipSession& session() const noexcept { return *session_; }
  [[nodiscard]] std::uint64_t header() const noexcept { return where_.offset; }
  [[nodiscard]] std::uint64_t data() const noexcept { return where_.end() - size; }

  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  Generation generation;

 private:
  const std::shared_ptr<ZipSession> session_;
  const Extent where_;  ///< from its local header to the end of its data
};

/// Writes the side file that becomes the archive (file.cpp), whose lock excludes all other writers. Members are
/// appended, or put where superseded ones were. Thread-safe.
class ZipSession : public std::enable_shared_from_this<ZipSession> {
 public:
  /// `conflict` if another writer has the archive.
  static Result<std::shared_ptr<ZipSession>> begin(const FileTree& tree, const std::string& key);

  /// Adds a member whose bytes are in memory, or in an unnamed file. `padding` is left between its header and its data.
  Result<std::shared_ptr<const ZipSpooled>> add(const std::string& key, std::span<const std::byte> bytes,
                                                std::uint64_t padding = 0);
  Result<std::shared_ptr<const ZipSpooled>> add(const std::string& key, FileSource& file);
  /// A new file without a name in the archive's directory.
  [[nodiscard]] Result<Fd> unnamed_file() const;

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  static constexpr std::uint64_t kMinRoom = std::uint64_t{64} << 10;
  /// Keeps the first bytes free until open_front(), which returns how many are free then. Nothing has been added yet.
  void reserve_front(std::uint64_t bytes) noexcept { end_ = front_ = bytes; }
  std::uint64_t open_front() noexcept;
  /// Removes the free space after the last member, and returns the end of that member.
  Result<std::uint64_t> trim();
  /// Removes what a finish that failed has written behind the members: what is added next may have holes there.
  [[nodiscard]] Result<void> cut();
  /// The writer of the side file until drop().
  [[nodiscard]] FileWriter& writer() const noexcept { return *writer_; }
  /// False in a child of fork(), which has a copy of its parent's session.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_ == ::getpid(); }
  /// Ends the writer; what has been written can still be read.
  void drop() noexcept { writer_.reset(); }

 private:
  friend class ZipSpooled;
  ZipSession() = default;
  /// A place for a member, which is free again when the result is destroyed, and the member's local header.
  struct Place {
    std::shared_ptr<ZipSpooled> member;
    std::string header;
    bool is_new;  ///< nothing has ever been written there
  };
  Place allocate(const ZipStored& stored);
  Result<void> copy_data(FileSource& file, std::uint64_t size, std::uint64_t to);
  void release(const Extent& where) noexcept;

  const pid_t process_ = ::getpid();
  std::string path_;  ///< of the archive, for messages
  std::string name_;
  Fd directory_;
  Fd file_;  ///< the side file, for reading
  std::unique_ptr<FileWriter> writer_;
  std::string generation_;
  std::atomic<std::uint64_t> added_{0};
  std::mutex mutex_;                             ///< guards the space
  std::map<std::uint64_t, std::uint64_t> free_;  ///< lengths by offset
  std::uint64_t end_ = 0;
  std::uint64_t front_ = 0;
};

}  // namespace sherd
