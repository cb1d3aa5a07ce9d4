// The records of a zip archive's central directory, as bytes (PKWARE APPNOTE 6.3.10, section 4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd {

inline constexpr std::uint32_t kZipLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kZipCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kZipEndSignature = 0x06054b50;
inline constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
inline constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50;
inline constexpr std::uint32_t kZipSignatureSignature = 0x05054b50;  ///< a digital signature after the last member

/// The sizes of the fixed parts.
inline constexpr std::size_t kZipLocalBytes = 30;
inline constexpr std::size_t kZipCentralBytes = 46;
inline constexpr std::size_t kZipEndBytes = 22;
inline constexpr std::size_t kZip64EndBytes = 56;
inline constexpr std::size_t kZip64LocatorBytes = 20;

/// All ones: the value is in the zip64 field.
inline constexpr std::uint16_t kZip64Short = 0xffff;
inline constexpr std::uint32_t kZip64Word = 0xffffffff;

/// Bits of a member's flags.
inline constexpr std::uint16_t kZipEncrypted = 1U << 0;
inline constexpr std::uint16_t kZipDescriptor = 1U << 3;  ///< sizes and checksum follow the data
inline constexpr std::uint16_t kZipStrongEncryption = 1U << 6;
inline constexpr std::uint16_t kZipUtf8 = 1U << 11;
inline constexpr std::uint16_t kZipMasked = 1U << 13;  ///< the directory itself is encrypted

inline constexpr std::uint16_t kZip64Field = 0x0001;  ///< the ID of an extra field

/// Compression methods.
inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflate = 8;
inline constexpr std::uint16_t kZipZstd = 93;
inline constexpr std::uint16_t kZipAes = 99;  ///< encrypted, whatever its flags say

/// The two sizes and the offset that a zip64 field extends to 64 bits.
struct ZipSizes {
  std::uint64_t size = 0, stored = 0, header = 0;
};

/// One member as the central directory describes it, with values of its zip64 field. Views into the directory.
struct ZipRecord {
  std::uint8_t host = 0;  ///< the system whose attributes and names it has; 3: Unix
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t attributes = 0;  ///< external ones
  ZipSizes sizes;                ///< `header` relative to the beginning of the archive
  std::string_view name = {};    ///< as stored
  std::span<const std::byte> extra = {};
  std::span<const std::byte> bytes = {};  ///< the whole record

  [[nodiscard]] bool is_link() const noexcept { return host == 3 && (attributes >> 28) == 0xa; }
};

/// Calls `visit` for each of the `count` records in `bytes`, which must contain nothing else. `corrupt` if they do not;
/// `unsupported` for members on other disks.
Result<void> for_each_zip_record(std::span<const std::byte> bytes, std::uint64_t count,
                                 const std::function<Result<void>(const ZipRecord& record)>& visit);

/// The content of the first extra field with this ID; nullopt if there is none. `corrupt` if a field ends beyond
/// `extra`.
Result<std::optional<std::span<const std::byte>>> find_zip_extra(std::span<const std::byte> extra, std::uint16_t id);

/// All other extra fields.
Result<std::string> zip_extra_without(std::span<const std::byte> extra, std::uint16_t id);

/// Replaces values that are all ones with those of the zip64 field. Those of a local header have no offset.
Result<void> extend_zip_sizes(std::span<const std::byte> extra, ZipSizes& sizes);

/// What a member's name says.
struct ZipKey {
  std::optional<std::string> key = {};  ///< nullopt: not an object, but a directory or a file of Sherd's own
  std::string too_long = {};            ///< not an object either, as no key is so long: the beginning of the name
};
/// `corrupt` if no key can have that name for another reason than its length, as `..` or an absolute one.
Result<ZipKey> zip_key(const ZipRecord& record);

}  // namespace sherd
