// Checks the members against each other and sorts them. Members that are not objects are checked, too, and then
// forgotten.
#include "store/zip_directory.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "store/zip_record.hpp"

namespace sherd {
namespace {

/// The bytes of a member that are certainly in front of its data.
std::uint64_t least_room(const ZipMember& member) noexcept { return kZipLocalBytes + member.stored_name_length; }

Result<ZipMember> member_of(const ZipRecord& record, const ZipEnd& end) {
  const auto& sizes = record.sizes;
  if (sizes.header > end.directory.offset - end.shift)
    return corrupt("the member is at " + std::to_string(sizes.header) + ", beyond the zip archive's directory");
  if (sizes.stored > end.directory.offset - end.shift - sizes.header)
    return corrupt("the member of " + std::to_string(sizes.stored) + " bytes ends beyond the zip archive's directory");
  const bool is_encrypted = (record.flags & (kZipEncrypted | kZipStrongEncryption)) != 0 || record.method == kZipAes;
  if (record.method == kZipStored && !is_encrypted && sizes.stored != sizes.size)
    return corrupt("the member is stored in " + std::to_string(sizes.stored) + " bytes, but has " +
                   std::to_string(sizes.size));
  return ZipMember{
      .header = sizes.header + end.shift,
      .stored = sizes.stored,
      .size = sizes.size,
      .crc = record.crc,
      .name_crc = crc32(as_bytes(record.name)),
      .stored_name_length = static_cast<std::uint16_t>(record.name.size()),
      .method = record.method,
      .flags = static_cast<std::uint8_t>((is_encrypted ? ZipMember::encrypted : 0) |
                                         ((record.flags & kZipDescriptor) != 0 ? ZipMember::descriptor : 0) |
                                         (record.is_link() ? ZipMember::link : 0))};
}

}  // namespace

Result<ZipDirectory> ZipDirectory::parse(std::span<const std::byte> bytes, const ZipEnd& end) {
  ZipDirectory directory;
  directory.comment_ = end.comment;
  try {
    const auto add = [&](const ZipRecord& record) -> Result<void> {
      SHERD_TRY(name, zip_key(record));
      const auto& key = name.key;
      if (!name.too_long.empty() && directory.too_long_++ == 0) directory.long_name_ = name.too_long;
      SHERD_TRY(member, member_of(record, end).in_key(record.name));
      if (directory.names_.size() > std::numeric_limits<std::uint32_t>::max() - record.bytes.size() * 3)
        return unsupported("the names in the zip archive are longer than 4 GiB");
      member.name_at = static_cast<std::uint32_t>(directory.names_.size());
      member.name_length = key ? static_cast<std::uint16_t>(key->size()) : 0;  // at most kMaxKeyBytes
      if (key) directory.names_ += *key;
      directory.members_.push_back(member);
      return {};
    };
    if (end.count <= bytes.size() / kZipCentralBytes) directory.members_.reserve(static_cast<std::size_t>(end.count));
    SHERD_TRY(for_each_zip_record(bytes, end.count, add));
    SHERD_TRY(directory.place(end));
    directory.sort();
    directory.names_.shrink_to_fit();
  } catch (const std::bad_alloc&) {
    return unavailable("no memory for a zip archive of " + std::to_string(end.count) + " members");
  }
  return directory;
}

/// Finds how much room each member has until the next one, in the order in which they lie in the archive.
Result<void> ZipDirectory::place(const ZipEnd& end) {
  std::vector<const ZipMember*> by_offset;
  by_offset.reserve(members_.size());
  for (const ZipMember& member : members_) by_offset.push_back(&member);
  const auto header = [](const ZipMember* member) { return member->header; };
  if (!std::ranges::is_sorted(by_offset, {}, header)) std::ranges::stable_sort(by_offset, {}, header);
  for (std::size_t i = 0; i < by_offset.size(); ++i) {
    ZipMember& member = members_[static_cast<std::size_t>(by_offset[i] - members_.data())];
    const bool is_last = i + 1 == by_offset.size();
    const std::uint64_t next = is_last ? end.directory.offset : by_offset[i + 1]->header;
    const std::uint64_t room = next - member.header;
    if (room < least_room(member) || member.stored > room - least_room(member)) {
      const std::string other = is_last ? "its directory" : "'" + std::string(key(*by_offset[i + 1])) + "'";
      return corrupt("the member overlaps " + other + " in the zip archive").in_key(key(member));
    }
    member.room = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(room - member.stored, std::numeric_limits<std::uint32_t>::max()));
  }
  return {};
}

/// Sorts by key, and keeps the last of the members with the same key.
void ZipDirectory::sort() {
  std::erase_if(members_, [](const ZipMember& member) { return member.name_length == 0; });
  const auto key_of = [this](const ZipMember& member) { return key(member); };
  if (!std::ranges::is_sorted(members_, {}, key_of)) std::ranges::stable_sort(members_, {}, key_of);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i + 1 < members_.size() && key(members_[i]) == key(members_[i + 1])) {
      if (duplicates_++ == 0) duplicate_ = key(members_[i]);
    } else {
      members_[kept++] = members_[i];
    }
  }
  members_.resize(kept);
}

std::size_t ZipDirectory::lower_bound(std::string_view wanted) const noexcept {
  const auto at =
      std::ranges::lower_bound(members_, wanted, {}, [this](const ZipMember& member) { return key(member); });
  return static_cast<std::size_t>(at - members_.begin());
}

const ZipMember* ZipDirectory::find(std::string_view wanted) const noexcept {
  const std::size_t at = lower_bound(wanted);
  return at < members_.size() && key(members_[at]) == wanted ? &members_[at] : nullptr;
}

}  // namespace sherd
