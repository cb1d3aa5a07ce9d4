// Hostile chunks: 56 to 75 of docs/limits.md. The chunk is the good array's 64 bytes; what is there instead is put
// together here byte by byte.
#include "codec/codec.hpp"
#include "api/registry.hpp"
#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "tests/codec/golden_chunks.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace codec_test {

using Make = std::function<void(World&)>;

const std::string kZstd = R"({"name": "zstd", "configuration": {"level": 1, "checksum": false}})";
const std::string kGzip = R"({"name": "gzip", "configuration": {"level": 1}})";
const std::string kBlosc =
    R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 2, "blocksize": 0}})";
const std::string kCrc = R"({"name": "crc32c"})";
const std::string kGdeflate = R"({"name": "zarrs.gdeflate", "configuration": {"level": 1}})";
const std::string kLz4 = R"({"name": "numcodecs.lz4", "configuration": {"acceleration": 1}})";

std::string little(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

/// The elements as they are before any compressor, cut off or repeated to `size` bytes.
std::string content(std::size_t size = 64) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i) text += little(good(i / 8 % 4, i % 8), 2);
  return text.substr(0, size);
}

/// The bytes as the object of an array whose chunk is compressed so.
Make stored(std::string codec, std::string bytes) {
  return [=](World& world) {
    world.document(document_with("{\"codecs\": " + chunked(codec) + "}"));
    world.object(bytes);
  };
}
/// What the engine itself writes, changed.
Make changed(const std::string& codec, const std::function<void(std::string&)>& change) {
  return [=](World& world) {
    world.array(chunked(codec));
    std::string bytes = world.object();
    change(bytes);
    world.object(bytes);
  };
}
/// `bytes` as inner chunk 2 of a shard whose inner chunks are compressed so.
Make in_slot_2(std::string codec, std::string bytes) {
  return [=](World& world) {
    world.array(sharded(", " + codec));
    const std::string object = world.object();
    world.object(bytes + object);
    world.index([&](std::span<std::uint64_t> words) {
      for (std::size_t slot = 0; slot < 4; ++slot) words[2 * slot] += bytes.size();
      words[4] = 0;
      words[5] = bytes.size();
    });
  };
}

// A zstd frame (RFC 8878): magic, descriptor and what follows it, blocks.
std::string frame(const std::string& header, const std::string& blocks) {
  return little(0xFD2FB528, 4) + header + blocks;
}
std::string raw_block(std::string_view bytes) { return little(bytes.size() << 3 | 1, 3) + std::string(bytes); }
std::string sized(std::uint8_t size) { return {'\x20', static_cast<char>(size)}; }
std::string windowed(std::uint8_t window) { return {'\x00', static_cast<char>(window)}; }
/// 8192 blocks of 128 KiB in 4 bytes each: 1 GiB.
std::string bomb() {
  std::string blocks;
  for (int i = 0; i < 8192; ++i) blocks += little((std::uint64_t{128 * 1024} << 3) | 2 | (i == 8191 ? 1 : 0), 3) + "x";
  return frame(windowed(0x38), blocks);
}
std::string skippable(std::size_t count) {
  std::string frames;
  for (std::size_t i = 0; i < count; ++i) frames += little(0x184D2A50, 4) + little(0, 4);
  return frames;
}
std::string good_frame() { return frame(sized(64), raw_block(content())); }

// A gzip member (RFC 1952) of one stored block.
std::string member(std::string_view bytes) {
  const auto checksum = crc32(std::as_bytes(std::span(bytes.data(), bytes.size())));
  return std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01", 11) + little(bytes.size(), 2) +
         little(~bytes.size(), 2) + std::string(bytes) + little(checksum, 4) + little(bytes.size(), 4);
}
std::string member_with(std::size_t from_end, char flip) {
  std::string bytes = member(content());
  bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] ^ flip);
  return bytes;
}

