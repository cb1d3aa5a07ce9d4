// conditional: chunks written by hand from its registration (zarr-extensions, codecs/conditional/README.md).
#include <gmock/gmock.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd::test {
namespace conditional_test {

const std::string kShuffle = R"({"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}})";
const std::string kZlib = R"({"name": "numcodecs.zlib", "configuration": {"level": 1}})";
const std::string kZstd = R"({"name": "zstd", "configuration": {"level": 1, "checksum": false}})";
const std::string kCrc = R"({"name": "crc32c"})";

std::string conditional(std::string_view codecs, std::string_view more = "") {
  return R"(["bytes", {"name": "conditional", "configuration": {"codecs": [)" + std::string(codecs) + "]" +
         std::string(more) + "}}]";
}

Result<CodecChain> chain_of(std::string_view codecs, std::uint64_t size = 4096) {
  return CodecChain::build(parse_codec_list(json(codecs)).value(), tables().codecs, {DType::uint8, {size}}, {});
}

Bytes encoded(const CodecChain& chain, const Bytes& elements) {
  Buffer to;
  chain.encode({elements.size()}, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

Result<Bytes> decoded(const CodecChain& chain, const Bytes& stored, std::size_t size = 4096) {
  Bytes elements(size);
  auto done = chain.decode({size}, stored, elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

Bytes with_header(std::initializer_list<int> header, const Bytes& rest) {
  Bytes all;
  for (const int byte : header) all.push_back(static_cast<std::byte>(byte));
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST(Conditional, TheHeaderSaysWhatWasApplied) {
  const Bytes chunk = runs(4096);
  const auto chain = chain_of(conditional(kShuffle + ", " + kZstd + ", " + kCrc)).value();
  const auto plain = chain_of(R"(["bytes", )" + kShuffle + ", " + kZstd + ", " + kCrc + "]").value();
  EXPECT_EQ(encoded(chain, chunk), with_header({0b111}, encoded(plain, chunk)));
  EXPECT_EQ(decoded(chain, encoded(chain, chunk)).value(), chunk);
  const auto wide = chain_of(conditional(kZstd, R"(, "header_bits": 16)")).value();
  const auto zstd = chain_of(R"(["bytes", )" + kZstd + "]").value();
  EXPECT_EQ(encoded(wide, chunk), with_header({1, 0}, encoded(zstd, chunk)));
}

TEST(Conditional, CompressorsThatMakeNothingSmallerAreNotApplied) {
  const Bytes chunk = noise(4096);
  const auto chain = chain_of(conditional(kZstd + ", " + kZlib)).value();
  EXPECT_EQ(encoded(chain, chunk), with_header({0}, chunk));
  // zlib cannot compress the output of zstd, nor zstd noise; the checksum is applied nevertheless.
  const auto checked = chain_of(conditional(kZstd + ", " + kZlib + ", " + kCrc)).value();
  EXPECT_EQ(encoded(checked, chunk).front(), std::byte{0b100});
  EXPECT_EQ(decoded(checked, encoded(checked, chunk)).value(), chunk);
  const auto nothing = chain_of(conditional("")).value();
  EXPECT_EQ(encoded(nothing, chunk), chunk);
  EXPECT_EQ(decoded(nothing, chunk).value(), chunk);
}

TEST(Conditional, ReadsEveryCombination) {
  const Bytes chunk = runs(4096);
  const std::string codecs[] = {kShuffle, kZlib, kZstd, kZlib, kCrc};
  std::string all;
  for (const auto& codec : codecs) all += (all.empty() ? "" : ", ") + codec;
  const auto chain = chain_of(conditional(all)).value();
  for (int mask = 0; mask < 32; ++mask) {
    std::string list = R"(["bytes")";
    for (int i = 0; i < 5; ++i)
      if ((mask >> i & 1) != 0) list += ", " + codecs[i];
    const Bytes stored = with_header({mask}, encoded(chain_of(list + "]").value(), chunk));
    EXPECT_EQ(decoded(chain, stored).value(), chunk) << mask;
  }
}

TEST(Conditional, ChunksThatLieAreRefused) {
  const Bytes chunk = runs(4096);
  const auto chain = chain_of(conditional(kZstd + ", " + kZlib)).value();
  const auto zstd = encoded(chain_of(R"(["bytes", )" + kZstd + "]").value(), chunk);
  const auto huge = encoded(chain_of(R"(["bytes", )" + kZlib + "]", 1 << 22).value(), Bytes(1 << 22));
  const std::pair<const char*, Bytes> rows[] = {
      {"no header", {}},
      {"a codec that the document does not list", with_header({0b101}, zstd)},
      {"not what the header says", with_header({0b10}, zstd)},
      {"nothing was applied, and a byte is missing", with_header({0}, Bytes(4095))},
      {"and a byte too many", with_header({0}, Bytes(4097))},
      {"a step decodes to more than a chunk can need", with_header({0b11}, huge)},
      {"the first step does", with_header({0b10}, huge)},
  };
  for (const auto& [what, stored] : rows) {
    const auto read = decoded(chain, stored);
    ASSERT_FALSE(read) << what;
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt) << what << ": " << read.error().text();
  }
}

TEST(Conditional, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view configuration) {
    const auto chain =
        chain_of(R"(["bytes", {"name": "conditional", "configuration": )" + std::string(configuration) + "}]");
    return chain ? "" : chain.error().member();
  };
  const std::string at = "[1].configuration.";
  EXPECT_EQ(member("{}"), at + "codecs");
  EXPECT_EQ(member(R"({"codecs": ["transpose"]})"), at + "codecs[0].name");
  EXPECT_EQ(member(R"({"codecs": ["crc32c", "nothing"]})"), at + "codecs[1].name");
  EXPECT_EQ(member(R"({"codecs": ["crc32c", {"name": "conditional", "configuration": {"codecs": []}}]})"),
            at + "codecs[1].name");
  EXPECT_EQ(member(R"({"codecs": [{"name": "zstd", "configuration": {"level": 99, "checksum": false}}]})"),
            at + "codecs[0].configuration.level");
  EXPECT_EQ(member(R"({"codecs": ["crc32c"], "header_bits": 12})"), at + "header_bits");
  EXPECT_EQ(member(R"({"codecs": ["crc32c"], "header_bits": 0})"), at + "header_bits");
  EXPECT_EQ(member(R"({"codecs": ["crc32c"], "header_bits": 8589934592})"), at + "header_bits");
  EXPECT_EQ(member(R"({"codecs": ["crc32c"], "mask": 1})"), at + "mask");
}

}  // namespace conditional_test
}  // namespace sherd::test
