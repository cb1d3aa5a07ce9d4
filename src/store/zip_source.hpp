// Members of a zip archive as sources.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/zip_archive.hpp"

namespace sherd {

class ZipSource : public ByteSource {
 public:
  ZipSource(std::string key, std::shared_ptr<ZipArchive> archive, const ZipMember& member)
      : key_(std::move(key)), archive_(std::move(archive)), member_(member) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return member_.size; }
  Result<Generation> generation() override { return archive_->generation(member_); }

  [[nodiscard]] ZipArchive& archive() const noexcept { return *archive_; }
  [[nodiscard]] const ZipMember& member() const noexcept { return member_; }

 protected:
  const std::string key_;
  const std::shared_ptr<ZipArchive> archive_;
  const ZipMember& member_;  ///< of the archive's directory
};

/// A member that is stored as it is: a window of the archive. Its local header is read with its first bytes. A read
/// of the whole member, at once or from front to end, is `corrupt` if the bytes do not match the checksum in the
/// archive. Other reads of parts are not compared.
class ZipStoredSource final : public ZipSource {
 public:
  using ZipSource::ZipSource;

  Result<void> read(std::span<const RangeRead> ranges) override;
  /// Takes bytes of it that were read from the archive.
  Result<void> has_read(std::uint64_t offset, std::span<const std::byte> bytes);

 private:
  std::mutex mutex_;           // guards what follows
  std::uint64_t read_to_ = 0;  ///< all bytes before this have been read in order
  std::uint32_t crc_ = 0;      ///< of these
};

/// A compressed member, which is decoded as a whole when any of it is read, and then kept in memory.
class ZipDecodedSource final : public ZipSource {
 public:
  using ZipSource::ZipSource;

  Result<void> read(std::span<const RangeRead> ranges) override;
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override;
  /// Decodes the member's stored bytes, unless that has been done. `corrupt` if its size or checksum is wrong.
  Result<void> decode(std::span<const std::byte> stored);

 private:
  Result<void> read_and_decode();

  std::mutex mutex_;  ///< while it is decoded
  std::atomic<bool> is_decoded_{false};
  Buffer decoded_;
};

/// `corrupt`: the bytes of a member do not have the checksum that the archive has of them.
[[nodiscard]] Error wrong_checksum(const std::string& key);

/// The object with this key, or nullptr. `unsupported` for encrypted members, symbolic links, compression methods other
/// than deflate and zstd, and compressed members larger than Limits::chunk_bytes.
Result<std::shared_ptr<ByteSource>> open_zip_member(const std::shared_ptr<ZipArchive>& archive, const std::string& key);

/// Fails for the first object that cannot be read, except for its data: also if its local header contradicts the
/// directory. Reads the headers that have not been read.
Result<void> check_zip_members(ZipArchive& archive);

}  // namespace sherd
