// Suggestions for misspelt names.
#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace nearest_test {

const std::vector<std::string_view> kCodecs{"blosc", "bytes", "crc32c", "gzip", "zlib", "zstd"};

TEST(NearestName, IsFoundAcrossOneSwapInsertionRemovalOrReplacement) {
  EXPECT_EQ(nearest_name("ztsd", kCodecs), "zstd");
  EXPECT_EQ(nearest_name("bloscc", kCodecs), "blosc");
  EXPECT_EQ(nearest_name("byte", kCodecs), "bytes");
  EXPECT_EQ(nearest_name("crc32d", kCodecs), "crc32c");
  EXPECT_EQ(nearest_name("--chunk", {"--chunks", "--shards"}), "--chunks");
}

TEST(NearestName, IgnoresTheCaseOfLetters) { EXPECT_EQ(nearest_name("ZSTD", kCodecs), "zstd"); }

TEST(NearestName, IsEmptyWhenEveryNameDiffersTooMuch) {
  EXPECT_EQ(nearest_name("frobnicate", kCodecs), "");
  EXPECT_EQ(nearest_name("ls", {"rm"}), "");
  EXPECT_EQ(nearest_name("remove", {"resize"}), "");
  EXPECT_EQ(nearest_name("", kCodecs), "");
  EXPECT_EQ(nearest_name("zstd", {}), "");
  EXPECT_EQ(nearest_name(std::string(1000000, 'z'), kCodecs), "");
}

TEST(NearestName, MayBeGivenByItsStartIfNoOtherNameBeginsSo) {
  EXPECT_EQ(nearest_name("preshift", {"preshift_bits", "shard_bits"}), "preshift_bits");
  EXPECT_EQ(nearest_name("minishard", {"minishard_bits", "minishard_index_encoding"}), "");
  EXPECT_EQ(nearest_name("pre", {"preshift_bits", "shard_bits"}), "");
}

TEST(NearestName, IsTheFirstOfSeveralThatAreEquallyNear) { EXPECT_EQ(nearest_name("zlid", {"zlib", "zlit"}), "zlib"); }

TEST(DidYouMean, IsAClauseThatFollowsTheError) {
  EXPECT_EQ(did_you_mean("gizp", kCodecs), "; did you mean 'gzip'?");
  EXPECT_EQ(did_you_mean("frobnicate", kCodecs), "");
}

}  // namespace nearest_test
}  // namespace sherd
