// Reads and decodes members.
#include "store/zip_source.hpp"

#include <cstring>
#include <vector>

#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "store/key.hpp"
#include "store/read_into.hpp"
#include "store/reply.hpp"
#include "store/zip_record.hpp"

namespace sherd {

extern const CodecEntry zstd_codec;

namespace {

/// A match of 258 bytes takes two bits at least, in deflate; zstd repeats a byte 128 KiB times in 4 bytes.
std::uint64_t max_ratio(std::uint16_t method) noexcept { return method == kZipDeflate ? 1032 : 32768; }

Result<void> check_readable(const ZipMember& member, const Limits& limits) {
  if ((member.flags & ZipMember::encrypted) != 0) return unsupported("the member of the zip archive is encrypted");
  if ((member.flags & ZipMember::link) != 0)
    return unsupported("the member of the zip archive is a symbolic link, which is never followed");
  if (member.method == kZipStored) return {};
  if (member.method != kZipDeflate && member.method != kZipZstd)
    return unsupported("the member is compressed by method " + std::to_string(member.method) +
                       " of zip; stored, deflate (8) and zstd (93) members can be read");
  if (member.size > limits.chunk_bytes || member.stored > limits.chunk_bytes)
    return unsupported("the compressed member has " + std::to_string(member.size) + " bytes, in " +
                       std::to_string(member.stored) + "; the limit chunk_bytes is " +
                       std::to_string(limits.chunk_bytes));
  if (member.size / max_ratio(member.method) > member.stored)
    return corrupt("the member's " + std::to_string(member.stored) + " stored bytes cannot contain " +
                   std::to_string(member.size));
  return {};
}

Result<std::optional<std::size_t>> decode_by(std::uint16_t method, std::span<const std::byte> from,
                                             std::span<std::byte> to) {
  if (method == kZipDeflate) return decode_raw_deflate(from, to);
  SHERD_TRY(codec, zstd_codec.bytes_codec({.name = "zstd", .configuration = {}}, {}));
  return codec->decode(from, to);
}

}  // namespace

Error wrong_checksum(const std::string& key) {
  return corrupt("the checksum of the zip archive's member is wrong").in_key(key);
}

Result<void> ZipStoredSource::read(std::span<const RangeRead> ranges) {
  const auto known = archive_->data_offset(member_);
  const std::uint64_t header_bytes = ZipArchive::likely_header_bytes(member_);
  const std::uint64_t data = known.value_or(member_.header + header_bytes);
  Scratch header;
  std::vector<RangeRead> reads;
  reads.reserve(ranges.size() + 1);
  bool reads_data = false;
  for (const RangeRead& range : ranges) {
    SHERD_TRY(check_range(range.offset, range.into.size(), member_.size).in_key(key_));
    reads_data = reads_data || !range.into.empty();
    reads.push_back({data + range.offset, range.into});
  }
  if (!reads_data) return {};
  const auto compare = [&]() -> Result<void> {
    for (const RangeRead& range : ranges) SHERD_TRY(has_read(range.offset, range.into));
    return {};
  };
  if (known) {
    SHERD_TRY(archive_->source()->read(reads));
    return compare();
  }
  SHERD_TRY(header->resize(header_bytes).in_key(key_));
  reads.push_back({member_.header, header->span()});
  SHERD_TRY(archive_->source()->read(reads));
  SHERD_TRY(located, archive_->locate(member_, header->span()).in_key(key_));
  return located == data ? compare() : read(ranges);
}

Result<void> ZipStoredSource::has_read(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard hold(mutex_);
  if (bytes.empty() || (offset != 0 && offset != read_to_)) return {};
  crc_ = crc32_after(offset == 0 ? 0 : crc_, bytes);
  read_to_ = offset + bytes.size();
  return read_to_ == member_.size && crc_ != member_.crc ? Result<void>(wrong_checksum(key_)) : Result<void>();
}

Result<void> ZipDecodedSource::read(std::span<const RangeRead> ranges) {
  for (const auto& [offset, into] : ranges) SHERD_TRY(check_range(offset, into.size(), member_.size).in_key(key_));
  if (!is_decoded_) SHERD_TRY(read_and_decode());
  for (const auto& [offset, into] : ranges)
    if (!into.empty()) std::memcpy(into.data(), decoded_.data() + offset, into.size());
  return {};
}

std::optional<std::span<const std::byte>> ZipDecodedSource::view() const noexcept {
  return is_decoded_ ? std::optional(decoded_.span()) : std::nullopt;
}

Result<void> ZipDecodedSource::read_and_decode() {
  SHERD_TRY(data, archive_->locate(member_).in_key(key_));
  if (const auto whole = archive_->source()->view()) return decode(whole->subspan(data, member_.stored));
  Scratch stored;
  SHERD_TRY(read_into(*archive_->source(), {data, member_.stored}, *stored));
  return decode(stored->span());
}

Result<void> ZipDecodedSource::decode(std::span<const std::byte> stored) {
  const std::lock_guard hold(mutex_);
  if (is_decoded_) return {};
  Buffer decoded;
  SHERD_TRY(decoded.resize(static_cast<std::size_t>(member_.size)).in_key(key_));
  SHERD_TRY(size, decode_by(member_.method, stored, decoded.span()).in_key(key_));
  if (!size || *size != member_.size)
    return corrupt("the member does not decode to the " + std::to_string(member_.size) +
                   " bytes that the zip archive says")
        .in_key(key_);
  if (crc32(decoded.span()) != member_.crc) return wrong_checksum(key_);
  decoded_ = std::move(decoded);
  is_decoded_ = true;
  return {};
}

Result<void> check_zip_members(ZipArchive& archive) {
  for (const ZipMember& member : archive.directory().members()) {
    const std::string_view key = archive.directory().key(member);
    SHERD_TRY(check_interrupted());
    SHERD_TRY(check_readable(member, archive.limits()).in_key(key));
    SHERD_TRY(archive.locate(member).in_key(key));
  }
  return {};
}

Result<std::shared_ptr<ByteSource>> open_zip_member(const std::shared_ptr<ZipArchive>& archive,
                                                    const std::string& key) {
  SHERD_TRY(check_key(key));
  const ZipMember* const member = archive->directory().find(key);
  if (member == nullptr) return std::shared_ptr<ByteSource>();
  SHERD_TRY(check_readable(*member, archive->limits()).in_key(key));
  if (member->method != kZipStored) return std::make_shared<ZipDecodedSource>(key, archive, *member);
  return std::make_shared<ZipStoredSource>(key, archive, *member);
}

}  // namespace sherd
