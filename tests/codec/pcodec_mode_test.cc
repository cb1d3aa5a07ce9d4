// The modes of pcodec: a structure of numbers that makes files smaller is found.
#include "tests/codec/pcodec_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::pcodec_testing {
namespace pcodec_mode_test {

using ::testing::HasSubstr;

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

}  // namespace pcodec_mode_test
}  // namespace sherd::test::pcodec_testing
