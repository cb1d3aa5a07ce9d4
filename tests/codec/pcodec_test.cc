// numcodecs.pcodec: configurations and types.
#include "tests/codec/pcodec_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::pcodec_testing {
namespace pcodec_test {

using ::testing::HasSubstr;

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

}  // namespace pcodec_test
}  // namespace sherd::test::pcodec_testing
