// zfp: streams of zfpy (tests/data/codec/make_zfp_streams.py), the modes and types that zfpy lacks, and streams that
// lie.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {
namespace zfp_test {

using ::testing::HasSubstr;

struct Stream {
  std::string codec;
  DType dtype;
  Shape shape;
  Bytes elements, read, encoded;
};

std::vector<Stream> streams() {
  std::ifstream file(test_data("codec/zfp_streams.json"));
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Stream> all;
  const Json document = Json::parse(text.str()).value();
  for (const Json& row : document.elements()) {
    Shape shape;
    for (const Json& extent : row.find("shape")->elements()) shape.push_back(*extent.as_uint());
    const auto bytes = [&](const char* member) { return from_hex(row.find(member)->text()); };
    all.push_back({row.find("codec")->dump(), DType::parse(row.find("dtype")->text()).value(), shape, bytes("elements"),
                   bytes("read"), bytes("encoded")});
  }
  return all;
}

Result<CodecChain> chain_of(std::string_view codec, const DType& dtype, const Shape& shape) {
  const auto specs = parse_codec_list(json("[" + std::string(codec) + "]")).value();
  return CodecChain::build(specs, tables().codecs, {dtype, shape}, {});
}
std::string zfp(std::string_view configuration) {
  return R"({"name": "zfp", "configuration": )" + std::string(configuration) + "}";
}

Result<Bytes> encoded(const CodecChain& chain, const Shape& shape, std::span<const std::byte> elements) {
  Buffer to;
  if (auto done = chain.encode(shape, elements, to); !done) return std::move(done).error();
  return Bytes(to.span().begin(), to.span().end());
}
Result<Bytes> decoded(const CodecChain& chain, const Shape& shape, std::span<const std::byte> stored,
                      std::size_t size) {
  Bytes elements(size);
  if (auto done = chain.decode(shape, stored, elements, nullptr); !done) return std::move(done).error();
  return elements;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// The result of encoding and decoding a line of numbers.
template <class T>
Result<std::vector<T>> round_trip(std::string_view configuration, const DType& dtype, const std::vector<T>& values) {
  const Shape shape{values.size()};
  const auto chain = chain_of(zfp(configuration), dtype, shape).value();
  auto stored = encoded(chain, shape, bytes_of(values));
  if (!stored) return std::move(stored).error();
  const Bytes back = decoded(chain, shape, *stored, values.size() * sizeof(T)).value();
  std::vector<T> read(values.size());
  std::memcpy(read.data(), back.data(), back.size());
  return read;
}

bool is_built() { return chain_of(zfp(R"({"mode": "reversible"})"), DType::float32, {4}).has_value(); }

class Zfp : public testing::Test {
 protected:
  void SetUp() override {
    if (is_built()) return;
    if (std::getenv("SHERD_CI") != nullptr) FAIL() << "libzfp-dev is not installed; run script/bootstrap";
    GTEST_SKIP() << "libzfp-dev is not installed; run script/bootstrap";
  }
};

TEST_F(Zfp, StreamsOfZfpyAreReadAndReproduced) {
  const auto all = streams();
  EXPECT_EQ(all.size(), 120u);
  for (const Stream& each : all) {
    SCOPED_TRACE(each.codec + " " + each.dtype.name() + " " + to_string(each.shape));
    const auto chain = chain_of(each.codec, each.dtype, each.shape).value();
    EXPECT_EQ(decoded(chain, each.shape, each.encoded, each.read.size()).value(), each.read);
    EXPECT_EQ(encoded(chain, each.shape, each.elements).value(), each.encoded);
    EXPECT_LE(each.encoded.size(), chain.max_encoded_size(each.shape));
  }
}

// Builds of libzfp with one-byte words omit the zeros that fill the last eight bytes.
TEST_F(Zfp, StreamsOfAnyOtherLengthAreCorrupt) {
  for (const Stream& each : streams()) {
    if (each.shape.size() != 2) continue;
    const auto chain = chain_of(each.codec, each.dtype, each.shape).value();
    Bytes longer = each.encoded;
    longer.insert(longer.end(), 8, std::byte{0});
    EXPECT_EQ(code_of(decoded(chain, each.shape, longer, each.read.size())), ErrorCode::corrupt);
    for (std::size_t size = 0; size < each.encoded.size(); ++size) {
      const auto cut = decoded(chain, each.shape, std::span(each.encoded).first(size), each.read.size());
      if (cut) {
        EXPECT_GT(size + 8, each.encoded.size());
        EXPECT_EQ(*cut, each.read) << each.codec << " " << size;
      } else {
        EXPECT_EQ(cut.error().code(), ErrorCode::corrupt);
      }
    }
  }
}

// The promotions are those of the registration: shifted to the upper bits of an int32, moved by half the range.
TEST_F(Zfp, SmallIntegersAndTimesRoundTrip) {
  const std::string_view reversible = R"({"mode": "reversible"})";
  const std::vector<std::int8_t> i1{-128, -1, 0, 1, 127};
  const std::vector<std::uint8_t> u1{0, 1, 127, 128, 255};
  const std::vector<std::int16_t> i2{-32768, -1, 0, 1, 32767};
  const std::vector<std::uint16_t> u2{0, 1, 32767, 32768, 65535};
  const std::vector<std::uint32_t> u4{0, 1, 0x7fffffff};
  const std::vector<std::uint64_t> u8{0, 1, 0x7fffffffffffffff};
  const std::vector<std::int64_t> times{std::numeric_limits<std::int64_t>::min(), 0, 5};
  EXPECT_EQ(round_trip(reversible, DType::int8, i1).value(), i1);
  EXPECT_EQ(round_trip(reversible, DType::uint8, u1).value(), u1);
  EXPECT_EQ(round_trip(reversible, DType::int16, i2).value(), i2);
  EXPECT_EQ(round_trip(reversible, DType::uint16, u2).value(), u2);
  EXPECT_EQ(round_trip(reversible, DType::uint32, u4).value(), u4);
  EXPECT_EQ(round_trip(reversible, DType::uint64, u8).value(), u8);
  EXPECT_EQ(round_trip(reversible, DType::datetime64("s").value(), times).value(), times);
  // The stream is that of the promoted numbers: 127 << 23 is 1065353216, (255 - 128) << 23 too.
  const auto words = encoded(chain_of(zfp(reversible), DType::int32, {2}).value(), {2},
                             bytes_of(std::vector<std::int32_t>{1065353216, -1073741824}));
  EXPECT_EQ(encoded(chain_of(zfp(reversible), DType::int8, {2}).value(), {2}, from_hex("7f80")).value(), *words);
  EXPECT_EQ(encoded(chain_of(zfp(reversible), DType::uint8, {2}).value(), {2}, from_hex("ff00")).value(), *words);
}

TEST_F(Zfp, IntegersThatAreTooLargeAndNumbersThatAreNotFiniteAreRefused) {
  const auto big = round_trip<std::uint32_t>(R"({"mode": "reversible"})", DType::uint32, {1, 0x80000000});
  EXPECT_EQ(code_of(big), ErrorCode::invalid_argument);
  EXPECT_THAT(big.error().text(), ::testing::EndsWith("the largest integer of 32 bits that can is 2147483647"));
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto lossy = round_trip<double>(R"({"mode": "fixed_accuracy", "tolerance": 0.1})", DType::float64, {1, odd});
    EXPECT_EQ(code_of(lossy), ErrorCode::invalid_argument);
    EXPECT_THAT(lossy.error().text(), HasSubstr("only the mode reversible"));
    const auto kept = round_trip<double>(R"({"mode": "reversible"})", DType::float64, {1, odd}).value();
    EXPECT_EQ(std::memcmp(&kept[1], &odd, sizeof odd), 0);
  }
}

TEST_F(Zfp, ModesKeepWhatTheyPromise) {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(std::sin(static_cast<float>(i)));
  const auto error = [&](std::string_view configuration) {
    const auto read = round_trip(configuration, DType::float32, values).value();
    float most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) most = std::max(most, std::abs(values[i] - read[i]));
    return most;
  };
  EXPECT_LE(error(R"({"mode": "fixed_accuracy", "tolerance": 0.01})"), 0.01F);
  EXPECT_EQ(error(R"({"mode": "reversible"})"), 0);
  EXPECT_LE(error(R"({"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -10})"), 0.01F);
  const auto size = [&](std::string_view configuration) {
    return encoded(chain_of(zfp(configuration), DType::float32, {64}).value(), {64}, bytes_of(values)).value().size();
  };
  EXPECT_EQ(size(R"({"mode": "fixed_rate", "rate": 16})"), 64 * 16 / 8u);
  EXPECT_EQ(size(R"({"mode": "expert", "minbits": 64, "maxbits": 64, "maxprec": 64, "minexp": -1074})"), 128u)
      << "the same as the rate 16";
}

