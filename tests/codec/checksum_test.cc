// The checksums, and the codecs that add them to bytes.
#include "base/checksum.hpp"

#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry crc32c_codec, crc32_codec, adler32_codec, fletcher32_codec, jenkins_lookup3_codec;
}

namespace sherd::test {
namespace checksum_test {

const CodecEntry* const kChecksums[] = {&crc32c_codec, &crc32_codec, &adler32_codec, &fletcher32_codec,
                                        &jenkins_lookup3_codec};

TEST(Checksums, MatchTheirSpecifications) {
  const auto check = as_bytes("123456789");
  EXPECT_EQ(crc32c(check), 0xe3069283u);
  EXPECT_EQ(crc32(check), 0xcbf43926u);
  EXPECT_EQ(adler32(check), 0x091e01deu);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(adler32({}), 1u);
  EXPECT_EQ(fletcher32({}), 0u);
  EXPECT_EQ(xxh32({}, 0), 0x02cc5d05u);
  EXPECT_EQ(xxh32(check, 0), 0x937bad67u);
  EXPECT_EQ(xxh32(as_bytes("Nobody inspects the spammish repetition"), 0), 0xe2293b2fu);
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xff})), 0x62a8ab43u);
}

std::uint32_t crc_bit_by_bit(std::span<const std::byte> bytes, std::uint32_t polynomial) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? polynomial : 0);
  }
  return ~crc;
}

std::uint32_t fletcher_word_by_word(std::span<const std::byte> bytes) {
  std::uint64_t low = 0, high = 0;
  const auto step = [](std::uint64_t sum) { return sum > 65535 ? sum - 65535 : sum; };
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto second = i + 1 < bytes.size() ? static_cast<unsigned>(bytes[i + 1]) : 0u;
    low = step(low + (static_cast<unsigned>(bytes[i]) << 8 | second));
    high = step(high + low);
  }
  return static_cast<std::uint32_t>(high << 16 | low);
}

TEST(Checksums, AgreeWithTheirDefinitionsAtEveryLengthAndAlignment) {
  const Bytes bytes = noise(5000);
  for (const std::size_t size : {1, 2, 3, 7, 8, 15, 16, 31, 63, 64, 65, 255, 719, 720, 721, 1024, 1441, 3071, 4900}) {
    for (std::size_t at = 0; at < 9; ++at) {
      const auto part = std::span(bytes).subspan(at, size);
      EXPECT_EQ(crc32c(part), crc_bit_by_bit(part, 0x82f63b78u)) << size << " at " << at;
      EXPECT_EQ(crc32(part), crc_bit_by_bit(part, 0xedb88320u)) << size << " at " << at;
      EXPECT_EQ(fletcher32(part), fletcher_word_by_word(part)) << size << " at " << at;
    }
  }
  const Bytes ones(100000, std::byte{0xff});
  EXPECT_EQ(fletcher32(ones), fletcher_word_by_word(ones));
}

TEST(ChecksumCodecs, AddFourBytesAndRoundTrip) {
  for (const CodecEntry* entry : kChecksums) {
    const auto codec = try_bytes_codec(*entry).value();
    for (const std::size_t size : {0, 1, 2, 3, 1000, 100001}) {
      const Bytes bytes = noise(size);
      const Bytes packed = encoded(*codec, bytes);
      EXPECT_EQ(packed.size(), size + 4);
      EXPECT_EQ(codec->encoded_size(size), size + 4);
      EXPECT_EQ(decoded(*codec, packed, size).value(), bytes) << entry->name << " " << size;
      if (size > 0) {
        EXPECT_EQ(decoded(*codec, packed, size - 1).value(), std::nullopt);
      }
    }
  }
}

TEST(ChecksumCodecs, EveryFlippedBitIsCorrupt) {
  for (const CodecEntry* entry : kChecksums) {
    const auto codec = try_bytes_codec(*entry).value();
    const Bytes packed = encoded(*codec, noise(60));
    for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
      Bytes damaged = packed;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      EXPECT_EQ(code_of(decoded(*codec, damaged, 60)), ErrorCode::corrupt) << entry->name << " bit " << bit;
    }
  }
}

TEST(ChecksumCodecs, FewerThanFourBytesAreCorrupt) {
  for (const CodecEntry* entry : kChecksums)
    for (const std::size_t size : {0, 1, 3})
      EXPECT_EQ(code_of(decoded(*try_bytes_codec(*entry).value(), Bytes(size), 10)), ErrorCode::corrupt) << entry->name;
}

TEST(ChecksumCodecs, AreStoredAtTheConfiguredLocation) {
  const Bytes bytes = noise(50);
  for (const CodecEntry* entry : {&crc32_codec, &adler32_codec}) {
    const Bytes before = encoded(*try_bytes_codec(*entry).value(), bytes);
    const Bytes after = encoded(*try_bytes_codec(*entry, R"({"location": "end"})").value(), bytes);
    EXPECT_EQ(Bytes(before.begin() + 4, before.end()), bytes);
    EXPECT_EQ(Bytes(after.begin(), after.end() - 4), bytes);
    EXPECT_EQ(load_little<std::uint32_t>(before.data()), load_little<std::uint32_t>(after.data() + 50));
    EXPECT_EQ(code_of(try_bytes_codec(*entry, R"({"location": "middle"})")), ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(try_bytes_codec(adler32_codec, R"({"location": null})").has_value());
  EXPECT_EQ(code_of(try_bytes_codec(crc32c_codec, R"({"location": "end"})")), ErrorCode::unsupported)
      << "only numcodecs.crc32c has a location";
}

TEST(ChecksumCodecs, JenkinsStartsFromItsInitialValue) {
  const Bytes bytes = noise(50);
  const Bytes zero =
      encoded(*try_bytes_codec(jenkins_lookup3_codec, R"({"initval": 0, "prefix": null})").value(), bytes);
  EXPECT_EQ(encoded(*try_bytes_codec(jenkins_lookup3_codec).value(), bytes), zero);
  EXPECT_NE(encoded(*try_bytes_codec(jenkins_lookup3_codec, R"({"initval": 1})").value(), bytes), zero);
  EXPECT_EQ(code_of(try_bytes_codec(jenkins_lookup3_codec, R"({"initval": 4294967296})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(jenkins_lookup3_codec, R"({"prefix": "AAAA"})")), ErrorCode::unsupported);
}

}  // namespace checksum_test
}  // namespace sherd::test
