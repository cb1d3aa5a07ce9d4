// The next version of a member of a zip archive.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/key_locks.hpp"
#include "store/zip_contents.hpp"

namespace sherd {

/// Collects the bytes in memory or, if there are many, in an unnamed file beside the archive. commit() adds them to the
/// archive's next version.
class ZipMemberWriter final : public ObjectWriter {
 public:
  /// `hold` is the key's, and this is its only writer.
  ZipMemberWriter(std::shared_ptr<ZipContents> contents, std::string key, std::shared_ptr<KeyHold> hold)
      : contents_(std::move(contents)), key_(std::move(key)), hold_(std::move(hold), key_) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override;
  Result<void> commit(const Condition& condition) override;
  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  Result<void> extend(std::uint64_t offset, std::uint64_t end, bool to_file);
  Result<void> spill();
  Result<void> replace(const Condition& condition);
  Result<std::shared_ptr<const ZipSpooled>> add(ZipSession& session);

  const std::shared_ptr<ZipContents> contents_;
  const std::string key_;
  WriterHold hold_;
  std::shared_mutex mutex_;  ///< exclusive while the bytes may move
  Buffer bytes_;
  Fd file_;  ///< contains the bytes instead
  std::uint64_t size_ = 0;
  /// All of another archive's member, copied by the kernel. Its checksum is seen when the bytes are added.
  struct Copied {
    std::string key;
    ZipMember member;
  };
  std::optional<Copied> copied_;
  Generation committed_;
};

}  // namespace sherd