// A Blosc 1 chunk that stores its bytes as they are.
std::string blosc(std::uint64_t nbytes, std::uint64_t blocksize, std::uint8_t typesize) {
  return std::string("\x02\x01\x02", 3) + static_cast<char>(typesize) + little(nbytes, 4) + little(blocksize, 4) +
         little(80, 4) + content();
}
// One with one compressed block that begins where `start` says.
std::string blosc_block(std::uint64_t start) {
  const std::string body = little(start, 4) + little(64, 4) + content();
  return std::string("\x02\x01\x30\x02", 4) + little(64, 4) + little(64, 4) + little(16 + body.size(), 4) + body;
}
// 10 MiB of zeros in a chunk of their own.
std::string blosc_bomb() {
  const CodecEntry* entry = find_codec(tables().codecs, "blosc");
  const auto configuration = Json::parse(kBlosc).value();
  const auto codec =
      entry->bytes_codec({"blosc", *configuration.find("configuration")}, {{DType::uint16, {32}}}).value();
  const std::vector<std::byte> zeros(std::size_t{10} << 20);
  std::string bytes(codec->max_encoded_size(zeros.size()), '\0');
  bytes.resize(codec->encode(zeros, std::as_writable_bytes(std::span(bytes))).value());
  return bytes;
}

// 96 MiB: the first of three pages of equal bytes that zarrs wrote, again and again.
std::string gdeflate_bomb() {
  constexpr std::uint64_t kPages = 1536, kPageBytes = 65536;
  const auto good = test::golden_chunks(*find_codec(tables().codecs, "gdeflate")).back().stored;
  const auto size = load_little<std::uint64_t>(good.data() + 16);
  const std::string page(reinterpret_cast<const char*>(good.data()) + 40, size);
  std::string sizes, pages;
  for (std::uint64_t i = 0; i < kPages; ++i) sizes += little(size, 8), pages += page;
  return little(kPages * kPageBytes, 8) + little(kPages, 8) + sizes + pages;
}

constexpr Act read_it = Act::read_all;

std::vector<Case> zstd() {
  const auto corrupt_chunk = [](std::string says) { return refused(corrupt_code, "'a/c/0/0': " + std::move(says)); };
  return {
      {56, "a zstd frame that states more than it holds", stored(kZstd, frame(sized(65), raw_block(content()))),
       read_it, corrupt_chunk("zstd")},
      {56, "a zstd frame that states 1 TiB",
       stored(kZstd, frame(std::string("\xe0", 1) + little(std::uint64_t{1} << 40, 8), raw_block(content()))), read_it,
       corrupt_chunk("zstd")},
      {57, "a zstd frame that states less than it holds", stored(kZstd, frame(sized(63), raw_block(content()))),
       read_it, corrupt_chunk("zstd")},
      {57, "and the same in a shard", in_slot_2(kZstd, frame(sized(15), raw_block(content(16)))), read_it,
       refused(corrupt_code, "zstd", 2)},
      {58, "a zstd frame of unstated size", stored(kZstd, frame(windowed(0), raw_block(content()))), read_it, reads()},
      {59, "a gibibyte in 32 KiB", stored(kZstd, bomb()), read_it, corrupt_chunk("zstd: decodes to more")},
      {59, "a gibibyte in 32 KiB, twice compressed", stored(kZstd + ", " + kZstd, bomb()), read_it,
       corrupt_chunk("zstd: decodes to more")},
      {59, "a gibibyte in 32 KiB in a shard", in_slot_2(kZstd, bomb()), read_it,
       refused(corrupt_code, "zstd: decodes to more", 2)},
      {59, "a gibibyte in 32 KiB when one element is written", stored(kZstd, bomb()), Act::write_one,
       corrupt_chunk("zstd: decodes to more")},
      {60, "a window of 2 GiB", stored(kZstd, frame(windowed(0xA8), raw_block(content()))), read_it,
       refused(unsupported_code, "window")},
      {61, "a thousand skippable frames", stored(kZstd, skippable(1000) + good_frame()), read_it, reads()},
      {61, "a million skippable frames",
       [](World& world) { stored(kZstd, skippable(1'000'000) + good_frame())(world); }, read_it,
       corrupt_chunk("holds 8000")},
      {61, "nothing but skippable frames", stored(kZstd, skippable(10)), read_it, corrupt_chunk("")},
      {62, "a frame that needs a dictionary",
       stored(kZstd, frame(std::string("\x21\x07\x40", 3), raw_block(content()))), read_it,
       refused(unsupported_code, "dictionary")},
      {73, "a zstd frame of 62 bytes", stored(kZstd, frame(sized(62), raw_block(content(62)))), read_it,
       corrupt_chunk("the chunk decodes to 62")},
      {74, "a zstd frame of 66 bytes", stored(kZstd, frame(sized(66), raw_block(content(66)))), read_it,
       corrupt_chunk("zstd: decodes to more")},
  };
}

