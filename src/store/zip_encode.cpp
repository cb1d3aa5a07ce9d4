// Prints records. Equal contents have equal bytes: no time of the clock is stored, and names have the flag for UTF-8
// only if they need it. Fields of 64 bits are used only where 32 are not enough.
#include "store/zip_encode.hpp"

#include <algorithm>
#include <type_traits>

#include "base/try.hpp"
#include "base/utf8.hpp"

namespace sherd {
namespace {

constexpr std::uint16_t kVersion = 20, kVersion64 = 45;
constexpr std::uint16_t kMadeOnUnix = 3U << 8 | 30U;
constexpr std::uint32_t kTime = 1U << 21 | 1U << 16;                  ///< 1980-01-01, 0:00
constexpr std::uint32_t kRegularFile = std::uint32_t{0100644} << 16;  ///< with mode 0644

template <class T>
void put(std::string& to, std::type_identity_t<T> value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to += static_cast<char>(value >> 8 * i);
}

constexpr std::uint32_t narrowed(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kZip64Word));
}
constexpr bool is_wide(std::uint64_t value) noexcept { return value >= kZip64Word; }

std::uint16_t flags_of(std::string_view key) {
  return std::ranges::all_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x80; }) ? std::uint16_t{0}
                                                                                               : kZipUtf8;
}

/// The zip64 field with those of the values that need it; empty if none does.
std::string zip64_field(std::initializer_list<std::uint64_t> values) {
  std::string wide;
  for (const std::uint64_t value : values)
    if (is_wide(value)) put<std::uint64_t>(wide, value);
  if (wide.empty()) return wide;
  std::string field;
  put<std::uint16_t>(field, kZip64Field);
  put<std::uint16_t>(field, static_cast<std::uint16_t>(wide.size()));
  return field + wide;
}

/// The field that is registered for room that an archive can grow into (APPNOTE 4.6.10).
std::string padding_field(std::uint64_t bytes) {
  constexpr std::uint16_t kGrowthHint = 0xa220, kSignature = 0xa028;
  if (bytes < kMinZipPadding) return {};
  std::string field;
  put<std::uint16_t>(field, kGrowthHint);
  put<std::uint16_t>(field, static_cast<std::uint16_t>(bytes - 4));
  put<std::uint16_t>(field, kSignature);
  put<std::uint16_t>(field, static_cast<std::uint16_t>(bytes - kMinZipPadding));
  field.resize(static_cast<std::size_t>(bytes));
  return field;
}

/// What local headers and records have in common, from the flags to the sizes.
void put_description(const ZipStored& member, std::string& to) {
  put<std::uint16_t>(to, flags_of(member.key));
  put<std::uint16_t>(to, kZipStored);
  put<std::uint32_t>(to, kTime);
  put<std::uint32_t>(to, member.crc);
  put<std::uint32_t>(to, narrowed(member.size));
  put<std::uint32_t>(to, narrowed(member.size));
  put<std::uint16_t>(to, static_cast<std::uint16_t>(member.key.size()));
}

}  // namespace

Result<void> check_zip_key(std::string_view key) {
  if (is_utf8(key)) return {};
  return invalid_argument("a key in a zip archive must be UTF-8").in_key(key);
}

std::uint64_t zip_header_bytes(std::string_view key, std::uint64_t size) noexcept {
  return kZipLocalBytes + key.size() + (is_wide(size) ? 20 : 0);
}

std::string zip_local_header(const ZipStored& member) {
  const std::string field = zip64_field({member.size, member.size}) + padding_field(member.padding);
  std::string header;
  put<std::uint32_t>(header, kZipLocalSignature);
  put<std::uint16_t>(header, is_wide(member.size) ? kVersion64 : kVersion);
  put_description(member, header);
  put<std::uint16_t>(header, static_cast<std::uint16_t>(field.size()));
  return header.append(member.key).append(field);
}

void append_zip_record(const ZipStored& member, std::string& directory) {
  const std::string field = zip64_field({member.size, member.size, member.header});
  put<std::uint32_t>(directory, kZipCentralSignature);
  put<std::uint16_t>(directory, kMadeOnUnix);
  put<std::uint16_t>(directory, field.empty() ? kVersion : kVersion64);
  put_description(member, directory);
  put<std::uint16_t>(directory, static_cast<std::uint16_t>(field.size()));
  put<std::uint16_t>(directory, 0);  // comment
  put<std::uint16_t>(directory, 0);  // disk
  put<std::uint16_t>(directory, 0);  // internal attributes
  put<std::uint32_t>(directory, kRegularFile);
  put<std::uint32_t>(directory, narrowed(member.header));
  directory.append(member.key).append(field);
}

Result<void> append_zip_record(const ZipRecord& record, std::uint64_t header, std::string& directory) {
  const std::string_view bytes(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
  const std::string_view comment = bytes.substr(kZipCentralBytes + record.name.size() + record.extra.size());
  SHERD_TRY(others, zip_extra_without(record.extra, kZip64Field));
  const std::string extra = zip64_field({record.sizes.size, record.sizes.stored, header}) + others;
  if (extra.size() > 0xffff)
    return unsupported("the extra fields of the zip archive's member are too long to be moved").in_key(record.name);
  directory.append(bytes.substr(0, 20));
  put<std::uint32_t>(directory, narrowed(record.sizes.stored));
  put<std::uint32_t>(directory, narrowed(record.sizes.size));
  directory.append(bytes.substr(28, 2));
  put<std::uint16_t>(directory, static_cast<std::uint16_t>(extra.size()));
  directory.append(bytes.substr(32, 2));
  put<std::uint16_t>(directory, 0);  // disk
  directory.append(bytes.substr(36, 6));
  put<std::uint32_t>(directory, narrowed(header));
  directory.append(record.name).append(extra).append(comment);
  return {};
}

void append_zip_end(const ZipEnding& end, std::string& directory) {
  const std::uint64_t size = directory.size();
  if (end.count >= kZip64Short || is_wide(end.offset) || is_wide(size)) {
    put<std::uint32_t>(directory, kZip64EndSignature);
    put<std::uint64_t>(directory, kZip64EndBytes - 12);
    put<std::uint16_t>(directory, kMadeOnUnix);
    put<std::uint16_t>(directory, kVersion64);
    put<std::uint64_t>(directory, 0);  // disks
    for (const std::uint64_t value : {end.count, end.count, size, end.offset}) put<std::uint64_t>(directory, value);
    put<std::uint32_t>(directory, kZip64LocatorSignature);
    put<std::uint32_t>(directory, 0);
    put<std::uint64_t>(directory, end.offset + size);
    put<std::uint32_t>(directory, 1);
  }
  put<std::uint32_t>(directory, kZipEndSignature);
  put<std::uint32_t>(directory, 0);  // disks
  const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(end.count, kZip64Short));
  for (int i = 0; i < 2; ++i) put<std::uint16_t>(directory, count);
  put<std::uint32_t>(directory, narrowed(size));
  put<std::uint32_t>(directory, narrowed(end.offset));
  put<std::uint16_t>(directory, static_cast<std::uint16_t>(end.comment.size()));
  directory.append(end.comment);
}

}  // namespace sherd
