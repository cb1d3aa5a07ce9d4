// Each local header says where the next one is, unless the member was written to a pipe: then its size follows its
// data.
#include "store/zip_remains.hpp"

#include <algorithm>
#include <span>

#include "base/buffer.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "store/extent.hpp"
#include "store/read_into.hpp"
#include "store/zip_record.hpp"

namespace sherd {
namespace {

/// So many bytes are read at a time: the headers of many small members.
constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;

class Walk {
 public:
  Walk(ByteSource& archive, std::uint64_t size, std::uint64_t max_reads)
      : archive_(archive), size_(size), reads_left_(max_reads) {}

  /// Counts the complete members.
  Result<void> run() {
    while (reads_left_ > 0) {
      SHERD_TRY(header, bytes_at(kZipLocalBytes));
      if (header.size() < 4 || load_little<std::uint32_t>(header.data()) != kZipLocalSignature) break;
      begins_with_member_ = true;
      if (header.size() < kZipLocalBytes) break;
      const auto word16 = [&](std::size_t at) { return load_little<std::uint16_t>(header.data() + at); };
      const bool later = (word16(6) & kZipDescriptor) != 0;
      const std::size_t name_end = kZipLocalBytes + word16(26), header_bytes = name_end + word16(28);
      SHERD_TRY(whole, bytes_at(header_bytes));
      if (whole.size() < header_bytes) break;
      ZipSizes sizes{.size = load_little<std::uint32_t>(whole.data() + 22),
                     .stored = load_little<std::uint32_t>(whole.data() + 18)};
      if (!extend_zip_sizes(whole.subspan(name_end), sizes)) break;
      is_whole_ = !later || sizes.stored != 0;
      if (!is_whole_ || sizes.stored > size_ - end_ - header_bytes) break;
      end_ += header_bytes + sizes.stored;
      ++count_;
    }
    is_whole_ = is_whole_ && reads_left_ > 0;
    return {};
  }

  [[nodiscard]] std::string text() const {
    if (!begins_with_member_) return {};
    if (count_ == 0) return is_whole_ ? "; not even its first member is complete" : std::string();
    return std::string("; ") + (is_whole_ ? "" : "at least ") + std::to_string(count_) +
           (count_ == 1 ? " member" : " members") + " at its beginning, in " + std::to_string(end_) + " of " +
           std::to_string(size_) + " bytes, can be recovered with `zip -FF ARCHIVE --out NEW`";
  }

 private:
  /// So many bytes from end_ on; fewer at the end of the archive, or if it was read too often.
  Result<std::span<const std::byte>> bytes_at(std::uint64_t count) {
    const std::uint64_t wanted = std::min(count, size_ - end_);
    if (end_ < window_at_ || end_ + wanted > window_at_ + window_.size()) {
      if (reads_left_ == 0) return std::span<const std::byte>();
      --reads_left_;
      window_at_ = end_;
      SHERD_TRY(read_into(archive_, {end_, std::min(std::max(kWindow, wanted), size_ - end_)}, window_));
    }
    return std::span<const std::byte>(window_.span()).subspan(end_ - window_at_, wanted);
  }

  ByteSource& archive_;
  const std::uint64_t size_;
  std::uint64_t reads_left_;
  Buffer window_;
  std::uint64_t window_at_ = 0;
  std::uint64_t end_ = 0;  ///< of the members that are complete
  std::uint64_t count_ = 0;
  bool begins_with_member_ = false;
  bool is_whole_ = true;  ///< all members were counted
};

}  // namespace

Result<std::string> describe_zip_remains(ByteSource& archive, std::uint64_t max_reads) {
  SHERD_TRY(size, archive.size());
  Walk walk(archive, size, max_reads);
  SHERD_TRY(walk.run());
  return walk.text();
}

}  // namespace sherd
