// lzma in its containers xz, alone and raw, with filters and checks.
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry lzma_codec;

namespace test {
namespace lzma_test {

constexpr std::string_view kConfigurations[] = {
    "",
    R"({"format": 1, "check": -1, "preset": null, "filters": null})",
    R"({"format": 1, "check": 0, "preset": 0})",
    R"({"format": 1, "check": 10, "preset": 9})",
    R"({"format": 1, "filters": [{"id": 3, "dist": 2}, {"id": 33, "preset": 1}]})",
    R"({"format": 2, "preset": 1})",
    R"({"format": 2, "filters": [{"id": 4611686018427387905, "dict_size": 65536}]})",
    R"({"format": 3, "filters": [{"id": 33, "preset": 1}]})",
    R"({"format": 3, "filters": [{"id": 3}, {"id": 4}, {"id": 33, "dict_size": 4096, "lc": 0, "lp": 2}]})",
    R"({"format": 3, "filters": [{"id": 4611686018427387905, "preset": 1}]})",
};

TEST(Lzma, EveryContainerRoundTrips) {
  for (const auto configuration : kConfigurations) {
    SCOPED_TRACE(configuration);
    const auto codec = bytes_codec(lzma_codec, configuration);
    for (const std::size_t size : {0, 1, 2, 99, 5000, 60000}) expect_round_trip(*codec, runs(size));
    for (const std::size_t size : {1, 60000}) expect_round_trip(*codec, noise(size));
  }
}

TEST(Lzma, EveryTruncationAndEveryTailIsRefused) {
  for (const auto configuration : kConfigurations) {
    SCOPED_TRACE(configuration);
    expect_exact_end(*bytes_codec(lzma_codec, configuration), runs(700));
  }
}

TEST(Lzma, StreamsMayFollowEachOther) {
  const auto codec = bytes_codec(lzma_codec, "");
  Bytes stored = encoded(*codec, runs(1000));
  const Bytes second = encoded(*codec, noise(500));
  stored.insert(stored.end(), second.begin(), second.end());
  Bytes both = runs(1000);
  const Bytes tail = noise(500);
  both.insert(both.end(), tail.begin(), tail.end());
  EXPECT_EQ(decoded(*codec, stored, 1500).value(), both);
  EXPECT_EQ(decoded(*codec, stored, 1000).value(), std::nullopt) << "the second stream must not be overlooked";
}

TEST(Lzma, ADecompressionBombIsStopped) {
  const auto codec = bytes_codec(lzma_codec, R"({"preset": 0})");
  const Bytes stored = encoded(*codec, Bytes(10 << 20));
  EXPECT_LT(stored.size(), 10000u);
  EXPECT_EQ(decoded(*codec, stored, 1000).value(), std::nullopt);
  EXPECT_EQ(decoded(*codec, stored, 0).value(), std::nullopt);
}

TEST(Lzma, ADictionaryBeyondTheLimitIsNotAllocated) {
  Limits limits;
  limits.chunk_bytes = 1 << 20;
  const CodecSpec spec = spec_of(lzma_codec, R"({"format": 2})");
  const auto small = lzma_codec.bytes_codec(spec, {{DType::uint8, {1}}, &limits}).value();
  Bytes stored = encoded(*small, runs(1000));
  stored[2] = std::byte{0};
  stored[4] = std::byte{0x10};  // the dictionary's size, bytes 1 to 4: 256 MiB
  const auto result = decoded(*small, stored, 1000);
  EXPECT_EQ(result.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(decoded(*bytes_codec(lzma_codec, R"({"format": 2})"), stored, 1000).value(), runs(1000));
  const auto raw =
      lzma_codec.bytes_codec(spec_of(lzma_codec, R"({"format": 3, "filters": [{"id": 33, "dict_size": 268435456}]})"),
                             {{DType::uint8, {1}}, &limits});
  EXPECT_EQ(raw.error().code(), ErrorCode::unsupported);
}

TEST(Lzma, DamageIsSurvivedAndFound) {
  for (const auto configuration : kConfigurations) {
    const auto codec = bytes_codec(lzma_codec, configuration);
    survive_damage(*codec, encoded(*codec, runs(3000)), 3000);
  }
  const auto codec = bytes_codec(lzma_codec, "");
  Bytes damaged = encoded(*codec, runs(3000));
  damaged[damaged.size() / 2] ^= std::byte{1};
  EXPECT_EQ(decoded(*codec, damaged, 3000).error().code(), ErrorCode::corrupt);
}

TEST(Lzma, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view text) {
    const auto codec = try_bytes_codec(lzma_codec, text);
    return codec.has_value() ? "" : std::string(to_string(codec.error().code())) + " " + codec.error().member();
  };
  EXPECT_EQ(member(R"({"format": 4})"), "invalid_argument configuration.format");
  EXPECT_EQ(member(R"({"format": 3})"), "invalid_argument configuration.filters");
  EXPECT_EQ(member(R"({"preset": 12})"), "invalid_argument configuration.preset");
  EXPECT_EQ(member(R"({"filters": [{"id": 77}]})"), "unsupported configuration.filters[0].id");
  EXPECT_EQ(member(R"({"filters": [{"id": 3, "dist": 257}]})"),
            "invalid_argument configuration.filters[0].configuration.dist");
  EXPECT_EQ(member(R"({"filters": [{"id": 33}, {"id": 33}]})"), "invalid_argument configuration.filters");
  EXPECT_EQ(member(R"({"filters": [{"id": 33, "lc": 9}]})"), "invalid_argument configuration.filters");
  EXPECT_EQ(member(R"({"filters": [{"id": 3},{"id": 3},{"id": 3},{"id": 3},{"id": 33}]})"),
            "invalid_argument configuration.filters[4]");
  EXPECT_EQ(member(R"({"format": 2, "filters": [{"id": 33}]})"), "invalid_argument configuration.filters");
  EXPECT_EQ(member(R"({"speed": 1})"), "unsupported configuration.speed");
}

}  // namespace lzma_test
}  // namespace test
}  // namespace sherd