std::vector<Case> deflate() {
  const auto corrupt_chunk = refused(corrupt_code, "'a/c/0/0': gzip");
  return {
      {63, "two gzip members", stored(kGzip, member(content(20)) + member(content().substr(20))), read_it, reads()},
      {63, "a second gzip member too much", stored(kGzip, member(content()) + member(content())), read_it,
       corrupt_chunk},
      {63, "garbage after a gzip member", stored(kGzip, member(content()) + "x"), read_it, corrupt_chunk},
      {64, "a wrong CRC in a gzip member", stored(kGzip, member_with(8, 1)), read_it, corrupt_chunk},
      {64, "a wrong ISIZE in a gzip member", stored(kGzip, member_with(4, 1)), read_it, corrupt_chunk},
      {65, "a gzip member cut short", stored(kGzip, member(content()).substr(0, 40)), read_it, corrupt_chunk},
      {65, "a gzip header alone", stored(kGzip, member(content()).substr(0, 10)), read_it, corrupt_chunk},
      {65, "a stored block cut short in a shard", in_slot_2(kGzip, member(content(16)).substr(0, 20)), read_it,
       refused(corrupt_code, "gzip", 2)},
  };
}

std::vector<Case> blosc_cases() {
  const auto corrupt_chunk = refused(corrupt_code, "'a/c/0/0': blosc");
  return {
      {66, "a Blosc chunk as it should be", stored(kBlosc, blosc(64, 64, 2)), read_it, reads()},
      {66, "a Blosc chunk of 2^31-1 bytes", stored(kBlosc, blosc(0x7fffffff, 64, 2)), read_it, corrupt_chunk},
      {66, "a Blosc chunk of 2^32-1 bytes", stored(kBlosc, blosc(0xffffffff, 64, 2)), read_it, corrupt_chunk},
      {67, "a Blosc chunk with blocks of 0 bytes", stored(kBlosc, blosc(64, 0, 2)), read_it, corrupt_chunk},
      {67, "a Blosc chunk with blocks larger than itself", stored(kBlosc, blosc(64, 65, 2)), read_it, corrupt_chunk},
      {68, "a Blosc chunk with elements of 0 bytes", stored(kBlosc, blosc(64, 64, 0)), read_it, corrupt_chunk},
      {68, "a Blosc chunk with elements of 255 bytes", stored(kBlosc, blosc(64, 64, 255)), read_it, reads()},
      {69, "a Blosc block as it should be", stored(kBlosc, blosc_block(20)), read_it, reads()},
      {69, "a Blosc block beyond the end", stored(kBlosc, blosc_block(0x7ffffff0)), read_it, corrupt_chunk},
      {69, "a Blosc block before the beginning", stored(kBlosc, blosc_block(0xfffffff0)), read_it, corrupt_chunk},
      {69, "a Blosc block in the header", stored(kBlosc, blosc_block(0)), read_it, corrupt_chunk},
      {70, "10 MiB where a Blosc chunk should be",
       [](World& world) { stored(kBlosc + ", " + kBlosc, blosc_bomb())(world); }, read_it, corrupt_chunk},
  };
}

