// The encodings of the precomputed format against chunks that cloud-volume, tensorstore and Pillow wrote
// (tests/data/codec/make_precomputed_chunks.py); and that Zarr does not know them.
#include <gmock/gmock.h>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "neuroglancer/codecs.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {
namespace precomputed_golden_test {

struct Case {
  std::string writer;
  CodecSpec spec;
  ChunkType type;
  Bytes elements, encoded;
};

std::vector<Case> read_cases() {
  std::ifstream file(test_data("codec/precomputed_chunks.json"));
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Case> cases;
  const Json document = Json::parse(text.str()).value();
  for (const Json& row : document.find("cases")->elements()) {
    const Json& codec = *row.find("codec");
    Case c{row.find("writer")->text(),
           {codec.find("name")->text(), *codec.find("configuration")},
           {DType::parse(row.find("dtype")->text()).value(), {}},
           from_hex(row.find("elements")->text()),
           from_hex(row.find("encoded")->text())};
    for (const Json& extent : row.find("shape")->elements()) c.type.shape.push_back(*extent.as_uint());
    cases.push_back(std::move(c));
  }
  return cases;
}

TEST(PrecomputedChunks, OfOtherWritersAreReadAndAreNotSmaller) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 30u);
  const Limits limits;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.writer + ": " + c.spec.name + " " + c.spec.configuration.dump() + " on " + c.type.dtype.name() +
                 " " + to_string(c.type.shape));
    const CodecEntry* entry = find_codec(precomputed_codecs(), c.spec.name);
    ASSERT_NE(entry, nullptr);
    const auto codec = entry->array_bytes_codec(c.spec, {c.type, &limits}).value();
    codec->check(c.type).value();
    Bytes read(c.elements.size(), std::byte{0xaa});
    codec->decode(c.type, c.encoded, read, nullptr).value();
    EXPECT_EQ(read, c.elements);
    if (const auto most = codec->max_encoded_size(c.type)) {
      EXPECT_LE(c.encoded.size(), *most);
    }

    Buffer ours;
    codec->encode(c.type, c.elements, ours).value();
    if (c.spec.name == "jpeg") continue;
    if (c.spec.name == "compressed_segmentation") {
      EXPECT_LE(ours.size(), c.encoded.size());
    }
    Bytes again(c.elements.size(), std::byte{0xaa});
    codec->decode(c.type, ours.span(), again, nullptr).value();
    EXPECT_EQ(again, c.elements);
  }
}

TEST(PrecomputedChunks, HaveEncodingsThatAreUnknownToZarr) {
  const Limits limits;
  for (const std::string name : {"compressed_segmentation", "jpeg", "png"}) {
    const std::vector<CodecSpec> specs{{name, json(name.size() > 4 ? R"({"block_size": [8, 8, 8]})" : "{}")}};
    const DType dtype = name.size() > 4 ? DType::uint64 : DType::uint8;
    EXPECT_TRUE(CodecChain::build(specs, precomputed_codecs(), {dtype, {1, 1, 1, 1}}, limits)) << name;
    const auto refused = CodecChain::build(specs, tables().codecs, {dtype, {1, 1, 1, 1}}, limits);
    EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("unknown codec '" + name + "'"));
  }
}

// A few bytes of gzip that would decode to far more than any writer produces for the chunk are not decoded into memory.
TEST(PrecomputedChunks, DecodeToABoundedSize) {
  Limits limits;
  const Shape shape{1, 8, 8, 8};
  const std::vector<CodecSpec> specs{{"compressed_segmentation", json(R"({"block_size": [8, 8, 8]})")}, {"gzip", {}}};
  const auto chain = CodecChain::build(specs, precomputed_codecs(), {DType::uint64, shape}, limits).value();
  EXPECT_LT(chain.max_encoded_size(shape), 100'000u);
  const CodecEntry* gzip = find_codec(tables().codecs, "gzip");
  const Bytes bomb = encoded(*bytes_codec(*gzip, R"({"level": 9})"), Bytes(std::size_t{8} << 20));
  ASSERT_LT(bomb.size(), 10'000u);
  Bytes elements(512 * 8);
  const auto result = chain.decode(shape, bomb, elements, nullptr);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), testing::HasSubstr("decodes to more than"));
}

}  // namespace precomputed_golden_test
}  // namespace sherd::test
