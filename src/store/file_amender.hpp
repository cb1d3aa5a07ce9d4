// An object of a file store that is changed in place: bytes after its end, and a few before it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sherd/store.hpp"
#include "store/file_tree.hpp"
#include "store/key_locks.hpp"

namespace sherd {

class FileAmender final : public ObjectWriter {
 public:
  /// Opens the object `name` for writing if it is a regular file of a local file system without other names; otherwise
  /// returns no Fd, and the object must be replaced. `conflict` if it is not the version `of`.
  static Result<Fd> open(int directory, const std::string& name, const Generation& of, struct stat& status);

  /// `hold` is the key's, with its FileLock, and this is its only writer.
  FileAmender(std::string key, std::shared_ptr<KeyHold> hold, Fd object, const struct stat& status, bool durable);
  ~FileAmender() override;

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> commit(const Condition& condition) override;
  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  [[nodiscard]] std::uint64_t old_size() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }
  void end() noexcept;
  Result<void> put(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> check(const Condition& condition) const;
  Result<void> sync();
  Result<void> overwrite();

  std::string key_;
  WriterHold hold_;
  Fd object_;
  const struct stat status_;  ///< before anything was changed
  const bool durable_;
  const pid_t process_;
  Generation committed_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<std::byte>> overwrites_;  ///< to be written by the commit, by offset
  bool overwritten_ = false;                                    ///< the object refers to the appended bytes
};

}  // namespace sherd
