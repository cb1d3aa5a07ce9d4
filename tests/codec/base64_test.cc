// numcodecs.base64.
#include <gtest/gtest.h>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {

extern const CodecEntry base64_codec;

namespace test {
namespace base64_test {

TEST(Base64Codec, StoresBytesAsTextAndRefusesOtherText) {
  const auto codec = try_bytes_codec(base64_codec).value();
  const auto bytes = [](std::string_view text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(data, data + text.size());
  };
  for (const auto& [plain, text] : {std::pair("", ""), std::pair("a", "YQ=="), std::pair("ab\xff", "YWL/")}) {
    EXPECT_EQ(encoded(*codec, bytes(plain)), bytes(text));
    EXPECT_EQ(decoded(*codec, bytes(text), bytes(plain).size()).value(), bytes(plain));
  }
  for (const char* wrong : {"YQ=", "Y Q=", "YR==", "!!!!"})
    EXPECT_EQ(decoded(*codec, bytes(wrong), 8).error().code(), ErrorCode::corrupt) << wrong;
}

}  // namespace base64_test
}  // namespace test
}  // namespace sherd
