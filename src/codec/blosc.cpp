// Blosc 1 chunks, written and read by c-blosc in the calling thread, under two names: `blosc` of Zarr v3 and
// `numcodecs.blosc`, whose configuration numbers the shuffles and may omit everything.
// A chunk above 16 MiB is encoded in parts, between which interrupts are noticed. The bytes are those that the
// library makes for the whole chunk, because blocks do not depend on each other.
// c-blosc trusts more of a chunk than it should. So the header, every block's start and every stream's length are
// checked here before the library sees them (README_CHUNK_FORMAT of c-blosc 1.21).
#include <blosc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr std::size_t kBloscHeaderBytes = BLOSC_MIN_HEADER_LENGTH;
constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kMaxSplits = 16;
constexpr std::uint64_t kMinSplitElements = 128;
constexpr unsigned kReservedFlag = 0x08;
constexpr unsigned kUnsplitFlag = 0x10;
constexpr unsigned kBlosclz = 0;
constexpr unsigned kLastCompressor = 4;

struct Header {
  unsigned flags = 0;
  std::uint64_t type_size = 0;
  std::uint64_t size = 0;
  std::uint64_t block_size = 0;

  [[nodiscard]] bool is_copy() const noexcept { return (flags & BLOSC_MEMCPYED) != 0; }
  [[nodiscard]] unsigned compressor() const noexcept { return flags >> 5; }
  [[nodiscard]] std::uint64_t blocks() const noexcept { return ceil_div(size, block_size); }
};

Error wrong(std::string_view what, std::uint64_t value) {
  return corrupt("blosc: " + std::string(what) + ' ' + std::to_string(value));
}

/// Checks the consistency of the header, also with the number of bytes.
Result<Header> read_blosc_header(std::span<const std::byte> from) {
  if (from.size() < kBloscHeaderBytes) return wrong("the header is truncated at byte", from.size());
  const auto byte_at = [&](std::size_t i) { return std::to_integer<unsigned>(from[i]); };
  const auto word_at = [&](std::size_t i) { return std::uint64_t{load_little<std::uint32_t>(from.data() + i)}; };
  if (byte_at(0) != BLOSC_VERSION_FORMAT)
    return unsupported("blosc: chunks of format version " + std::to_string(byte_at(0)) +
                       " cannot be read, only 2 (c-blosc 1)");
  const Header header{byte_at(2), byte_at(3), word_at(4), word_at(8)};
  if (word_at(12) != from.size())
    return corrupt("blosc: the header states " + std::to_string(word_at(12)) + " encoded bytes, there are " +
                   std::to_string(from.size()));
  if (header.size > BLOSC_MAX_BUFFERSIZE) return wrong("the header states a decoded size of", header.size);
  if (header.size == 0) return header;
  if (header.type_size == 0) return wrong("the header states a typesize of", 0);
  if (header.block_size == 0 || header.block_size > std::min<std::uint64_t>(header.size, BLOSC_MAX_BLOCKSIZE))
    return wrong("the header states a blocksize of", header.block_size);
  if ((header.flags & kReservedFlag) != 0) return wrong("the header has a reserved flag in", header.flags);
  if (header.is_copy()) {
    if (from.size() != kBloscHeaderBytes + header.size)
      return wrong("a stored chunk should have an encoded size of", kBloscHeaderBytes + header.size);
    return header;
  }
  if (byte_at(1) != 1 || header.compressor() > kLastCompressor)
    return unsupported("blosc: unknown compressor " + std::to_string(header.compressor()) + ", version " +
                       std::to_string(byte_at(1)));
  if (header.blocks() > (from.size() - kBloscHeaderBytes) / kWordBytes)
    return wrong("the table of block offsets is truncated; expected block count", header.blocks());
  return header;
}

/// c-blosc 1.21 adds up a blosclz match's length in an int, 255 for each byte 0xff, and writes wherever the overflow
/// leads. Only streams with that many such bytes in a row cause this, and no encoder writes them.
bool overflows_blosclz(std::span<const std::byte> stream) noexcept {
  constexpr std::size_t run_limit = std::size_t{1} << 23;
  if (stream.size() < run_limit) return false;
  std::size_t run = 0;
  for (const std::byte byte : stream) {
    run = byte == std::byte{0xff} ? run + 1 : 0;
    if (run == run_limit) return true;
  }
  return false;
}

