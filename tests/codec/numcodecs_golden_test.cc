// Bytes that numcodecs wrote are read; if the encoding is canonical, the same bytes are written
// (tests/data/codec/numcodecs_golden.py).
#include <fstream>
#include <sstream>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry blosc_codec, numcodecs_blosc_codec, lz4_codec, bz2_codec, lzma_codec, shuffle_codec,
    delta_codec, fixedscaleoffset_codec, quantize_codec, numcodecs_bitround_codec, astype_codec, jenkins_lookup3_codec,
    numcodecs_packbits_codec;

namespace test {
namespace numcodecs_golden_test {

constexpr const CodecEntry* kTable[] = {&blosc_codec,
                                        &numcodecs_blosc_codec,
                                        &lz4_codec,
                                        &bz2_codec,
                                        &lzma_codec,
                                        &shuffle_codec,
                                        &delta_codec,
                                        &fixedscaleoffset_codec,
                                        &quantize_codec,
                                        &numcodecs_bitround_codec,
                                        &astype_codec,
                                        &jenkins_lookup3_codec,
                                        &numcodecs_packbits_codec};

struct Case {
  CodecSpec spec;
  ChunkType type;
  Bytes decoded;
  Bytes encoded;
  Bytes read;
  bool exact = false;
};

Case read_case(const Json& json) {
  Case c;
  const Json& codec = *json.find("codec");
  c.spec = {codec.find("name")->text(), *codec.find("configuration")};
  c.type.dtype = DType::parse(json.find("dtype")->text()).value();
  for (const Json& extent : json.find("shape")->elements()) c.type.shape.push_back(*extent.as_uint());
  c.decoded = from_hex(json.find("decoded")->text());
  c.encoded = from_hex(json.find("encoded")->text());
  const Json* read = json.find("read");
  c.read = read != nullptr ? from_hex(read->text()) : c.decoded;
  c.exact = *json.find("exact")->as_bool();
  return c;
}

std::vector<Case> read_cases() {
  std::ifstream file(test_data("codec/numcodecs_golden.json"));
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Case> cases;
  const Json document = Json::parse(text.str()).value();
  for (const Json& json : document.find("cases")->elements()) cases.push_back(read_case(json));
  return cases;
}

void check_bytes_codec(const CodecEntry& entry, const Case& c) {
  const Limits limits;
  const auto codec = entry.bytes_codec(c.spec, {c.type, &limits}).value();
  EXPECT_EQ(decoded(*codec, c.encoded, c.decoded.size()).value(), c.read);
  const Bytes own = encoded(*codec, c.decoded);
  if (c.exact) {
    EXPECT_EQ(own, c.encoded);
  }
  EXPECT_EQ(decoded(*codec, own, c.decoded.size()).value(), c.decoded);
}

void check_array_codec(const CodecEntry& entry, const Case& c) {
  const Limits limits;
  const auto codec = entry.array_codec(c.spec, {c.type, &limits}).value();
  const ChunkType out = codec->encoded_type(c.type).value();
  Bytes stored(element_count(out.shape).value() * out.dtype.size());
  ASSERT_EQ(stored.size(), c.encoded.size());
  EXPECT_TRUE(codec->encode(c.type, c.decoded, stored).has_value());
  EXPECT_EQ(stored, c.encoded);
  Bytes read(c.decoded.size());
  EXPECT_TRUE(codec->decode(c.type, c.encoded, read).has_value());
  EXPECT_EQ(read, c.read);
}

TEST(Numcodecs, EncodedBytesAreReadAndReproduced) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 950u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec.name + " " + c.spec.configuration.dump() + " on " + c.type.dtype.name() + " x " +
                 std::to_string(c.type.shape[0]));
    const CodecEntry* entry = find_codec(kTable, c.spec.name);
    ASSERT_NE(entry, nullptr);
    if (entry->bytes_codec != nullptr)
      check_bytes_codec(*entry, c);
    else
      check_array_codec(*entry, c);
    if (HasFailure()) return;
  }
}

TEST(Numcodecs, BareNamesAreAliases) {
  for (const std::string_view name :
       {"lz4", "bz2", "lzma", "shuffle", "delta", "fixedscaleoffset", "quantize", "astype", "jenkins_lookup3"}) {
    const CodecEntry* entry = find_codec(kTable, name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(entry->name, "numcodecs." + std::string(name));
  }
}

}  // namespace numcodecs_golden_test
}  // namespace test
}  // namespace sherd
