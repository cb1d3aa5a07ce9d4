// numcodecs.pcodec: files of the Python package pcodec (tests/data/codec/make_pcodec_files.py), what is written, and
// files that lie.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {
namespace {

using ::testing::HasSubstr;

struct File {
  std::string version, name;
  DType dtype;
  Bytes elements, bytes;
};

std::vector<File> files() {
  std::ifstream file(test_data("codec/pcodec_files.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json document = Json::parse(text.str()).value();
  std::map<std::string, Bytes> elements;
  for (const auto& [dtype, hex] : document.find("elements")->members()) elements[dtype] = from_hex(hex.text());
  std::vector<File> all;
  for (const Json& row : document.find("files")->elements()) {
    const std::string dtype = row.find("dtype")->text();
    all.push_back({row.find("version")->text(), row.find("name")->text(), DType::parse(dtype).value(), elements[dtype],
                   from_hex(row.find("file")->text())});
  }
  return all;
}

Result<CodecChain> chain_of(const DType& dtype, std::uint64_t count, std::string_view configuration = "{}") {
  const auto codecs = R"([{"name": "numcodecs.pcodec", "configuration": )" + std::string(configuration) + "}]";
  return CodecChain::build(parse_codec_list(json(codecs)).value(), tables().codecs, {dtype, {count}}, {});
}
Result<Bytes> decoded(const DType& dtype, std::size_t size, std::span<const std::byte> file) {
  Bytes elements(size);
  const std::uint64_t count = size / dtype.size();
  if (auto done = chain_of(dtype, count).value().decode({count}, file, elements, nullptr); !done)
    return std::move(done).error();
  return elements;
}
Bytes encoded(const DType& dtype, const Bytes& elements, std::string_view configuration = "{}") {
  const std::uint64_t count = elements.size() / dtype.size();
  Buffer to;
  chain_of(dtype, count, configuration).value().encode({count}, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

TEST(Pcodec, FilesOfEveryVersionModeAndDifferenceAreRead) {
  const auto all = files();
  EXPECT_EQ(all.size(), 335u);
  for (const File& each : all) {
    const auto read = decoded(each.dtype, each.elements.size(), each.bytes);
    ASSERT_TRUE(read) << each.version << " " << each.dtype.name() << " " << each.name << ": " << read.error().text();
    EXPECT_EQ(*read, each.elements) << each.version << " " << each.dtype.name() << " " << each.name;
  }
}

TEST(Pcodec, EveryConfigurationComesBack) {
  std::map<std::string, File> by_type;
  for (File& each : files()) by_type.insert_or_assign(each.dtype.name(), std::move(each));
  for (const auto& [name, each] : by_type)
    for (const char* configuration :
         {"{}", R"({"level": 0})", R"({"level": 12})", R"({"mode_spec": "classic"})", R"({"delta_spec": "none"})",
          R"({"delta_spec": "try_lookback"})", R"({"delta_encoding_order": 0})", R"({"delta_encoding_order": 7})",
          R"({"delta_spec": "try_consecutive", "delta_encoding_order": 2})", R"({"equal_pages_up_to": 7})"}) {
      const Bytes file = encoded(each.dtype, each.elements, configuration);
      EXPECT_EQ(decoded(each.dtype, each.elements.size(), file).value(), each.elements) << name << configuration;
    }
}

TEST(Pcodec, FewNumbersAndNoneComeBack) {
  for (std::size_t count = 0; count < 9; ++count)
    for (const char* configuration : {"{}", R"({"delta_encoding_order": 7})", R"({"delta_spec": "try_lookback"})"}) {
      const Bytes elements = noise(8 * count);
      EXPECT_EQ(decoded(DType::int64, elements.size(), encoded(DType::int64, elements, configuration)).value(),
                elements);
    }
}

template <class T>
Bytes bytes_of(std::size_t count, T (*number)(std::size_t)) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value = number(i);
    std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
  }
  return bytes;
}

TEST(Pcodec, StructureOfNumbersIsFound) {
  constexpr std::size_t count = 20000;
  const auto size = [&](const DType& dtype, const Bytes& elements) {
    const Bytes file = encoded(dtype, elements);
    EXPECT_EQ(decoded(dtype, elements.size(), file).value(), elements);
    return file.size();
  };
  const auto line = bytes_of<std::int64_t>(count, [](std::size_t i) { return std::int64_t(3 * i); });
  const auto parabola = bytes_of<std::int32_t>(count, [](std::size_t i) { return std::int32_t(i * i / 5); });
  const auto multiples =
      bytes_of<std::uint32_t>(count, [](std::size_t i) { return std::uint32_t(i * 2654435761U % 1000 * 1000 + 7); });
  const auto decimals = bytes_of<double>(count, [](std::size_t i) { return double(i * 7919 % 1000) / 10; });
  const auto singles = bytes_of<double>(count, [](std::size_t i) { return double(std::sin(float(i * i))); });
  const auto rows = bytes_of<std::uint32_t>(count, [](std::size_t i) { return std::uint32_t(i % 500 * 2654435761U); });
  EXPECT_LT(size(DType::int64, line), 100u);
  EXPECT_LT(size(DType::int32, parabola), count / 2);
  EXPECT_LT(size(DType::uint32, multiples), count * 11 / 8);
  EXPECT_LT(size(DType::float64, decimals), count * 13 / 8);
  EXPECT_LT(size(DType::float64, singles), count * 33 / 8);
  EXPECT_LT(size(DType::uint32, rows), count / 4);
}

TEST(Pcodec, NoiseGrowsByLittle) {
  const Bytes elements = noise(1 << 16);
  for (const DType& dtype : {DType::uint8, DType::uint16, DType::float32, DType::int64})
    EXPECT_LT(encoded(dtype, elements).size(), elements.size() + 64) << dtype.name();
}

TEST(Pcodec, EveryCutAndEveryByteBehindTheEndIsCorrupt) {
  for (const File& each : files()) {
    if (each.dtype != DType::uint16 && each.dtype != DType::float32) continue;
    for (std::size_t size = 0; size < each.bytes.size(); size += 1 + size / 40)
      EXPECT_EQ(code_of(decoded(each.dtype, each.elements.size(), std::span(each.bytes).first(size))),
                ErrorCode::corrupt);
    Bytes longer = each.bytes;
    longer.push_back(std::byte{0});
    EXPECT_EQ(code_of(decoded(each.dtype, each.elements.size(), longer)), ErrorCode::corrupt);
  }
}

TEST(Pcodec, AnotherTypeOrCountIsCorrupt) {
  const Bytes elements = noise(64);
  const Bytes file = encoded(DType::uint32, elements);
  EXPECT_THAT(decoded(DType::int32, 64, file).error().message(), HasSubstr("of type 1, not 3"));
  EXPECT_THAT(decoded(DType::uint32, 60, file).error().message(), HasSubstr("more numbers than the chunk"));
  EXPECT_THAT(decoded(DType::uint32, 68, file).error().message(), HasSubstr("lacks 1 of the chunk's numbers"));
}

TEST(Pcodec, NewerVersionsAreUnsupported) {
  Bytes file = encoded(DType::uint32, noise(64));
  file[4] = std::byte{4};
  EXPECT_EQ(code_of(decoded(DType::uint32, 64, file)), ErrorCode::unsupported);
  file[4] = std::byte{2};
  file[7] = std::byte{5};  // behind the count: the version of the chunks
  EXPECT_EQ(code_of(decoded(DType::uint32, 64, file)), ErrorCode::unsupported);
}

TEST(Pcodec, DamageIsSurvived) {
  std::mt19937 random(3);
  for (const File& each : files()) {
    for (int round = 0; round < 60; ++round) {
      Bytes damaged = each.bytes;
      // Most of what can be wrong is in the metadata.
      const std::size_t most = round % 3 == 0 ? damaged.size() : std::min<std::size_t>(damaged.size(), 60);
      for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
        damaged[random() % most] ^= static_cast<std::byte>(1 + random() % 255);
      const auto read = decoded(each.dtype, each.elements.size(), damaged);
      if (read) continue;
      EXPECT_THAT(read.error().code(), testing::AnyOf(ErrorCode::corrupt, ErrorCode::unsupported));
    }
  }
}

TEST(Pcodec, ComplexNumbersAndTimesAreTheirParts) {
  const Bytes elements = sample(64);
  EXPECT_EQ(encoded(DType::complex64, elements), encoded(DType::float32, elements));
  EXPECT_EQ(encoded(DType::datetime64("s").value(), elements), encoded(DType::int64, elements));
  EXPECT_EQ(decoded(DType::complex128, 64, encoded(DType::float64, elements)).value(), elements);
}

TEST(Pcodec, ConfigurationsAreThoseOfNumcodecs) {
  const auto all = R"({"level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to",
                       "delta_encoding_order": null, "equal_pages_up_to": 262144})";
  EXPECT_TRUE(chain_of(DType::uint16, 4, all));
  const struct {
    std::string_view configuration, member;
    ErrorCode code;
  } rows[] = {
      {R"({"level": 13})", "[0].configuration.level", ErrorCode::invalid_argument},
      {R"({"mode_spec": "try_dict"})", "[0].configuration.mode_spec", ErrorCode::unsupported},
      {R"({"delta_spec": "try_conv1"})", "[0].configuration.delta_spec", ErrorCode::unsupported},
      {R"({"paging_spec": "exact"})", "[0].configuration.paging_spec", ErrorCode::unsupported},
      {R"({"delta_encoding_order": 8})", "[0].configuration.delta_encoding_order", ErrorCode::invalid_argument},
      {R"({"delta_spec": "none", "delta_encoding_order": 1})", "[0].configuration.delta_encoding_order",
       ErrorCode::invalid_argument},
      {R"({"equal_pages_up_to": 0})", "[0].configuration.equal_pages_up_to", ErrorCode::invalid_argument},
      {R"({"bins": 3})", "[0].configuration.bins", ErrorCode::unsupported},
  };
  for (const auto& row : rows) {
    const auto refused = chain_of(DType::uint16, 4, row.configuration);
    ASSERT_FALSE(refused) << row.configuration;
    EXPECT_EQ(refused.error().code(), row.code) << row.configuration;
    EXPECT_EQ(refused.error().member(), row.member);
  }
  EXPECT_EQ(code_of(chain_of(DType::bool_, 4)), ErrorCode::unsupported);
}

// numcodecs' bitround makes integers of floats: tests/interop/numcodecs_test.py compares with it.
TEST(Pcodec, IntegersOfTheSameSizeAreTheBitsOfFloats) {
  const std::tuple<DType, DType, DType> types[] = {{DType::float16, DType::int16, DType::uint16},
                                                   {DType::float32, DType::int32, DType::uint32},
                                                   {DType::float64, DType::int64, DType::uint64}};
  for (const auto& [real, integer, other] : types) {
    Bytes elements(64);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(7 * i);
    EXPECT_EQ(decoded(real, 64, encoded(integer, elements)).value(), elements) << real.name();
    EXPECT_EQ(code_of(decoded(integer, 64, encoded(real, elements))), ErrorCode::corrupt) << real.name();
    EXPECT_EQ(code_of(decoded(real, 64, encoded(other, elements))), ErrorCode::corrupt) << real.name();
  }
}

}  // namespace
}  // namespace sherd::test