/// Checks that a block's streams are within the bytes and that the length of each is possible for its part; returns
/// them.
Result<std::span<const std::byte>> check_block(const Header& header, std::span<const std::byte> from,
                                               std::uint64_t index) {
  const std::uint64_t begin = index * header.block_size;
  const std::uint64_t size = std::min(header.block_size, header.size - begin);
  const bool split = (header.flags & kUnsplitFlag) == 0 && header.type_size <= kMaxSplits &&
                     header.block_size / header.type_size >= kMinSplitElements && size == header.block_size;
  const std::uint64_t splits = split ? header.type_size : 1;
  if (size % splits != 0) return wrong("the typesize does not divide the block of size", size);
  const std::uint64_t table_end = kBloscHeaderBytes + header.blocks() * kWordBytes;
  const std::uint64_t start = load_little<std::uint32_t>(from.data() + kBloscHeaderBytes + index * kWordBytes);
  if (start < table_end) return wrong("a block starts inside the header, at byte", start);
  std::uint64_t at = start;
  for (std::uint64_t i = 0; i < splits; ++i) {
    if (at > from.size() || from.size() - at < kWordBytes)
      return wrong("a block's stream starts after the end, at byte", at);
    const std::uint64_t length = load_little<std::uint32_t>(from.data() + at);
    at += kWordBytes;
    if (length == 0 || length > from.size() - at)
      return wrong("a block's stream has a length beyond the end at byte", at);
    if (header.compressor() == kBlosclz && length != size / splits && overflows_blosclz(from.subspan(at, length)))
      return wrong("a match without end at byte", at);
    at += length;
  }
  return from.subspan(start, at - start);
}

/// Decodes a chunk whose blocks have been checked.
Result<void> decode_checked(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t validated = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &validated) != 0 || validated != to.size())
    return corrupt("blosc: the library refuses the chunk");
  const int decoded = blosc_decompress_ctx(from.data(), to.data(), to.size(), 1);
  if (decoded < 0) return corrupt("blosc: malformed stream");
  if (static_cast<std::size_t>(decoded) == to.size()) return {};
  return corrupt("blosc: the header states " + std::to_string(to.size()) + " bytes, the blocks hold " +
                 std::to_string(decoded));
}

/// The blocks [first, last) of a chunk, as a chunk of their own. False if blocks overlap, which no writer does, and
/// which would make it larger than the whole.
Result<bool> cut_out(const Header& header, std::span<const std::byte> from, std::uint64_t first, std::uint64_t last,
                     Buffer& to) {
  std::vector<std::span<const std::byte>> blocks;
  std::size_t made = kBloscHeaderBytes + kWordBytes * (last - first);
  std::size_t size = made;
  for (std::uint64_t i = first; i < last; ++i) {
    SHERD_TRY(block, check_block(header, from, i));
    size += block.size();
    if (size > from.size()) return false;
    blocks.push_back(block);
  }
  SHERD_TRY(to.resize(size));
  std::memcpy(to.data(), from.data(), kBloscHeaderBytes);
  const std::uint64_t end = std::min(last * header.block_size, header.size);
  store_little(to.data() + 4, static_cast<std::uint32_t>(end - first * header.block_size));
  store_little(to.data() + 12, static_cast<std::uint32_t>(size));
  for (std::size_t i = 0; i < blocks.size(); made += blocks[i++].size()) {
    store_little(to.data() + kBloscHeaderBytes + kWordBytes * i, static_cast<std::uint32_t>(made));
    std::memcpy(to.data() + made, blocks[i].data(), blocks[i].size());
  }
  return true;
}

struct BloscSettings {
  std::string compressor;
  int level = 5;
  int shuffle = BLOSC_NOSHUFFLE;
  std::size_t type_size = 1;
  std::size_t block_size = 0;
};

/// Compresses `from` with the library: 0 if the result does not fit in `to`, negative for an error.
int compress(const BloscSettings& settings, std::span<const std::byte> from, std::span<std::byte> to) {
  return blosc_compress_ctx(settings.level, settings.shuffle, settings.type_size, from.size(), from.data(), to.data(),
                            to.size(), settings.compressor.c_str(), settings.block_size, 1);
}

