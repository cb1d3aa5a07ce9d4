// zarrs.vlen: chunks that the crate zarrs wrote (tests/data/codec/zarrs_chunks), and chunks that lie.
#include <gmock/gmock.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {
namespace zarrs_vlen_test {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

constexpr std::string_view kPlain =
    R"([{"name": "zarrs.vlen", "configuration": {"data_codecs": ["bytes"],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_data_type": "uint32"}}])";

Result<CodecChain> chain_of(const Json& codecs, std::size_t count, const DType& dtype = DType::string,
                            const Limits& limits = {}) {
  return CodecChain::build(parse_codec_list(codecs).value(), tables().codecs, {dtype, {count}}, limits);
}
Bytes encoded(const CodecChain& chain, const Texts& texts) {
  std::vector<VarBytes> elements;
  for (const std::string& text : texts) elements.push_back({text.data(), text.size()});
  Buffer to;
  chain.encode({texts.size()}, std::as_bytes(std::span(elements)), to).value();
  return {to.span().begin(), to.span().end()};
}
Result<Texts> decoded(const CodecChain& chain, std::span<const std::byte> stored, std::size_t count) {
  VarBytesArena arena;
  std::vector<VarBytes> elements(count);
  if (auto done = chain.decode({count}, stored, std::as_writable_bytes(std::span(elements)), &arena); !done)
    return std::move(done).error();
  Texts texts;
  for (const VarBytes& each : elements) texts.emplace_back(each.view());
  return texts;
}

TEST(ZarrsVlen, ChunksOfZarrsAreReadAndReproduced) {
  std::ifstream file(test_data("codec/zarrs_chunks.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json rows = Json::parse(text.str()).value();
  int read = 0;
  for (const Json& row : rows.elements()) {
    const Json* stated = row.find("texts");
    if (stated == nullptr) continue;
    Texts texts;
    for (const Json& each : stated->elements()) texts.push_back(each.text());
    const Bytes stored = from_hex(row.find("encoded")->text());
    for (const DType& dtype : {DType::string, DType::bytes}) {
      const auto chain = chain_of(*row.find("codecs"), texts.size(), dtype).value();
      EXPECT_EQ(decoded(chain, stored, texts.size()).value(), texts);
      EXPECT_EQ(decoded(chain, encoded(chain, texts), texts.size()).value(), texts);
    }
    // Compressors of another version may find other bytes.
    if (row.find("codecs")->dump().find("zstd") == std::string::npos) {
      EXPECT_EQ(encoded(chain_of(*row.find("codecs"), texts.size()).value(), texts), stored);
    }
    ++read;
  }
  EXPECT_EQ(read, 8);
}

TEST(ZarrsVlen, EmptyElementsStoreNoData) {
  const auto chain = chain_of(json(kPlain), 2).value();
  const Bytes stored = encoded(chain, {"", ""});
  EXPECT_EQ(stored, from_hex("0c00000000000000" + std::string(24, '0')));
  EXPECT_EQ(decoded(chain, stored, 2).value(), (Texts{"", ""}));
}

TEST(ZarrsVlen, ChunksThatLieAreRefused) {
  const auto chain = chain_of(json(kPlain), 2).value();
  ASSERT_EQ(encoded(chain, {"ab", "c"}), from_hex("0c00000000000000000000000200000003000000616263"));
  const struct {
    const char *stored, *text;
  } rows[] = {
      {"0c000000000000", "a length has 8 bytes"},
      {"0d00000000000000000000000200000003000000", "states an index of 13 bytes"},
      {"ffffffffffffffff000000000200000003000000", "states an index of"},
      {"0800000000000000000000000200000003000000616263", "index"},
      {"0c00000000000000000000000300000002000000616263", "item 1 ends before it begins"},
      {"0c000000000000000000000002000000030000006162", "data"},
      {"0c00000000000000000000000200000003000000616263ff", "data"},
      {"0c00000000000000000000000000000000000000616263", "all elements are empty"},
      {"0c00000000000000000000000200000003000000ff6263", "item 0 is not valid UTF-8"},
  };
  for (const auto& row : rows) {
    const auto refused = decoded(chain, from_hex(row.stored), 2);
    EXPECT_EQ(code_of(refused), ErrorCode::corrupt) << row.stored;
    EXPECT_THAT(refused.error().text(), HasSubstr(row.text));
  }
}

TEST(ZarrsVlen, MoreBytesThanTheLimitAreNotAllocated) {
  Limits limits;
  limits.chunk_bytes = 100;
  const auto chain = chain_of(json(kPlain), 2, DType::string, limits).value();
  const auto refused = decoded(chain, from_hex("0c000000000000000000000002000000ffffff7f616263"), 2);
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("chunk_bytes"));
}

TEST(ZarrsVlen, ConfigurationsNameTheirMembers) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(kPlain);
    text.replace(text.find(from), from.size(), to);
    return json(text);
  };
  const struct {
    Json codecs;
    std::string_view member;
    ErrorCode code;
  } rows[] = {
      {with("uint32", "uint8"), "[0].configuration.index_data_type", ErrorCode::invalid_argument},
      {with("\"uint32\"", "\"uint32\", \"index_location\": \"middle\""), "[0].configuration.index_location",
       ErrorCode::invalid_argument},
      {with("\"data_codecs\"", "\"codecs\""), "[0].configuration.data_codecs", ErrorCode::invalid_argument},
      {with("[\"bytes\"]", "[\"bytes\", \"nonesuch\"]"), "[0].configuration.data_codecs[1].name",
       ErrorCode::unsupported},
      {with("\"uint32\"", "\"uint32\", \"more\": 1"), "[0].configuration.more", ErrorCode::unsupported},
  };
  for (const auto& row : rows) {
    const auto refused = chain_of(row.codecs, 2);
    ASSERT_FALSE(refused) << row.member;
    EXPECT_EQ(refused.error().code(), row.code);
    EXPECT_EQ(refused.error().member(), row.member);
  }
  EXPECT_EQ(code_of(chain_of(json(kPlain), 2, DType::uint16)), ErrorCode::invalid_argument);
}

}  // namespace zarrs_vlen_test
}  // namespace sherd::test
