// The bytes of a zip archive that are not its members': local headers, directory records, and the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sherd/result.hpp"
#include "store/zip_record.hpp"

namespace sherd {

/// The sizes of such a field. The longest one is the only one.
inline constexpr std::uint64_t kMinZipPadding = 8, kMaxZipPadding = 0xffff;

/// A member that is stored as it is.
struct ZipStored {
  std::string_view key;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::uint64_t header = 0;   ///< where its local header is
  std::uint64_t padding = 0;  ///< between the local header and the data, in a field of its own; may be 0
};

/// `invalid_argument` if no member can have this key: it is not UTF-8.
Result<void> check_zip_key(std::string_view key);

/// The size of the local header of a member.
[[nodiscard]] std::uint64_t zip_header_bytes(std::string_view key, std::uint64_t size) noexcept;
[[nodiscard]] std::string zip_local_header(const ZipStored& member);
void append_zip_record(const ZipStored& member, std::string& directory);
/// Appends the record of a member whose local header has moved.
Result<void> append_zip_record(const ZipRecord& record, std::uint64_t header, std::string& directory);

struct ZipEnding {
  std::uint64_t count = 0;   ///< of members
  std::uint64_t offset = 0;  ///< of the directory
  std::string_view comment = {};
};
/// Appends the end records to a whole directory.
void append_zip_end(const ZipEnding& end, std::string& directory);

}  // namespace sherd