constexpr std::size_t kPart = std::size_t{4} << 20;

/// Encodes a long chunk: the library encodes its parts as separate chunks, and their blocks are joined.
class LongEncoder {
 public:
  LongEncoder(const BloscSettings& settings, std::span<const std::byte> from, std::span<std::byte> to)
      : settings_(settings), from_(from), to_(to) {}

  /// The encoded size; nullopt if the library must encode the chunk as a whole.
  Result<std::optional<std::size_t>> encode() {
    if (!begin()) return std::optional<std::size_t>();
    while (at_ < from_.size()) {
      SHERD_TRY(check_interrupted());
      if (!add_part()) return std::optional<std::size_t>();
    }
    store_little(to_.data() + 4, static_cast<std::uint32_t>(from_.size()));
    store_little(to_.data() + 12, static_cast<std::uint32_t>(made_));
    return std::optional(made_);
  }

 private:
  /// Determines the size of the blocks, which is the same for all lengths that are much larger.
  bool begin() {
    if (settings_.level == 0) return false;  // a copy
    if (!encode_part(kPart)) return false;
    std::memcpy(to_.data(), part_.data(), kBloscHeaderBytes);
    block_size_ = load_little<std::uint32_t>(part_.data() + 8);
    if (block_size_ > kPart / 2) return false;
    made_ = kBloscHeaderBytes + kWordBytes * ceil_div(from_.size(), block_size_);
    return made_ <= to_.size();
  }

  bool encode_part(std::size_t size) {
    const auto from = from_.subspan(at_, size);
    // Room for uncompressed blocks, so that the library does not store a copy of the whole part.
    part_.resize(2 * kBloscHeaderBytes + size + size / 8);
    const int made = compress(settings_, from, part_);
    if (made <= 0) return false;
    part_.resize(static_cast<std::size_t>(made));
    return true;
  }

  /// Stores the bytes unchanged, as the library does if compression does not make them fewer.
  bool copy() {
    if (to_.size() < kBloscHeaderBytes + from_.size()) return false;
    to_[2] |= std::byte{BLOSC_MEMCPYED};
    std::memcpy(to_.data() + kBloscHeaderBytes, from_.data(), from_.size());
    at_ = from_.size();
    made_ = kBloscHeaderBytes + from_.size();
    return true;
  }

  bool add_part() {
    const std::size_t whole = kPart / block_size_ * block_size_;
    const std::size_t rest = from_.size() - at_;
    // A last part that is shorter than a block would have blocks of a different size.
    const std::size_t size = rest < whole + block_size_ + kPart / 2 ? rest : whole;
    const bool is_made = at_ == 0 && size == kPart;  // by begin()
    if (!is_made && !encode_part(size)) return false;
    if (load_little<std::uint32_t>(part_.data() + 8) != block_size_ || part_[2] != to_[2]) return false;
    const std::size_t blocks = ceil_div(size, block_size_);
    const std::size_t table = kBloscHeaderBytes + kWordBytes * blocks;
    if (part_.size() - table > to_.size() - made_) return copy();
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::size_t start = load_little<std::uint32_t>(part_.data() + kBloscHeaderBytes + kWordBytes * i);
      store_little(to_.data() + kBloscHeaderBytes + kWordBytes * (at_ / block_size_ + i),
                   static_cast<std::uint32_t>(start - table + made_));
    }
    std::memcpy(to_.data() + made_, part_.data() + table, part_.size() - table);
    made_ += part_.size() - table;
    at_ += size;
    return true;
  }

  const BloscSettings& settings_;
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  std::vector<std::byte> part_;
  std::size_t block_size_ = 0;
  std::size_t at_ = 0;    ///< of `from_`; a multiple of the block size
  std::size_t made_ = 0;  ///< of `to_`
};

class BloscCodec final : public BytesCodec {
 public:
  explicit BloscCodec(BloscSettings settings) : settings_(std::move(settings)) {}

