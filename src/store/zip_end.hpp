// The records at the end of a zip archive, which say where its central directory is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "store/extent.hpp"

namespace sherd {

struct ZipEnd {
  Extent directory;         ///< in the object
  std::uint64_t shift = 0;  ///< the bytes before the archive, such as a program that extracts it
  std::uint64_t count = 0;  ///< of members
  std::string comment = {};
};

/// The number of bytes at the end of an archive that contain all records after the directory: the longest comment, and
/// a zip64 record with room for its extensible data.
inline constexpr std::size_t kZipTailBytes = std::size_t{66} << 10;

/// Finds the end record in the last bytes of an object: all of them, or kZipTailBytes. `corrupt` if there is none, or
/// if two records fit; `unsupported` for archives on several disks, and for directories larger than
/// Limits::metadata_bytes.
Result<ZipEnd> find_zip_end(std::span<const std::byte> tail, std::uint64_t object_size, const Limits& limits);

}  // namespace sherd
