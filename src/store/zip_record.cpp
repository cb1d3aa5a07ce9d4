// Parses central headers. Each value is checked against the bytes that exist before it is used.
#include "store/zip_record.hpp"

#include "base/endian.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kMaxSize = ~std::uint64_t{0} >> 1;

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Takes 8 bytes from the front of a zip64 field if the value is all ones.
Result<void> extend(std::span<const std::byte>& field, std::uint64_t& value) {
  if (value != kZip64Word) return {};
  if (field.size() < 8) return corrupt("the zip64 field lacks a size or an offset");
  value = load_little<std::uint64_t>(field.data());
  field = field.subspan(8);
  if (value > kMaxSize) return corrupt("a size or an offset of " + std::to_string(value) + " bytes is impossible");
  return {};
}

Result<ZipRecord> parse_record(std::span<const std::byte> from) {
  const auto cut = [] { return corrupt("the directory of the zip archive is cut short"); };
  if (from.size() < kZipCentralBytes) return cut();
  const auto word16 = [&](std::size_t at) { return load_little<std::uint16_t>(from.data() + at); };
  const auto word32 = [&](std::size_t at) { return load_little<std::uint32_t>(from.data() + at); };
  if (word32(0) != kZipCentralSignature) return corrupt("the directory of the zip archive has no record here");
  const std::size_t name_bytes = word16(28), extra_bytes = word16(30), comment_bytes = word16(32);
  const std::size_t size = kZipCentralBytes + name_bytes + extra_bytes + comment_bytes;
  if (from.size() < size) return cut();
  ZipRecord record{.host = std::to_integer<std::uint8_t>(from[5]),
                   .flags = word16(8),
                   .method = word16(10),
                   .crc = word32(16),
                   .attributes = word32(38),
                   .sizes = {.size = word32(24), .stored = word32(20), .header = word32(42)},
                   .name = text_of(from.subspan(kZipCentralBytes, name_bytes)),
                   .extra = from.subspan(kZipCentralBytes + name_bytes, extra_bytes),
                   .bytes = from.first(size)};
  SHERD_TRY(extend_zip_sizes(record.extra, record.sizes).in_key(record.name));
  if ((record.flags & kZipMasked) != 0) return unsupported("the directory of the zip archive is encrypted");
  // With a zip64 field the disk may be there, too; no writer has more than the first disk then.
  if (const auto disk = word16(34); disk != 0 && disk != kZip64Short)
    return unsupported("the archive has several disks; join them first").in_key(record.name);
  return record;
}

}  // namespace

Result<void> for_each_zip_record(std::span<const std::byte> bytes, std::uint64_t count,
                                 const std::function<Result<void>(const ZipRecord& record)>& visit) {
  if (count > bytes.size() / kZipCentralBytes)
    return corrupt("a directory of " + std::to_string(bytes.size()) + " bytes cannot have " + std::to_string(count) +
                   " members");
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    SHERD_TRY(record, parse_record(bytes.subspan(at)).in([&] {
      return "member " + std::to_string(i) + " of " + std::to_string(count);
    }));
    at += record.bytes.size();
    SHERD_TRY(visit(record));
  }
  const auto rest = bytes.subspan(at);
  const bool is_signed = rest.size() >= 6 && load_little<std::uint32_t>(rest.data()) == kZipSignatureSignature &&
                         rest.size() == 6U + load_little<std::uint16_t>(rest.data() + 4);
  if (rest.empty() || is_signed) return {};
  return corrupt("the directory of the zip archive has " + std::to_string(rest.size()) + " bytes after its " +
                 std::to_string(count) + " members");
}

Result<std::optional<std::span<const std::byte>>> find_zip_extra(std::span<const std::byte> extra, std::uint16_t id) {
  std::optional<std::span<const std::byte>> found;
  while (extra.size() >= 4) {  // fewer bytes are padding
    const std::size_t size = load_little<std::uint16_t>(extra.data() + 2);
    if (size > extra.size() - 4) return corrupt("an extra field ends beyond its record");
    if (!found && load_little<std::uint16_t>(extra.data()) == id) found = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
  }
  return found;
}

Result<std::string> zip_extra_without(std::span<const std::byte> extra, std::uint16_t id) {
  std::string others;
  while (extra.size() >= 4) {
    const std::size_t size = 4 + std::size_t{load_little<std::uint16_t>(extra.data() + 2)};
    if (size > extra.size()) return corrupt("an extra field ends beyond its record");
    if (load_little<std::uint16_t>(extra.data()) != id) others += text_of(extra.first(size));
    extra = extra.subspan(size);
  }
  return others;
}

Result<void> extend_zip_sizes(std::span<const std::byte> extra, ZipSizes& sizes) {
  SHERD_TRY(found, find_zip_extra(extra, kZip64Field));
  std::span<const std::byte> field = found.value_or(std::span<const std::byte>());
  SHERD_TRY(extend(field, sizes.size));
  SHERD_TRY(extend(field, sizes.stored));
  return extend(field, sizes.header);
}

}  // namespace sherd
