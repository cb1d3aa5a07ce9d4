// One version of a zip archive: an object of another store, and its directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sherd/options.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"
#include "store/zip_directory.hpp"

namespace sherd {

/// Thread-safe. Members belong to directory().
class ZipArchive {
 public:
  /// Opens the object `key`, by one read of its end and, if the directory is longer than that, one of the directory;
  /// nullptr if it does not exist.
  static Result<std::shared_ptr<ZipArchive>> open(Store& outer, const std::string& key, const Limits& limits);

  [[nodiscard]] const std::shared_ptr<ByteSource>& source() const noexcept { return source_; }
  [[nodiscard]] const ZipDirectory& directory() const noexcept { return directory_; }
  /// Where the directory's bytes are.
  [[nodiscard]] const Extent& directory_extent() const noexcept { return end_.directory; }
  [[nodiscard]] const ZipEnd& end() const noexcept { return end_; }
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
  /// That of the archive, with the place and the checksum of the member.
  [[nodiscard]] Generation generation(const ZipMember& member) const;

  /// Where a member's data begin, if its local header has been read.
  [[nodiscard]] std::optional<std::uint64_t> data_offset(const ZipMember& member) const noexcept;
  /// How many bytes the local header probably has: what is left between this member and the next one, or the minimum.
  [[nodiscard]] static std::uint64_t likely_header_bytes(const ZipMember& member) noexcept;
  /// Compares a local header with the directory, and returns where the data begin. `bytes` is the beginning of the
  /// header, at least likely_header_bytes(). May read more of the header. `corrupt` if it contradicts the directory.
  Result<std::uint64_t> locate(const ZipMember& member, std::span<const std::byte> bytes);
  /// Reads the local header if that has not been done.
  Result<std::uint64_t> locate(const ZipMember& member);

 private:
  ZipArchive() = default;
  [[nodiscard]] std::atomic<std::uint32_t>& header_bytes(const ZipMember& member) const noexcept {
    return header_bytes_[static_cast<std::size_t>(&member - directory_.members().data())];
  }

  std::shared_ptr<ByteSource> source_;
  std::string generation_;
  ZipEnd end_;
  ZipDirectory directory_;
  Limits limits_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> header_bytes_;  ///< of each member, in its order; 0: unknown
};

}  // namespace sherd
