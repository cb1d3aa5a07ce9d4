// The checksum of every window of an object is computed by a step per byte: that of the next window is a function of
// the present one, the byte that enters and the byte that leaves, because a CRC is linear.
#include "check/torn_index.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kSumBytes = 4;
constexpr std::uint64_t kSearchedBytes = std::uint64_t{4} << 20;

/// The CRC-32C of a window of a fixed length that moves through bytes.
class MovingCrc {
 public:
  explicit MovingCrc(std::size_t length) {
    std::vector<std::byte> leaving(length + 1);
    const std::uint32_t none = crc32c(leaving);
    const std::byte zero[1] = {};
    offset_ = crc32c(std::span(leaving).first(length));
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::byte one[1] = {static_cast<std::byte>(1U << bit)};
      leaving[0] = one[0];
      const std::uint32_t enters = crc32c(one) ^ crc32c(zero), leaves = crc32c(leaving) ^ none;
      for (unsigned byte = 0; byte < 256; ++byte) {
        if ((byte >> bit & 1U) == 0) continue;
        enters_[byte] ^= enters;
        leaves_[byte] ^= leaves;
      }
    }
  }
  void start(std::span<const std::byte> window) noexcept { crc_ = crc32c(window) ^ offset_; }
  void move(std::byte leaving, std::byte entering) noexcept {
    crc_ = crc_ >> 8 ^ enters_[(crc_ ^ static_cast<std::uint32_t>(entering)) & 0xff] ^
           leaves_[static_cast<unsigned>(leaving)];
  }
  [[nodiscard]] std::uint32_t value() const noexcept { return crc_ ^ offset_; }

 private:
  std::array<std::uint32_t, 256> enters_{}, leaves_{};
  std::uint32_t offset_ = 0;  // the CRC of a window of zeros, by which a CRC differs from a linear function
  std::uint32_t crc_ = 0;     // without it
};

/// The positions in `bytes`, after the first index, at which bytes with a correct checksum end; ascending.
std::vector<std::size_t> candidates(std::span<const std::byte> bytes, std::size_t index_bytes, MovingCrc& crc) {
  std::vector<std::size_t> found;
  const std::size_t window = index_bytes - kSumBytes;
  crc.start(bytes.first(window));
  for (std::size_t end = index_bytes;; ++end) {
    if (load_little<std::uint32_t>(bytes.data() + end - kSumBytes) == crc.value()) found.push_back(end);
    if (end == bytes.size()) return found;
    crc.move(bytes[end - index_bytes], bytes[end - kSumBytes]);
  }
}

}  // namespace

Result<bool> has_crc32c(const IndexFormat& format, const Shape& grid) {
  const auto slots = element_count(grid);
  if (!slots) return false;
  Buffer encoded;
  SHERD_TRY(ShardIndex(*slots).encode(format, grid, encoded));
  if (encoded.size() <= kSumBytes) return false;
  const std::size_t window = encoded.size() - kSumBytes;
  return load_little<std::uint32_t>(encoded.data() + window) == crc32c(encoded.span().first(window));
}

Result<std::optional<std::uint64_t>> find_last_index(const IndexSearch& search, const AcceptIndex& accept) {
  const std::uint64_t index_bytes = search.index_bytes;
  MovingCrc crc(index_bytes - kSumBytes);
  Buffer bytes;
  for (std::uint64_t end = search.size; end >= index_bytes;) {
    SHERD_TRY(check_interrupted());
    const std::uint64_t begin = end - std::min(end, index_bytes + kSearchedBytes);
    SHERD_TRY(read_into(search.source, {begin, end - begin}, bytes));
    const auto found = candidates(bytes.span(), index_bytes, crc);
    for (auto at = found.rbegin(); at != found.rend(); ++at) {
      SHERD_TRY(is_index, accept(begin + *at));
      if (is_index) return std::optional(begin + *at);
    }
    end = begin + index_bytes - 1;  // the next windows end before the first of these
    if (begin == 0) break;
  }
  return std::optional<std::uint64_t>();
}

Result<void> WithHead::read(std::span<const RangeRead> ranges) {
  SHERD_TRY(source_.read(ranges));
  for (const RangeRead& range : ranges) {
    if (range.offset >= head_.size() || range.into.empty()) continue;
    const auto part = head_.subspan(range.offset);
    std::memcpy(range.into.data(), part.data(), std::min(part.size(), range.into.size()));
  }
  return {};
}

}  // namespace sherd
