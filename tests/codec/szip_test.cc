// szip: chunks as HDF5 stores them (tests/data/codec/make_szip_streams.py), and streams that lie.
#include <gmock/gmock.h>

#include <cstdlib>

#include "codec/szip.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry szip_codec;

namespace test {
namespace szip_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kUsual = R"({"mask": 32, "pixels-per-block": 8})";

Result<std::unique_ptr<BytesCodec>> try_szip(std::string_view configuration, const DType& dtype, const Shape& shape) {
  static const Limits limits;
  return szip_codec.bytes_codec(spec_of(szip_codec, configuration), {{dtype, shape}, &limits});
}
std::unique_ptr<BytesCodec> szip(std::string_view configuration, const DType& dtype, const Shape& shape) {
  return try_szip(configuration, dtype, shape).value();
}

class Szip : public testing::Test {
 protected:
  void SetUp() override {
    if (try_szip(kUsual, DType::uint8, {64})) return;
    if (std::getenv("SHERD_CI") != nullptr) FAIL() << "libaec-dev is not installed; run script/bootstrap";
    GTEST_SKIP() << "libaec-dev is not installed; run script/bootstrap";
  }
};

TEST_F(Szip, ChunksOfHdf5AreReadAndReproduced) {
  std::ifstream file(test_data("codec/szip_streams.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json rows = json(text.str());
  EXPECT_EQ(rows.size(), 64u);
  for (const Json& row : rows.elements()) {
    const std::string number = row.find("mask")->text(), pixels = row.find("pixels-per-block")->text();
    const bool big = row.find("endian")->text() == "big";
    Shape shape;
    for (const Json& length : row.find("shape")->elements()) shape.push_back(*length.as_uint());
    SCOPED_TRACE(row.find("dtype")->text() + (big ? " big " : " little ") + number + " " + pixels + to_string(shape));
    // The byte order is an option of the mask.
    const std::string mask = std::to_string(std::stoi(number) + (big ? 16 : 8));
    const auto codec = szip(R"({"mask": )" + mask + R"(, "pixels-per-block": )" + pixels + "}",
                            DType::parse(row.find("dtype")->text()).value(), shape);
    const Bytes elements = from_hex(row.find("elements")->text()), stored = from_hex(row.find("encoded")->text());
    EXPECT_EQ(decoded(*codec, stored, elements.size()).value(), elements);
    EXPECT_EQ(encoded(*codec, elements), stored);
    expect_exact_end(*codec, elements);
  }
}

TEST_F(Szip, ChunksOfAnyContentComeBack) {
  for (const DType& dtype : {DType::uint8, DType::int16, DType::float32, DType::uint64})
    for (const auto* const mask : {"4", "32"})
      for (const std::uint64_t length : {8, 9, 100, 5000}) {
        SCOPED_TRACE(dtype.name() + " " + mask + " " + std::to_string(length));
        const auto codec = szip(R"({"mask": )" + std::string(mask) + R"(, "pixels-per-block": 8})", dtype, {3, length});
        const std::size_t size = 3 * length * dtype.size();
        for (const Bytes& bytes : {noise(size), runs(size), Bytes(size), Bytes()}) expect_round_trip(*codec, bytes);
        survive_damage(*codec, encoded(*codec, runs(size)), size);
      }
}

TEST_F(Szip, HeadersThatLieAreRefused) {
  const auto codec = szip(kUsual, DType::float32, {64});
  Bytes stored = encoded(*codec, runs(256));
  stored[0] = std::byte{128};
  stored[1] = std::byte{0};
  EXPECT_EQ(code_of(decoded(*codec, stored, 256)), ErrorCode::corrupt);
  stored[0] = std::byte{253};
  EXPECT_EQ(code_of(decoded(*codec, stored, 256)), ErrorCode::corrupt);
  stored[3] = std::byte{255};
  EXPECT_EQ(decoded(*codec, stored, 256).value(), std::nullopt);
  Bytes to(1000);
  EXPECT_EQ(codec->encode(noise(255), to).error().code(), ErrorCode::invalid_argument);
}

TEST_F(Szip, AConfigurationSaysWhatIsWrongWithIt) {
  const auto error = [](std::string_view configuration, const DType& dtype = DType::uint8, const Shape& shape = {64}) {
    return try_szip(configuration, dtype, shape).error().text();
  };
  EXPECT_THAT(error(R"({"pixels-per-block": 8})"), AllOf(HasSubstr("'mask'"), HasSubstr("missing")));
  EXPECT_THAT(error(R"({"mask": 32, "pixels-per-block": 9})"), HasSubstr("must be even"));
  EXPECT_THAT(error(R"({"mask": 32, "pixels-per-block": 34})"), HasSubstr("from 2 to 32"));
  EXPECT_THAT(error(R"({"mask": 32, "pixels-per-block": 8, "pixels": 1})"), HasSubstr("'pixels'"));
  EXPECT_THAT(error(kUsual, DType::complex128), HasSubstr("8, 16, 32 or 64 bits"));
  EXPECT_THAT(error(kUsual, DType::uint8, {7}), HasSubstr("fewer elements than a block"));
  EXPECT_THAT(error(R"({"mask": 32, "pixels-per-block": 8, "pixels-per-scanline": 1025})"), HasSubstr("to 1024"));
}

TEST(SzipScanline, IsTheLineOrAsManyBlocksAsAreAllowed) {
  EXPECT_EQ(szip_scanline(8, 100, {10, 50}), 100u);
  EXPECT_EQ(szip_scanline(8, 5000, {10, 50}), 1024u);
  EXPECT_EQ(szip_scanline(32, 5000, {10, 50}), 4096u);
  EXPECT_EQ(szip_scanline(32, 20, {10, 20}), 200u);
  EXPECT_EQ(szip_scanline(32, 20, {1000, 20}), 4096u);
}

}  // namespace szip_test
}  // namespace test
}  // namespace sherd