TEST_F(Zfp, AScalarIsEncodedAsALineOfOneElement) {
  const auto scalar = chain_of(zfp(R"({"mode": "reversible"})"), DType::float32, {}).value();
  const auto line = chain_of(zfp(R"({"mode": "reversible"})"), DType::float32, {1}).value();
  const Bytes value = bytes_of(std::vector<float>{1.5F});
  EXPECT_EQ(encoded(scalar, {}, value).value(), encoded(line, {1}, value).value());
  EXPECT_EQ(decoded(scalar, {}, encoded(scalar, {}, value).value(), 4).value(), value);
}

TEST_F(Zfp, AConfigurationSaysWhatIsWrongWithIt) {
  struct Case {
    std::string_view configuration, member, message;
    DType dtype = DType::float32;
    Shape shape = {8};
    ErrorCode code = ErrorCode::invalid_argument;
  };
  const Case cases[] = {
      {"{}", "configuration.mode", "missing"},
      {R"({"mode": "lossless"})", "configuration.mode", "not 'lossless'"},
      {R"({"mode": "fixed_rate"})", "configuration.rate", "must be a number above 0"},
      {R"({"mode": "fixed_rate", "rate": 0})", "configuration.rate", "above 0"},
      {R"({"mode": "fixed_rate", "rate": 1e9})", "configuration.rate", "16658 bits"},
      {R"({"mode": "fixed_accuracy", "tolerance": -1})", "configuration.tolerance", "0 or more"},
      {R"({"mode": "fixed_precision", "precision": 65})", "configuration.precision", "1 to 64"},
      {R"({"mode": "expert", "minbits": 9, "maxbits": 8, "maxprec": 1, "minexp": 0})", "configuration.minbits",
       "must not exceed 'maxbits'"},
      {R"({"mode": "expert", "minbits": 1, "maxbits": 9, "maxprec": 1, "minexp": 0})", "configuration.maxbits",
       "needs more than 9 bits"},
      {R"({"mode": "reversible", "tolerance": 1})",
       "configuration.tolerance",
       "tolerance",
       DType::float32,
       {8},
       ErrorCode::unsupported},
      {R"({"mode": "fixed_accuracy", "tolerance": 1})", "", "for floats", DType::int32, {8}, ErrorCode::unsupported},
      {R"({"mode": "reversible"})",
       "",
       "int32, int64, float32, float64 or times",
       DType::bool_,
       {8},
       ErrorCode::unsupported},
      {R"({"mode": "reversible"})", "", "at most 4 dimensions", DType::int32, {1, 1, 1, 1, 1}, ErrorCode::unsupported},
  };
  for (const Case& each : cases) {
    const auto refused = chain_of(zfp(each.configuration), each.dtype, each.shape);
    ASSERT_FALSE(refused) << each.configuration;
    EXPECT_EQ(refused.error().code(), each.code) << each.configuration;
    EXPECT_THAT(refused.error().member(), HasSubstr(each.member)) << each.configuration;
    EXPECT_THAT(refused.error().message(), HasSubstr(each.message)) << each.configuration;
  }
}