  std::uint64_t max_encoded_size(std::uint64_t decoded) const override { return decoded + BLOSC_MAX_OVERHEAD; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() > BLOSC_MAX_BUFFERSIZE)
      return unsupported("blosc: a chunk of " + std::to_string(from.size()) + " bytes is larger than the format's " +
                         std::to_string(BLOSC_MAX_BUFFERSIZE) + "; choose smaller chunks");
    const std::size_t capacity = std::min<std::size_t>(to.size(), from.size() + BLOSC_MAX_OVERHEAD);
    if (from.size() > kLongChunk) {
      SHERD_TRY(encoded, LongEncoder(settings_, from, to.first(capacity)).encode());
      if (encoded) return *encoded;
    }
    const int size = compress(settings_, from, to.first(capacity));
    if (size <= 0) return unavailable("blosc: the library could not encode (code " + std::to_string(size) + ")");
    return static_cast<std::size_t>(size);
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    SHERD_TRY(header, read_blosc_header(from));
    const auto size = static_cast<std::size_t>(header.size);
    if (size > to.size()) return std::optional<std::size_t>();
    if (size == 0) return std::optional(size);
    if (header.is_copy()) {
      std::memcpy(to.data(), from.data() + kBloscHeaderBytes, size);
      return std::optional(size);
    }
    for (std::uint64_t i = 0; i < header.blocks(); ++i) SHERD_TRY(check_block(header, from, i));
    SHERD_TRY(decode_checked(from, to.first(size)));
    return std::optional(size);
  }

  bool decodes_parts() const noexcept override { return true; }
  Result<std::optional<std::uint64_t>> decode_part(std::span<const std::byte> from, const BytePart& part,
                                                   Buffer& to) const override {
    SHERD_TRY(header, read_blosc_header(from));
    if (header.size != part.size || part.begin >= part.end) return std::nullopt;
    if (header.is_copy()) {
      SHERD_TRY(to.resize(part.end - part.begin));
      std::memcpy(to.data(), from.data() + kBloscHeaderBytes + part.begin, to.size());
      return std::optional(part.begin);
    }
    std::uint64_t first = part.begin / header.block_size;
    const std::uint64_t last = ceil_div(part.end, header.block_size);
    // The last block may be short, and a chunk cannot be shorter than a block.
    if (last - first == 1 && last == header.blocks() && first > 0) --first;
    if (last - first == header.blocks()) return std::nullopt;
    const std::uint64_t begin = first * header.block_size;
    Scratch blocks;
    SHERD_TRY(cut, cut_out(header, from, first, last, *blocks));
    if (!cut) return std::nullopt;
    SHERD_TRY(to.resize(std::min(last * header.block_size, header.size) - begin));
    SHERD_TRY(decode_checked(blocks->span(), to.span()));
    return std::optional(begin);
  }

 private:
  BloscSettings settings_;
};

constexpr std::array<std::string_view, 3> kShuffles = {"noshuffle", "shuffle", "bitshuffle"};

/// A shuffle by its name.
Result<int> named_shuffle(const Json& value) {
  const auto found = std::ranges::find(kShuffles, value.is_string() ? value.text() : "");
  if (found != kShuffles.end()) return static_cast<int>(found - kShuffles.begin());
  return configuration_error("shuffle", "blosc: 'shuffle' must be noshuffle, shuffle or bitshuffle");
}

/// The shuffle of numcodecs, which numbers them; -1 chooses by element size.
Result<int> numbered_shuffle(const Json& value, std::size_t element_size) {
  const auto number = value.as_int();
  if (number == -1) return element_size == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
  if (!number) return named_shuffle(value);
  if (*number >= 0 && *number < static_cast<std::int64_t>(kShuffles.size())) return static_cast<int>(*number);
  return configuration_error("shuffle", "blosc: 'shuffle' must be an integer from -1 to 2");
}

/// The defaults of a configuration; nullopt for required members.
struct Defaults {
  std::optional<std::string_view> compressor;
  std::optional<std::int64_t> level;
  std::optional<int> shuffle;
  bool any_type_size = false;
};

