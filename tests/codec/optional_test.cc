// zarrs.optional: chunks that zarrs wrote (zarrs, tests/data/v3/array_optional.zarr and array_optional_nested.zarr of
// 2026), and what no writer makes.
#include <gmock/gmock.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd::test {
namespace optional_test {

using ::testing::HasSubstr;

const DType kMaybe = *DType::optional(DType::uint8);
const DType kTwice = *DType::optional(kMaybe);
constexpr std::string_view kPlain =
    R"([{"name": "optional", "configuration": {"mask_codecs": [{"name": "packbits"}], "data_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}]}}])";
constexpr std::string_view kNested =
    R"([{"name": "optional", "configuration": {"mask_codecs": [{"name": "packbits"}], "data_codecs":
        [{"name": "optional", "configuration": {"mask_codecs": [{"name": "packbits"}], "data_codecs":
          [{"name": "bytes", "configuration": {"endian": "little"}}]}}]}}])";

Result<CodecChain> chain_of(std::string_view codecs, const DType& dtype, const Shape& shape = {2, 2}) {
  const auto specs = parse_codec_list(json(codecs)).value();
  return CodecChain::build(specs, tables().codecs, {dtype, shape}, {});
}

Result<Bytes> decoded(const CodecChain& chain, std::string_view stored, std::size_t size) {
  Bytes elements(size, std::byte{0xaa});
  auto done = chain.decode({2, 2}, from_hex(stored), elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

struct Row {
  const char* stored;
  const char* elements;
};

void expect_rows(const CodecChain& chain, std::span<const Row> rows) {
  for (const Row& row : rows) {
    const Bytes elements = from_hex(row.elements);
    EXPECT_EQ(decoded(chain, row.stored, elements.size()).value(), elements) << row.stored;
    Buffer to;
    chain.encode({2, 2}, elements, to).value();
    EXPECT_EQ(Bytes(to.span().begin(), to.span().end()), from_hex(row.stored));
  }
}

TEST(Optional, ChunksAreThoseOfZarrs) {
  const Row rows[] = {
      {"01000000000000000200000000000000090005", "0001000000000501"},
      {"010000000000000003000000000000000b020307", "0201030100000701"},
      {"0100000000000000030000000000000007"
       "08090c",
       "0801090"
       "10c010000"},
      {"0100000000000000000000000000000000", "0000000000000000"},
  };
  expect_rows(chain_of(kPlain, kMaybe).value(), rows);
}

TEST(Optional, NestedChunksAreThoseOfZarrs) {
  const Row rows[] = {
      {"010000000000000012000000000000000a"
       "010000000000000001000000000000000205",
       "000000000001000000050101"},
      {"010000000000000014000000000000000b"
       "0100000000000000030000000000000007020307",
       "020101030101000000070101"},
  };
  expect_rows(chain_of(kNested, kTwice).value(), rows);
}

TEST(Optional, EachPartHasCodecsOfItsOwn) {
  const std::string zstd = R"({"name": "zstd", "configuration": {"level": 1, "checksum": true}})";
  const auto chain = chain_of(R"([{"name": "zarrs.optional", "configuration": {"mask_codecs": ["bytes", )" + zstd +
                                  R"(], "data_codecs": [{"name": "cast_value", "configuration": {"data_type": "int8"}},
                                  "bytes", )" +
                                  zstd + "]}}, " + zstd + "]",
                              *DType::optional(DType::float32))
                         .value();
  const Bytes elements = from_hex(
      "0000803f01"
      "0000000000"
      "000000c001"
      "0000000001");
  Buffer to;
  chain.encode({2, 2}, elements, to).value();
  Bytes back(elements.size());
  chain.decode({2, 2}, to.span(), back, nullptr).value();
  EXPECT_EQ(back, elements);
}

TEST(Optional, ChunksThatNoWriterMakesAreCorrupt) {
  const auto chain = chain_of(kPlain, kMaybe).value();
  for (const char* stored : {
           "", "0100000000000000", "01000000000000000200000000000000",
           "010000000000000002000000000000000900",      // a value short
           "01000000000000000200000000000000090005ff",  // a byte more
           "ffffffffffffffff0300000000000000090005",    // lengths that wrap
           "0300000000000000feffffffffffffff090005",    // as above
           "03000000000000000000000000000000090005",    // all of it is the mask
           "010000000000000002000000000000000b0005",    // three present, two values
           "010000000000000001000000000000000005",      // none present, a value
       }) {
    const auto read = decoded(chain, stored, 8);
    ASSERT_FALSE(read) << stored;
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt) << stored << ": " << read.error().text();
  }
}

TEST(Optional, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view configuration, const DType& dtype) {
    return chain_of(R"([{"name": "optional", "configuration": )" + std::string(configuration) + "}]", dtype)
        .error()
        .member();
  };
  const std::string at = "[0].configuration.";
  EXPECT_EQ(member("{}", kMaybe), at + "mask_codecs");
  EXPECT_EQ(member(R"({"mask_codecs": ["packbits"]})", kMaybe), at + "data_codecs");
  EXPECT_EQ(member(R"({"mask_codecs": [], "data_codecs": ["bytes"]})", kMaybe), at + "mask_codecs");
  EXPECT_EQ(member(R"({"mask_codecs": ["packbits"], "data_codecs": ["zarrs.optional"]})", kMaybe),
            at + "data_codecs[0]");
  EXPECT_EQ(member(R"({"mask_codecs": ["packbits"], "data_codecs": ["bytes"]})", kTwice), at + "data_codecs[0]");
  EXPECT_EQ(member(R"({"mask_codecs": ["packbits"], "data_codecs": ["bytes"], "more": 1})", kMaybe), at + "more");
  EXPECT_EQ(member(R"({"mask_codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, "packbits"],
                       "data_codecs": ["bytes"]})",
                   kMaybe),
            at + "mask_codecs");
  EXPECT_THAT(chain_of(kPlain, DType::uint8).error().message(), HasSubstr("optional type, not uint8"));
}

}  // namespace optional_test
}  // namespace sherd::test
