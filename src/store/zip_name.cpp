// The names of members. A name is in UTF-8 if its flag or an extra field says so; otherwise, since Unix programs also
// store UTF-8 without the flag, if it is valid UTF-8; and otherwise in the code page of the IBM PC. As in Info-ZIP, a
// backslash separates directories only in names from systems that use it so.
#include <algorithm>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "store/key.hpp"
#include "store/zip_record.hpp"

namespace sherd {
namespace {

constexpr std::uint16_t kUnicodePath = 0x7075;
constexpr std::uint8_t kFat = 0, kNtfs = 10, kVfat = 14;

/// Code page 437 from 0x80.
constexpr char16_t kCp437[128] = {
    0xc7,   0xfc,   0xe9,   0xe2,   0xe4,   0xe0,   0xe5,   0xe7,   0xea,   0xeb,   0xe8,   0xef,   0xee,
    0xec,   0xc4,   0xc5,   0xc9,   0xe6,   0xc6,   0xf4,   0xf6,   0xf2,   0xfb,   0xf9,   0xff,   0xd6,
    0xdc,   0xa2,   0xa3,   0xa5,   0x20a7, 0x192,  0xe1,   0xed,   0xf3,   0xfa,   0xf1,   0xd1,   0xaa,
    0xba,   0xbf,   0x2310, 0xac,   0xbd,   0xbc,   0xa1,   0xab,   0xbb,   0x2591, 0x2592, 0x2593, 0x2502,
    0x2524, 0x2561, 0x2562, 0x2556, 0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510, 0x2514,
    0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f, 0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550,
    0x256c, 0x2567, 0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b, 0x256a, 0x2518, 0x250c,
    0x2588, 0x2584, 0x258c, 0x2590, 0x2580, 0x3b1,  0xdf,   0x393,  0x3c0,  0x3a3,  0x3c3,  0xb5,   0x3c4,
    0x3a6,  0x398,  0x3a9,  0x3b4,  0x221e, 0x3c6,  0x3b5,  0x2229, 0x2261, 0xb1,   0x2265, 0x2264, 0x2320,
    0x2321, 0xf7,   0x2248, 0xb0,   0x2219, 0xb7,   0x221a, 0x207f, 0xb2,   0x25a0, 0xa0};

std::string from_cp437(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    append_utf8(byte < 0x80 ? byte : kCp437[byte - 0x80], text);
  }
  return text;
}

/// The name in Info-ZIP's extra field, unless another program has changed the name since.
Result<std::optional<std::string>> unicode_path(const ZipRecord& record) {
  SHERD_TRY(field, find_zip_extra(record.extra, kUnicodePath));
  if (!field || field->size() < 5 || (*field)[0] != std::byte{1}) return std::optional<std::string>();
  if (load_little<std::uint32_t>(field->data() + 1) != crc32(as_bytes(record.name)))
    return std::optional<std::string>();
  const auto path = field->subspan(5);
  return std::optional(std::string(reinterpret_cast<const char*>(path.data()), path.size()));
}

Result<std::string> decoded_name(const ZipRecord& record) {
  const bool is_flagged = (record.flags & kZipUtf8) != 0;
  if (is_flagged && !is_utf8(record.name)) return corrupt("the name of the member is not UTF-8, as its flag says");
  if (is_flagged) return std::string(record.name);
  SHERD_TRY(path, unicode_path(record));
  if (path && is_utf8(*path)) return *std::move(path);
  return is_utf8(record.name) ? std::string(record.name) : from_cp437(record.name);
}

bool has_backslashes(std::uint8_t host) noexcept { return host == kFat || host == kNtfs || host == kVfat; }

Error unsafe(std::string_view reason) {
  return corrupt("the zip archive has a member whose name no key can have: " + std::string(reason));
}

/// Whether a key is longer than keys may be. All else is checked.
Result<bool> is_too_long(std::string_view key) {
  bool is_long = key.size() > kMaxKeyBytes;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view segment = key.substr(begin, end - begin);
    is_long = is_long || segment.size() > kMaxSegmentBytes;
    SHERD_TRY(check_key(segment.substr(0, kMaxSegmentBytes)));
    begin = end + 1;
  }
  return is_long;
}

/// As much as is shown of a name, without a part of a character.
std::string beginning_of(std::string_view name) {
  constexpr std::size_t kShown = 100;
  std::size_t end = std::min(name.size(), kShown);
  while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return std::string(name.substr(0, end));
}

}  // namespace

Result<ZipKey> zip_key(const ZipRecord& record) {
  SHERD_TRY(name, decoded_name(record).in_key(record.name));
  if (has_backslashes(record.host)) {
    std::ranges::replace(name, '\\', '/');
    if (name.size() > 1 && name[1] == ':') return unsafe("it begins with a drive").in_key(name);
  }
  std::string_view key = name;
  while (key.starts_with("./")) key.remove_prefix(2);  // as in archives by bsdtar
  const bool is_root = key.empty() && !name.empty();
  const bool is_directory = is_root || key.ends_with('/');
  if (is_root || is_side_file(split_key(key).name)) return ZipKey{};
  if (is_directory) key.remove_suffix(1);
  const auto is_long = is_too_long(key);
  if (!is_long.has_value()) return unsafe(is_long.error().message()).in_key(name);
  if (is_directory) return ZipKey{};
  return *is_long ? ZipKey{.too_long = beginning_of(key)} : ZipKey{.key = std::string(key)};
}

}  // namespace sherd