Result<std::unique_ptr<BytesCodec>> make_with_defaults(const CodecSpec& spec, const CodecContext& context,
                                                       const Defaults& defaults) {
  SHERD_TRY(configuration, Configuration::open(spec));
  BloscSettings settings;
  SHERD_TRY(compressor, configuration.text("cname", defaults.compressor));
  constexpr std::string_view known[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  if (std::find(std::begin(known), std::end(known), compressor) == std::end(known))
    return configuration_error(
        "cname", "blosc: 'cname' must be one of blosclz, lz4, lz4hc, snappy, zlib and zstd, not '" + compressor + "'");
  if (blosc_compname_to_compcode(compressor.c_str()) < 0)
    return unsupported("blosc: the linked c-blosc was built without '" + compressor + "'")
        .in_member("configuration.cname");
  SHERD_TRY(level, configuration.integer("clevel", {0, 9}, defaults.level));
  const std::size_t element_size = context.in.dtype.size();
  if (const Json* shuffle = configuration.find("shuffle"); shuffle != nullptr) {
    SHERD_TRY(number, defaults.shuffle ? numbered_shuffle(*shuffle, element_size) : named_shuffle(*shuffle));
    settings.shuffle = number;
  } else if (defaults.shuffle) {
    settings.shuffle = *defaults.shuffle;
  } else {
    return configuration_error("shuffle", "blosc: 'shuffle' is missing");
  }
  SHERD_TRY(block_size, configuration.integer("blocksize", {0, BLOSC_MAX_BUFFERSIZE}, 0));
  const Json* type_size = configuration.find("typesize");
  const bool optional = defaults.any_type_size || settings.shuffle == BLOSC_NOSHUFFLE;
  std::int64_t type_bytes = defaults.any_type_size ? static_cast<std::int64_t>(element_size) : 1;
  if (!optional || (type_size != nullptr && !type_size->is_null())) {
    SHERD_TRY(stated, configuration.integer("typesize", {1, INT32_MAX}));
    type_bytes = stated;
  }
  SHERD_TRY(configuration.done());
  settings.compressor = std::move(compressor);
  settings.level = static_cast<int>(level);
  settings.block_size = static_cast<std::size_t>(block_size);
  // c-blosc treats chunks of wider elements as bytes.
  settings.type_size = type_bytes <= BLOSC_MAX_TYPESIZE ? static_cast<std::size_t>(type_bytes) : 1;
  return std::unique_ptr<BytesCodec>(std::make_unique<BloscCodec>(std::move(settings)));
}

Result<std::unique_ptr<BytesCodec>> make_blosc(const CodecSpec& spec, const CodecContext& context) {
  return make_with_defaults(spec, context, {});
}
Result<std::unique_ptr<BytesCodec>> make_numcodecs_blosc(const CodecSpec& spec, const CodecContext& context) {
  return make_with_defaults(spec, context, {"lz4", 5, BLOSC_SHUFFLE, true});
}

/// "cname" or "cname:clevel".
Result<std::pair<std::string, std::int64_t>> short_arguments(std::string_view argument, std::string_view compressor) {
  const auto colon = argument.find(':');
  const auto name = argument.substr(0, colon);
  SHERD_TRY(level, short_integer(colon == argument.npos ? std::string_view() : argument.substr(colon + 1), {0, 9}, 5));
  return std::pair(std::string(name.empty() ? compressor : name), level);
}

Result<Json> short_blosc(std::string_view argument, const DType& dtype) {
  SHERD_TRY(arguments, short_arguments(argument, "zstd"));
  return Json(Json::Object{{"cname", arguments.first},
                           {"clevel", arguments.second},
                           {"shuffle", dtype.size() == 1 ? "bitshuffle" : "shuffle"},
                           {"typesize", element_bytes(dtype)},
                           {"blocksize", 0}});
}

Result<Json> short_numcodecs_blosc(std::string_view argument, const DType& dtype) {
  SHERD_TRY(arguments, short_arguments(argument, "lz4"));
  return Json(Json::Object{{"cname", arguments.first},
                           {"clevel", arguments.second},
                           {"shuffle", dtype.size() == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE},
                           {"typesize", element_bytes(dtype)},
                           {"blocksize", 0}});
}

}  // namespace

extern constinit const CodecEntry blosc_codec{
    .name = "blosc", .aliases = {}, .bytes_codec = make_blosc, .short_form = short_blosc, .is_compressor = true};
extern constinit const CodecEntry numcodecs_blosc_codec{.name = "numcodecs.blosc",
                                                        .aliases = {},
                                                        .bytes_codec = make_numcodecs_blosc,
                                                        .short_form = short_numcodecs_blosc,
                                                        .is_compressor = true};

}  // namespace sherd
