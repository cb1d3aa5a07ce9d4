// Reading files of pcodec: those of the Python package (tests/data/codec/make_pcodec_files.py), and files that lie.
#include "tests/codec/pcodec_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::pcodec_testing {
namespace pcodec_decode_test {

using ::testing::HasSubstr;

TEST(Pcodec, FilesOfEveryVersionModeAndDifferenceAreRead) {
  const auto all = files();
  EXPECT_EQ(all.size(), 335u);
  for (const File& each : all) {
    const auto read = decoded(each.dtype, each.elements.size(), each.bytes);
    ASSERT_TRUE(read) << each.version << " " << each.dtype.name() << " " << each.name << ": " << read.error().text();
    EXPECT_EQ(*read, each.elements) << each.version << " " << each.dtype.name() << " " << each.name;
  }
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

}  // namespace pcodec_decode_test
}  // namespace sherd::test::pcodec_testing
