// The members of a zip archive by key, in 48 bytes each and their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/result.hpp"
#include "store/zip_end.hpp"

namespace sherd {

/// A member. What it says has been compared with the whole archive: it lies before the directory and overlaps no other.
struct ZipMember {
  enum Flags : std::uint8_t { encrypted = 1, descriptor = 2, link = 4 };

  std::uint64_t header = 0;  ///< where its local header is in the object
  std::uint64_t stored = 0;  ///< in the archive, in bytes
  std::uint64_t size = 0;    ///< decoded
  std::uint32_t name_at = 0;
  std::uint32_t crc = 0;
  std::uint32_t name_crc = 0;     ///< of the name as stored in the archive
  std::uint32_t room = 0;         ///< for the local header and what follows the data; all ones: that or more
  std::uint16_t name_length = 0;  ///< of the key
  std::uint16_t stored_name_length = 0;
  std::uint16_t method = 0;
  std::uint8_t flags = 0;
};

class ZipDirectory {
 public:
  ZipDirectory() = default;
  /// `bytes` is the directory that `end` describes. `corrupt` or `unsupported`, naming the member, if the archive
  /// contradicts itself: overlapping members, impossible sizes, names that no key can have.
  static Result<ZipDirectory> parse(std::span<const std::byte> bytes, const ZipEnd& end);

  /// The objects, sorted by key; of those with the same name the last one. Without those whose names are too long.
  [[nodiscard]] std::span<const ZipMember> members() const noexcept { return members_; }
  [[nodiscard]] std::string_view key(const ZipMember& member) const noexcept {
    return std::string_view(names_).substr(member.name_at, member.name_length);
  }
  /// The first object whose key is not less than `key`: an index of members().
  [[nodiscard]] std::size_t lower_bound(std::string_view key) const noexcept;
  /// nullptr if there is none.
  [[nodiscard]] const ZipMember* find(std::string_view key) const noexcept;
  /// A key that several members have, and the number of those that are superseded; 0 if there is none.
  [[nodiscard]] std::uint64_t duplicates() const noexcept { return duplicates_; }
  [[nodiscard]] const std::string& duplicate() const noexcept { return duplicate_; }
  /// The members whose names are longer than keys may be, and the beginning of one of these names.
  [[nodiscard]] std::uint64_t too_long() const noexcept { return too_long_; }
  [[nodiscard]] const std::string& long_name() const noexcept { return long_name_; }
  [[nodiscard]] const std::string& comment() const noexcept { return comment_; }

 private:
  Result<void> place(const ZipEnd& end);
  void sort();

  std::vector<ZipMember> members_;
  std::string names_;
  std::uint64_t duplicates_ = 0, too_long_ = 0;
  std::string duplicate_, long_name_;
  std::string comment_;
};

}  // namespace sherd
