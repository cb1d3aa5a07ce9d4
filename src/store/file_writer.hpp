// The next version of an object of a file store.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "sherd/store.hpp"
#include "store/file_lock.hpp"
#include "store/file_tree.hpp"
#include "store/key_locks.hpp"

namespace sherd {

class FileWriter final : public ObjectWriter {
 public:
  /// `hold` is the key's, with a FileLock beneath and this as its only writer.
  FileWriter(std::string key, std::shared_ptr<KeyHold> hold, FileTree::Options options);
  ~FileWriter() override;

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override;
  Result<void> commit(const Condition& condition) override;
  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  [[nodiscard]] FileLock& side_file() const noexcept { return static_cast<FileLock&>(*hold_->beneath); }
  [[nodiscard]] Error failed(std::string_view action, int code);
  void end() noexcept;
  Result<void> usable();
  Result<void> replace(const Condition& condition);
  Result<std::optional<struct stat>> present() const;
  Result<void> finish(const std::optional<struct stat>& present);
  Result<void> publish();

  std::string key_;
  std::string name_;
  FileTree::Options options_;
  std::shared_ptr<KeyHold> hold_;  ///< null after the commit
  Generation committed_;
  std::atomic<bool> failed_{false};  ///< bytes are missing, so there is nothing to commit
};

}  // namespace sherd
