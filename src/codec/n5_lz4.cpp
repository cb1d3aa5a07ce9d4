// The LZ4 of N5, which is that of lz4-java's LZ4BlockOutputStream and not numcodecs' lz4: blocks consisting of a header
// ("LZ4Block", method and block size, encoded and decoded size, checksum of the decoded bytes) and one LZ4 block or the
// raw bytes, then an empty block. Used only in n5_default, in place of numcodecs.lz4, with the same configuration.
// Encodings by numcodecs.lz4 are accepted there too.
#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {

extern const CodecEntry lz4_codec;

namespace {

constexpr std::string_view kBlockMagic = "LZ4Block";
constexpr std::size_t kTokenAt = 8, kEncodedAt = 9, kDecodedAt = 13, kChecksumAt = 17, kBlockHeader = 21;
constexpr unsigned kRawMethod = 0x10, kLz4Method = 0x20;
constexpr unsigned kLevel = 6;  // blocks of 2^(10 + 6) bytes, the default of N5
constexpr std::size_t kBlockBytes = std::size_t{1} << (10 + kLevel);

/// As in lz4-java's StreamingXXHash32.asChecksum().
std::uint32_t block_checksum(std::span<const std::byte> bytes) noexcept { return xxh32(bytes, 0x9747b28c) & 0xfffffff; }

struct BlockHeader {
  unsigned method = kRawMethod, level = kLevel;
  std::uint32_t encoded = 0, decoded = 0, checksum = 0;
};

void store_header(std::byte* to, const BlockHeader& header) {
  std::memcpy(to, kBlockMagic.data(), kBlockMagic.size());
  to[kTokenAt] = static_cast<std::byte>(header.method | header.level);
  store_little(to + kEncodedAt, header.encoded);
  store_little(to + kDecodedAt, header.decoded);
  store_little(to + kChecksumAt, header.checksum);
}

bool starts_a_block(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kBlockMagic.size() && std::memcmp(bytes.data(), kBlockMagic.data(), kBlockMagic.size()) == 0;
}

class N5Lz4 final : public BytesCodec {
 public:
  N5Lz4(int acceleration, std::unique_ptr<BytesCodec> numcodecs)
      : acceleration_(acceleration), numcodecs_(std::move(numcodecs)) {}

  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    return decoded + (decoded / kBlockBytes + 2) * kBlockHeader;
  }
  [[nodiscard]] std::uint64_t max_ratio() const noexcept override { return 255; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < from.size(); begin += kBlockBytes) {
      const auto block = from.subspan(begin, std::min(kBlockBytes, from.size() - begin));
      std::byte* const out = to.data() + at + kBlockHeader;
      const int size = static_cast<int>(block.size());
      // 0 if the encoded block would not be smaller.
      const int encoded = LZ4_compress_fast(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(out),
                                            size, size - 1, acceleration_);
      BlockHeader header{.method = kLz4Method, .encoded = static_cast<std::uint32_t>(encoded)};
      if (encoded <= 0) {
        header = {.method = kRawMethod, .encoded = static_cast<std::uint32_t>(size)};
        std::ranges::copy(block, out);
      }
      header.decoded = static_cast<std::uint32_t>(size);
      header.checksum = block_checksum(block);
      store_header(to.data() + at, header);
      at += kBlockHeader + header.encoded;
    }
    store_header(to.data() + at, {});
    return at + kBlockHeader;
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (!starts_a_block(from)) return numcodecs_->decode(from, to);
    std::size_t size = 0;
    for (std::size_t at = 0;;) {
      SHERD_TRY(header, parse_header(from, at));
      at += kBlockHeader;
      if (header.decoded == 0) {
        if (at != from.size()) return corrupt("n5_default: bytes follow the last LZ4 block");
        return std::optional(size);
      }
      if (header.decoded > to.size() - size) return std::optional<std::size_t>();
      const auto out = to.subspan(size, header.decoded);
      SHERD_TRY(decode_block(header, from.subspan(at, header.encoded), out));
      at += header.encoded;
      size += header.decoded;
    }
  }

 private:
  static Result<BlockHeader> parse_header(std::span<const std::byte> from, std::size_t at) {
    const auto wrong = [&](std::string_view what) {
      return corrupt("n5_default: the LZ4 block at byte " + std::to_string(at) + " " + std::string(what));
    };
    if (from.size() - at < kBlockHeader || !starts_a_block(from.subspan(at))) return wrong("has no header");
    const std::byte* const bytes = from.data() + at;
    const auto token = std::to_integer<unsigned>(bytes[kTokenAt]);
    const BlockHeader header{token & 0xf0, token & 0x0f, load_little<std::uint32_t>(bytes + kEncodedAt),
                             load_little<std::uint32_t>(bytes + kDecodedAt),
                             load_little<std::uint32_t>(bytes + kChecksumAt)};
    const bool raw = header.method == kRawMethod;
    if (!raw && header.method != kLz4Method) return wrong("is of an unknown method");
    if (header.decoded > std::uint32_t{1} << (10 + header.level)) return wrong("states more bytes than a block has");
    if ((header.decoded == 0) != (header.encoded == 0) || (raw && header.encoded != header.decoded) ||
        (header.decoded == 0 && header.checksum != 0))
      return wrong("states sizes that contradict each other");
    if (header.encoded > from.size() - at - kBlockHeader) return wrong("reaches beyond the end");
    return header;
  }

  static Result<void> decode_block(const BlockHeader& header, std::span<const std::byte> from,
                                   std::span<std::byte> to) {
    if (header.method == kRawMethod) {
      std::ranges::copy(from, to.begin());
    } else {
      constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
      const int decoded =
          from.size() > kMost
              ? -1
              : LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                                    static_cast<int>(from.size()), static_cast<int>(to.size()));
      if (decoded < 0 || static_cast<std::size_t>(decoded) != to.size())
        return corrupt("n5_default: malformed LZ4 block");
    }
    if (block_checksum(to) != header.checksum) return corrupt("n5_default: the checksum of an LZ4 block differs");
    return {};
  }

  int acceleration_;
  std::unique_ptr<BytesCodec> numcodecs_;
};

Result<std::unique_ptr<BytesCodec>> make_n5_lz4(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(acceleration, configuration.integer("acceleration", {INT32_MIN, INT32_MAX}, 1));
  SHERD_TRY(configuration.done());
  SHERD_TRY(numcodecs, lz4_codec.bytes_codec(spec, context));
  return std::unique_ptr<BytesCodec>(std::make_unique<N5Lz4>(static_cast<int>(acceleration), std::move(numcodecs)));
}

}  // namespace

extern constinit const CodecEntry n5_lz4_codec{.name = "numcodecs.lz4", .aliases = {"lz4"}, .bytes_codec = make_n5_lz4};

}  // namespace sherd