class Zfpy : public Zfp {
 protected:
  static CodecChain chain(const DType& dtype = DType::float32, const Shape& shape = {4, 6}) {
    return chain_of(R"({"name": "numcodecs.zfpy", "configuration": {"mode": 4, "tolerance": 0.01, "rate": -1,
                        "precision": -1, "compression_kwargs": {"tolerance": 0.01}}})",
                    dtype, shape)
        .value();
  }
};

TEST_F(Zfpy, StreamsAreReadInTheModeThatTheirHeaderStates) {
  const auto other = chain_of(R"({"name": "zfpy", "configuration": {"mode": 2, "rate": 12}})", DType::float32, {4, 6});
  const Bytes elements(96, std::byte{0x3f});
  const Bytes stored = encoded(*other, {4, 6}, elements).value();
  EXPECT_EQ(decoded(chain(), {4, 6}, stored, 96).value(), decoded(*other, {4, 6}, stored, 96).value());
}

TEST_F(Zfpy, StreamsOfAsManyNumbersInAnotherShapeAreRead) {
  const Bytes elements(96, std::byte{0x3f});
  const Bytes line = encoded(chain(DType::float32, {24}), {24}, elements).value();
  EXPECT_EQ(decoded(chain(), {4, 6}, line, 96).value(), decoded(chain(DType::float32, {24}), {24}, line, 96).value());
}

