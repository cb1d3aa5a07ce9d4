// An end record fits if its comment ends the object and its directory lies right before it. A comment may contain what
// looks like one. If that fits, too, programs disagree about which is meant, so neither is used.
#include "store/zip_end.hpp"

#include <algorithm>
#include <optional>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "store/zip_record.hpp"

namespace sherd {
namespace {

constexpr std::size_t kMaxComment = 0xffff;

/// Reads words of the tail of an object.
struct Tail {
  std::span<const std::byte> bytes;
  std::uint64_t begin = 0;  ///< in the object

  template <class T>
  [[nodiscard]] T word(std::size_t at) const noexcept {
    return load_little<T>(bytes.data() + at);
  }
  [[nodiscard]] bool has(std::uint32_t signature, std::size_t at, std::size_t size) const noexcept {
    return at <= bytes.size() && size <= bytes.size() - at && word<std::uint32_t>(at) == signature;
  }
};

/// What an end record or a zip64 one says.
struct Where {
  std::uint64_t count = 0, count_here = 0, size = 0, offset = 0;
  std::uint32_t disk = 0, directory_disk = 0;
};

Where read_where(const Tail& tail, std::size_t at) {
  return {.count = tail.word<std::uint16_t>(at + 10),
          .count_here = tail.word<std::uint16_t>(at + 8),
          .size = tail.word<std::uint32_t>(at + 12),
          .offset = tail.word<std::uint32_t>(at + 16),
          .disk = tail.word<std::uint16_t>(at + 4),
          .directory_disk = tail.word<std::uint16_t>(at + 6)};
}

Where read_where64(const Tail& tail, std::size_t at) {
  return {.count = tail.word<std::uint64_t>(at + 32),
          .count_here = tail.word<std::uint64_t>(at + 24),
          .size = tail.word<std::uint64_t>(at + 40),
          .offset = tail.word<std::uint64_t>(at + 48),
          .disk = tail.word<std::uint32_t>(at + 16),
          .directory_disk = tail.word<std::uint32_t>(at + 20)};
}

/// Whether a value of the end record is the same in the zip64 record, or left to that.
template <class T>
bool agrees(std::uint64_t value, std::uint64_t value64, T left_out) noexcept {
  return value == value64 || value == left_out;
}

bool agree(const Where& end, const Where& end64) noexcept {
  return agrees(end.count, end64.count, kZip64Short) && agrees(end.count_here, end64.count_here, kZip64Short) &&
         agrees(end.size, end64.size, kZip64Word) && agrees(end.offset, end64.offset, kZip64Word) &&
         agrees(end.disk, end64.disk, kZip64Short) && agrees(end.directory_disk, end64.directory_disk, kZip64Short);
}

/// Where the zip64 record is to which the locator at `at` refers: right before it or, if it has extensible data, where
/// the locator says.
Result<std::size_t> find_end64(const Tail& tail, std::size_t at) {
  const auto ends_here = [&](std::size_t from) {
    return from < at && tail.has(kZip64EndSignature, from, kZip64EndBytes) &&
           tail.word<std::uint64_t>(from + 4) == at - from - 12;
  };
  if (at >= kZip64EndBytes && ends_here(at - kZip64EndBytes)) return at - kZip64EndBytes;
  const auto offset = tail.word<std::uint64_t>(at + 8);
  if (offset >= tail.begin && offset - tail.begin < at && ends_here(offset - tail.begin)) return offset - tail.begin;
  return corrupt("the zip64 end record is not where the zip archive says");
}

/// Reads the end record at `at`.
Result<ZipEnd> read_end(const Tail& tail, std::size_t at) {
  Where where = read_where(tail, at);
  std::size_t directory_end = at;
  const bool has64 =
      at >= kZip64LocatorBytes && tail.has(kZip64LocatorSignature, at - kZip64LocatorBytes, kZip64LocatorBytes);
  if (has64) {
    const std::size_t locator = at - kZip64LocatorBytes;
    SHERD_TRY(at64, find_end64(tail, locator));
    const Where where64 = read_where64(tail, at64);
    if (!agree(where, where64)) return corrupt("the two end records of the zip archive contradict each other");
    where = where64;
    directory_end = at64;
  }
  if (where.disk != 0 || where.directory_disk != 0 || where.count_here != where.count)
    return unsupported("the zip archive has several disks; join them first");
  const std::uint64_t end = tail.begin + directory_end;
  if (where.size > end || where.offset > end - where.size)
    return corrupt("the directory of the zip archive, " + std::to_string(where.size) + " bytes at " +
                   std::to_string(where.offset) + ", does not lie before its end record at " + std::to_string(end) +
                   ": bytes are missing, or sizes are wrong");
  ZipEnd found{
      .directory = {end - where.size, where.size}, .shift = end - where.size - where.offset, .count = where.count};
  if (has64 && tail.word<std::uint64_t>(at - kZip64LocatorBytes + 8) + found.shift != end)
    return corrupt("the zip64 end record is not where the zip archive says");
  const auto comment = tail.bytes.subspan(at + kZipEndBytes);
  found.comment.assign(reinterpret_cast<const char*>(comment.data()), comment.size());
  return found;
}

}  // namespace

Result<ZipEnd> find_zip_end(std::span<const std::byte> bytes, std::uint64_t object_size, const Limits& limits) {
  if (object_size == 0)
    return corrupt("the file is empty, not a zip archive; remove it, and a new archive can be made");
  const Tail tail{bytes, object_size - bytes.size()};
  std::optional<ZipEnd> found;
  std::optional<Error> fault;
  const std::size_t deepest = std::min(bytes.size(), kZipEndBytes + kMaxComment);
  for (std::size_t depth = kZipEndBytes; depth <= deepest; ++depth) {
    const std::size_t at = bytes.size() - depth;
    if (!tail.has(kZipEndSignature, at, kZipEndBytes)) continue;
    if (tail.word<std::uint16_t>(at + 20) != depth - kZipEndBytes) continue;
    auto end = read_end(tail, at);
    if (end && found)
      return corrupt("the comment of the zip archive contains another end record: which one is meant is unclear");
    if (end)
      found = *std::move(end);
    else if (!fault)
      fault = end.error();
  }
  if (!found && fault) return *std::move(fault);
  if (!found) return corrupt("no end record: not a zip archive, or one that was cut short or never finished");
  if (found->directory.length > limits.metadata_bytes)
    return unsupported("the directory of the zip archive has " + std::to_string(found->directory.length) +
                       " bytes; the limit metadata_bytes is " + std::to_string(limits.metadata_bytes));
  return *std::move(found);
}

}  // namespace sherd
