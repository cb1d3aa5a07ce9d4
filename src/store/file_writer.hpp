// The next version of an object of a file store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sherd/store.hpp"
#include "store/file_lock.hpp"
#include "store/file_tree.hpp"
#include "store/key_locks.hpp"

namespace sherd {

/// The block size of file systems that share blocks between files.
inline constexpr std::uint64_t kSharedBlock = 4096;

class FileWriter final : public ObjectWriter {
 public:
  /// `hold` is the key's, with its FileLock, and this is its only writer.
  FileWriter(std::string key, std::shared_ptr<KeyHold> hold, FileTree tree, std::shared_ptr<KeyLocks> locks);
  ~FileWriter() override;

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override;
  /// Removes what was written from there on.
  Result<void> truncate(std::uint64_t offset);
  /// WriteHints::keeps_offsets.
  void keep_offsets() noexcept { may_clone_ = true; }
  /// Lets a commit follow failed writes: the caller writes those bytes again, or has no use for them.
  void survive_failures() noexcept {
    hold_.survive_failures();
    leaves_holes_ = false;
  }
  [[nodiscard]] bool ended() const noexcept { return hold_.ended(); }
  Result<void> link(const std::string& key) override;
  Result<void> commit(const Condition& condition) override;
  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  /// The second name of the object that is being written.
  struct Second {
    std::string key;
    std::string name;
    std::string side_file;  ///< for the new version before it gets that name
    std::shared_ptr<KeyHold> hold;
    bool linked = false;  ///< the version has the side file's name

    [[nodiscard]] int directory() const noexcept { return hold->file_lock->directory(); }
  };

  [[nodiscard]] FileLock& side_file() const noexcept { return hold_.file_lock(); }
  void end() noexcept;
  void reach(std::uint64_t end) noexcept;
  Result<void> replace(const Condition& condition);
  Result<std::optional<struct stat>> present() const;
  Result<void> finish(const std::optional<struct stat>& present);
  Result<void> publish(bool is_new);
  Result<void> repair(const Second& second) const;
  Result<void> check_pair(const Second& second) const;
  Result<void> link_second();
  Result<void> publish_second();
  [[nodiscard]] Result<void> sync(int directory, const std::string& key) const;

  std::string key_;
  std::string name_;
  FileTree tree_;
  std::shared_ptr<KeyLocks> locks_;
  WriterHold hold_;
  bool may_clone_ = false;
  bool is_clone_ = false;              ///< bytes that were not written are those of the version that was copied from
  bool leaves_holes_ = true;           ///< zeros are not written, because no other bytes are where they belong
  std::atomic<std::uint64_t> end_{0};  ///< of the zeros that were not written, or of everything in a clone
  std::optional<Second> second_;
  Generation committed_;
};

}  // namespace sherd