TEST_F(Zfpy, HeadersThatLieAreRefused) {
  const Bytes elements(96, std::byte{0x3f});
  const auto refusal = [](const Bytes& stored) {
    const auto answer = decoded(chain(), {4, 6}, stored, 96);
    EXPECT_EQ(code_of(answer), ErrorCode::corrupt);
    return answer.error().text();
  };
  EXPECT_THAT(refusal(encoded(chain(DType::int64), {4, 6}, Bytes(192)).value()), HasSubstr("another type"));
  const Shape more{4, 7};
  EXPECT_THAT(refusal(encoded(chain(DType::float32, more), more, Bytes(112)).value()), HasSubstr("28 numbers"));
  Bytes stored = encoded(chain(), {4, 6}, elements).value();
  stored[0] = std::byte{'Z'};
  EXPECT_THAT(refusal(stored), HasSubstr("does not begin with a header"));
}

// numcodecs' bitround makes integers of floats: tests/interop/numcodecs_test.py compares with it.
TEST_F(Zfpy, IntegersOfTheSameSizeAreTheBitsOfFloats) {
  Bytes elements(96);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(7 * i);
  const Bytes stored = encoded(chain(DType::int32), {4, 6}, elements).value();
  EXPECT_EQ(decoded(chain(DType::float32), {4, 6}, stored, 96).value(),
            decoded(chain(DType::int32), {4, 6}, stored, 96).value());
  EXPECT_EQ(code_of(decoded(chain(DType::int32), {4, 6}, encoded(chain(), {4, 6}, elements).value(), 96)),
            ErrorCode::corrupt);
}

// zfpy looks at the memory of NumPy's times as int64: tests/interop/zarr2_test.py compares with it.
TEST_F(Zfpy, TimesAreStoredAsTheirCounts) {
  Bytes elements(192);
  for (std::size_t i = 0; i < elements.size(); i += 8) elements[i] = static_cast<std::byte>(i);
  const Bytes counts = encoded(chain(DType::int64), {4, 6}, elements).value();
  for (const DType& dtype : {DType::datetime64("s").value(), DType::timedelta64("ns", 10).value()}) {
    EXPECT_EQ(encoded(chain(dtype), {4, 6}, elements).value(), counts);
    EXPECT_EQ(decoded(chain(dtype), {4, 6}, counts, 192).value(),
              decoded(chain(DType::int64), {4, 6}, counts, 192).value());
  }
}

TEST_F(Zfpy, IsForTheTypesOfZfpyAlone) {
  for (const DType& dtype : {DType::uint8, DType::int16, DType::uint32, DType::bool_}) {
    const auto refused = chain_of(R"({"name": "zfpy", "configuration": {"mode": 2, "rate": 12}})", dtype, {4});
    EXPECT_EQ(code_of(refused), ErrorCode::unsupported) << dtype.name();
  }
  const Shape large{1 << 12, 1 << 12, 1 << 17};
  EXPECT_EQ(code_of(chain_of(R"({"name": "zfpy", "configuration": {"mode": 2, "rate": 12}})", DType::float32, large)),
            ErrorCode::unsupported)
      << "the header has 16 bits for each of three dimensions";
}

}  // namespace zfp_test
}  // namespace sherd::test