std::string lz4(std::uint64_t size, const std::string& block) { return little(size, 4) + block; }

Make strings(const std::string& bytes) {
  return [bytes](World& world) {
    world.document(document_with(R"({"data_type": "string", "fill_value": "", "codecs": ["vlen-utf8"]})"));
    world.object(bytes);
  };
}
std::string thirty_two_strings(std::uint64_t last_length) {
  std::string bytes = little(32, 4);
  for (int i = 0; i < 31; ++i) bytes += little(0, 4);
  return bytes + little(last_length, 4) + "abc";
}

std::vector<Case> others() {
  const auto corrupt_chunk = [](std::string says) { return refused(corrupt_code, "'a/c/0/0': " + std::move(says)); };
  const std::string endless = "\xf0" + std::string(60'000, '\xff');
  return {
      {71, "an LZ4 block as it should be", stored(kLz4, lz4(64, "\xf0\x31" + content())), read_it, reads()},
      {71, "an LZ4 literal without end", stored(kLz4, lz4(64, endless)), read_it, corrupt_chunk("numcodecs.lz4")},
      {71, "an LZ4 size of 2^32-1", stored(kLz4, lz4(0xffffffff, "\xf0\x31" + content())), read_it,
       corrupt_chunk("numcodecs.lz4")},
      {71, "an LZ4 match before the beginning",
       stored(kLz4, lz4(64, std::string("\x1f"
                                        "x\xff\xff\x20\x00",
                                        6))),
       read_it, corrupt_chunk("numcodecs.lz4")},
      {59, "96 MiB in 1536 pages of GDeflate", [](World& world) { stored(kGdeflate, gdeflate_bomb())(world); }, read_it,
       corrupt_chunk("zarrs.gdeflate: decodes to more")},
      {72, "a checksummed chunk of 3 bytes", stored(kCrc, "abc"), read_it, corrupt_chunk("crc32c")},
      {72, "an empty checksummed chunk", stored(kCrc, ""), read_it, corrupt_chunk("crc32c")},
      {72, "a checksummed chunk with one bit changed",
       changed(kCrc, [](std::string& bytes) { bytes[9] = static_cast<char>(bytes[9] ^ 4); }), read_it,
       corrupt_chunk("crc32c")},
      {73, "a raw chunk of 63 bytes",
       changed(kCrc,
               [](std::string& bytes) {
                 bytes = content(63);
                 bytes += little(crc32c(std::as_bytes(std::span(bytes))), 4);
               }),
       read_it, corrupt_chunk("")},
      {74, "a raw chunk of 65 bytes",
       changed(kCrc,
               [](std::string& bytes) {
                 bytes = content(65);
                 bytes += little(crc32c(std::as_bytes(std::span(bytes))), 4);
               }),
       read_it, corrupt_chunk("")},
      {75, "strings as they should be", strings(thirty_two_strings(3)), read_it, reads()},
      {75, "a string longer than its chunk", strings(thirty_two_strings(4)), read_it, corrupt_chunk("vlen-utf8")},
      {75, "a string of 4 GiB", strings(thirty_two_strings(0xffffffff)), read_it, corrupt_chunk("vlen-utf8")},
      {75, "more strings than the chunk has", strings(little(0xffffffff, 4)), read_it, corrupt_chunk("vlen-utf8")},
      {75, "a string that leaves bytes over", strings(thirty_two_strings(2)), read_it, corrupt_chunk("vlen-utf8")},
  };
}

INSTANTIATE_TEST_SUITE_P(Zstd, Hostile, testing::ValuesIn(zstd()), name_of);
INSTANTIATE_TEST_SUITE_P(Deflate, Hostile, testing::ValuesIn(deflate()), name_of);
INSTANTIATE_TEST_SUITE_P(Blosc, Hostile, testing::ValuesIn(blosc_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(OtherCodecs, Hostile, testing::ValuesIn(others()), name_of);

}  // namespace codec_test
}  // namespace sherd::hostile
