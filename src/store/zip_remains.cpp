// Each local header says where the next one is, unless the member was written to a pipe: then its size follows its
// data.
#include "store/zip_remains.hpp"

#include <algorithm>
#include <span>
#include <string_view>

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

/// Between members there may be room that is not used: a change of an archive begins what it keeps at a block, and
/// documents may have room in front.
constexpr std::uint64_t kMaxGap = std::uint64_t{128} << 10;

class Walk {
 public:
  Walk(ByteSource& archive, std::uint64_t size, std::uint64_t max_reads)
      : archive_(archive), size_(size), reads_left_(max_reads) {}

  /// Counts the complete members.
  Result<void> run() {
    for (;;) {
      SHERD_TRY(is_member, seek_member());
      if (!is_member) break;
      SHERD_TRY(is_complete, pass_member());
      if (!is_complete) break;
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
  /// Moves to the next local header, if there is one here or after a gap; the first one is at the beginning.
  Result<bool> seek_member() {
    for (const std::uint64_t last = at_ + (count_ > 0 ? kMaxGap : 0); at_ <= last;) {
      SHERD_TRY(bytes, bytes_at(kWindow));
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (text.starts_with("PK\1\2")) return false;  // the directory
      const std::size_t found = text.find("PK\3\4");
      if (found != text.npos && at_ + found <= last) {
        at_ += found;
        begins_with_member_ = true;
        return true;
      }
      if (text.size() < kWindow) return false;
      at_ += kWindow - 3;  // a signature may begin in the last bytes
    }
    return false;
  }

  /// Moves behind the member here if it is complete.
  Result<bool> pass_member() {
    SHERD_TRY(header, bytes_at(kZipLocalBytes));
    if (header.size() < kZipLocalBytes) return false;
    const auto word16 = [&](std::size_t at) { return load_little<std::uint16_t>(header.data() + at); };
    const bool later = (word16(6) & kZipDescriptor) != 0;
    const std::size_t name_end = kZipLocalBytes + word16(26), header_bytes = name_end + word16(28);
    SHERD_TRY(whole, bytes_at(header_bytes));
    if (whole.size() < header_bytes) return false;
    ZipSizes sizes{.size = load_little<std::uint32_t>(whole.data() + 22),
                   .stored = load_little<std::uint32_t>(whole.data() + 18)};
    if (!extend_zip_sizes(whole.subspan(name_end), sizes)) return false;
    is_whole_ = !later || sizes.stored != 0;
    if (!is_whole_ || sizes.stored > size_ - at_ - header_bytes) return false;
    at_ = end_ = at_ + header_bytes + sizes.stored;
    ++count_;
    return true;
  }

  /// So many bytes from at_ on; fewer at the end of the archive, or if it was read too often.
  Result<std::span<const std::byte>> bytes_at(std::uint64_t count) {
    const std::uint64_t wanted = std::min(count, size_ - at_);
    if (at_ < window_at_ || at_ + wanted > window_at_ + window_.size()) {
      if (reads_left_ == 0) return std::span<const std::byte>();
      --reads_left_;
      window_at_ = at_;
      SHERD_TRY(read_into(archive_, {at_, std::min(2 * std::max(kWindow, wanted), size_ - at_)}, window_));
    }
    return std::span<const std::byte>(window_.span()).subspan(at_ - window_at_, wanted);
  }

  ByteSource& archive_;
  const std::uint64_t size_;
  std::uint64_t reads_left_;
  Buffer window_;
  std::uint64_t window_at_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;  ///< of the last member that is complete
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
