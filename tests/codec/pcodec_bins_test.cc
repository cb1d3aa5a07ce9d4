// The bins of pcodec: any distribution of numbers comes back, and is stored compactly.
#include "tests/codec/pcodec_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::pcodec_testing {
namespace pcodec_bins_test {

using ::testing::HasSubstr;

TEST(Pcodec, FewNumbersAndNoneComeBack) {
  for (std::size_t count = 0; count < 9; ++count)
    for (const char* configuration : {"{}", R"({"delta_encoding_order": 7})", R"({"delta_spec": "try_lookback"})"}) {
      const Bytes elements = noise(8 * count);
      EXPECT_EQ(decoded(DType::int64, elements.size(), encoded(DType::int64, elements, configuration)).value(),
                elements);
    }
}

TEST(Pcodec, NoiseGrowsByLittle) {
  const Bytes elements = noise(1 << 16);
  for (const DType& dtype : {DType::uint8, DType::uint16, DType::float32, DType::int64})
    EXPECT_LT(encoded(dtype, elements).size(), elements.size() + 64) << dtype.name();
}

}  // namespace pcodec_bins_test
}  // namespace sherd::test::pcodec_testing
