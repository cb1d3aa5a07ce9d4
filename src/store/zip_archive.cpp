// The local header in front of a member's data says again what the directory says. Programs that read an archive from
// its beginning use it, others use the directory; so both must say the same.
#include "store/zip_archive.hpp"

#include <algorithm>
#include <new>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "store/read_into.hpp"
#include "store/reply.hpp"
#include "store/zip_record.hpp"
#include "store/zip_remains.hpp"

namespace sherd {
namespace {

/// Extra fields in front of a member's data are rarely longer.
constexpr std::uint64_t kLikelyExtraBytes = 4096;

Error contradiction(std::string_view what) {
  return corrupt("the " + std::string(what) + " in the member's local header contradicts the zip archive's directory");
}

/// Whether a value of a local header is the directory's. Those of members written to a pipe may be left out.
template <class T>
bool is_same(T local, T value, bool may_be_absent) noexcept {
  return local == value || (may_be_absent && local == 0);
}

/// `local` is the whole local header.
Result<void> check_local(const ZipMember& member, std::span<const std::byte> local) {
  const auto word16 = [&](std::size_t at) { return load_little<std::uint16_t>(local.data() + at); };
  const auto word32 = [&](std::size_t at) { return load_little<std::uint32_t>(local.data() + at); };
  const std::size_t name_bytes = word16(26);
  const std::uint16_t flags = word16(6);
  if (name_bytes != member.stored_name_length || crc32(local.subspan(kZipLocalBytes, name_bytes)) != member.name_crc)
    return contradiction("name");
  if (word16(8) != member.method) return contradiction("compression method");
  if (((flags & kZipEncrypted) != 0) != ((member.flags & ZipMember::encrypted) != 0))
    return contradiction("encryption");
  const bool later = (flags & kZipDescriptor) != 0;
  if (!is_same(word32(14), member.crc, later)) return contradiction("checksum");
  ZipSizes sizes{.size = word32(22), .stored = word32(18)};
  if (later && (sizes.size == kZip64Word || sizes.stored == kZip64Word)) return {};
  SHERD_TRY(extend_zip_sizes(local.subspan(kZipLocalBytes + name_bytes), sizes));
  if (!is_same(sizes.size, member.size, later) || !is_same(sizes.stored, member.stored, later))
    return contradiction("size");
  return {};
}

Result<ReadReply> read_directory(Store& outer, const ReadReply& tail, const Extent& directory) {
  if (directory.offset >= tail.offset) {
    return ReadReply{.source = tail.source,
                     .offset = directory.offset,
                     .bytes = tail.bytes.subspan(directory.offset - tail.offset, directory.length),
                     .owner = tail.owner};
  }
  return read_one(outer, {.of = tail.source, .offset = directory.offset, .length = directory.length});
}

/// An error of the directory, with what survives.
Error with_remains(const Error& error, const Store& outer, ByteSource& archive) {
  if (error.code() != ErrorCode::corrupt) return error;
  const bool is_slow = outer.traits().parallel_requests > 1;
  const auto remains = describe_zip_remains(archive, is_slow ? 8 : 100);
  return Error(error.code(), error.message() + (remains ? *remains : std::string()));
}

}  // namespace

Result<std::shared_ptr<ZipArchive>> ZipArchive::open(Store& outer, const std::string& key, const Limits& limits) {
  const std::uint64_t tail_bytes = std::max<std::uint64_t>(kZipTailBytes, outer.traits().tail_read_bytes);
  SHERD_TRY(tail, read_one(outer, {.key = key, .length = tail_bytes, .from_end = true}));
  if (tail.source == nullptr) return std::shared_ptr<ZipArchive>();
  const auto opened = [&]() -> Result<std::shared_ptr<ZipArchive>> {
    SHERD_TRY(size, tail.source->size());
    SHERD_TRY(end, find_zip_end(tail.bytes, size, limits));
    SHERD_TRY(bytes, read_directory(outer, tail, end.directory));
    SHERD_TRY(directory, ZipDirectory::parse(bytes.bytes, end));
    SHERD_TRY(generation, tail.source->generation());
    std::shared_ptr<ZipArchive> archive(new ZipArchive);
    const std::size_t members = directory.members().size();
    archive->header_bytes_.reset(new (std::nothrow) std::atomic<std::uint32_t>[members]());
    if (!archive->header_bytes_) return unavailable("no memory for a zip archive's directory");
    archive->source_ = tail.source;
    archive->generation_ = std::move(generation.token);
    archive->end_ = std::move(end);
    archive->directory_ = std::move(directory);
    archive->limits_ = limits;
    return archive;
  };
  auto archive = opened();
  if (archive) return archive;
  Error error = std::move(archive).error();
  if (error.key().empty()) return with_remains(std::move(error), outer, *tail.source).in_key(key);
  return in_store(std::move(error), url_below(outer.url(), key));  // the key is a member's
}

Generation ZipArchive::generation(const ZipMember& member) const {
  if (generation_.empty()) return {};
  return {generation_ + ":" + std::to_string(member.header) + ":" + std::to_string(member.crc)};
}

std::optional<std::uint64_t> ZipArchive::data_offset(const ZipMember& member) const noexcept {
  const std::uint32_t bytes = header_bytes(member).load(std::memory_order_relaxed);
  return bytes == 0 ? std::nullopt : std::optional(member.header + bytes);
}

std::uint64_t ZipArchive::likely_header_bytes(const ZipMember& member) noexcept {
  const std::uint64_t least = kZipLocalBytes + member.stored_name_length;
  const bool is_wide = member.size >= kZip64Word || member.stored >= kZip64Word;
  const std::uint64_t after = (member.flags & ZipMember::descriptor) == 0 ? 0 : is_wide ? 24 : 16;
  const bool is_likely = member.room >= least + after && member.room - after <= least + kLikelyExtraBytes;
  return is_likely ? member.room - after : least;
}

Result<std::uint64_t> ZipArchive::locate(const ZipMember& member, std::span<const std::byte> bytes) {
  if (bytes.size() < kZipLocalBytes || load_little<std::uint32_t>(bytes.data()) != kZipLocalSignature)
    return contradiction("signature");
  const std::uint32_t size = static_cast<std::uint32_t>(kZipLocalBytes) +
                             load_little<std::uint16_t>(bytes.data() + 26) +
                             load_little<std::uint16_t>(bytes.data() + 28);
  if (size > member.room) return corrupt("the member's data overlap what follows them in the zip archive");
  Buffer longer;
  if (size > bytes.size()) {
    SHERD_TRY(read_into(*source_, {member.header, size}, longer));
    bytes = longer.span();
  }
  SHERD_TRY(check_local(member, bytes.first(size)));
  header_bytes(member).store(size, std::memory_order_relaxed);
  return member.header + size;
}

Result<std::uint64_t> ZipArchive::locate(const ZipMember& member) {
  if (const auto known = data_offset(member)) return *known;
  if (const auto whole = source_->view()) return locate(member, whole->subspan(member.header));
  Buffer bytes;
  SHERD_TRY(read_into(*source_, {member.header, likely_header_bytes(member)}, bytes));
  return locate(member, bytes.span());
}

}  // namespace sherd
