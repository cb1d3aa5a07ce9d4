// Neuroglancer's uint64_sharded_v1: where ids belong, and shards of ids from their bytes and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/registry.hpp"
#include "base/cache.hpp"
#include "base/endian.hpp"
#include "neuroglancer/codecs.hpp"
#include "shard/reader.hpp"
#include "shard/uint64.hpp"
#include "shard/writer.hpp"
#include "store/span.hpp"

namespace sherd {
namespace uint64_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;
const Limits kLimits;

TEST(Uint64Sharding, HashesAsMurmurHash3DoesWithSeed0) {
  EXPECT_EQ(murmurhash3(0), 0x4772b084e028ae41U);
  EXPECT_EQ(murmurhash3(1), 0xe8bd67d616d4ce9aU);
  EXPECT_EQ(murmurhash3(42), 0xc20b94f95119f47aU);
}

TEST(Uint64Sharding, RoutesAnIdByTheBitsOfItsHash) {
  const Uint64Sharding sharding{.preshift_bits = 6, .minishard_bits = 11, .shard_bits = 7, .hash = kMurmur};
  const auto location = sharding.locate(1822975381);
  EXPECT_EQ(sharding.name(location.shard), "42");
  EXPECT_EQ(location.minishard, 18U);
  const Uint64Sharding identity{.preshift_bits = 1, .minishard_bits = 2, .shard_bits = 3};
  EXPECT_EQ(identity.locate(0b1'101'10'1), (Uint64Sharding::Location{0b101, 0b10}));
}

TEST(Uint64Sharding, ReachesItsLimits) {
  const std::uint64_t last = ~std::uint64_t{0};
  const Uint64Sharding high{.preshift_bits = 63, .shard_bits = 64};
  EXPECT_EQ(high.locate(last), (Uint64Sharding::Location{1, 0}));
  EXPECT_EQ(high.name(1), "0000000000000001");
  const Uint64Sharding all{.shard_bits = 64};
  EXPECT_EQ(all.name(all.locate(last).shard), "ffffffffffffffff");
  const Uint64Sharding one{.preshift_bits = 64, .minishard_bits = 3, .shard_bits = 2, .hash = kMurmur};
  EXPECT_EQ(one.locate(last), one.locate(0)) << "a shift by 64 leaves nothing";
  EXPECT_EQ((Uint64Sharding{.shard_bits = 0}).name(0), "0");
  EXPECT_EQ((Uint64Sharding{.shard_bits = 5}).name(3), "03");
}

TEST(Uint64Sharding, IsReadFromJsonAndPrintedWhole) {
  const auto json = Json::parse(R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 9, "minishard_bits": 6,
    "shard_bits": 15, "hash": "identity", "data_encoding": "gzip"})");
  const Uint64Sharding sharding = Uint64Sharding::parse(*json).value();
  EXPECT_EQ(sharding, (Uint64Sharding{.preshift_bits = 9, .minishard_bits = 6, .shard_bits = 15, .gzip_data = true}));
  EXPECT_EQ(Uint64Sharding::parse(sharding.json()).value(), sharding);
  EXPECT_EQ(sharding.json().find("minishard_index_encoding")->text(), "raw") << "it is always written";
}

TEST(Uint64Sharding, NamesTheMemberThatIsWrong) {
  const std::map<std::string, std::string> wrong = {{"@type", "\"sharded_v2\""},
                                                    {"preshift_bits", "65"},
                                                    {"minishard_bits", "33"},
                                                    {"shard_bits", "62"},
                                                    {"hash", "\"md5\""},
                                                    {"data_encoding", "1"},
                                                    {"minishard_index_encoding", "\"zlib\""}};
  for (const auto& [member, value] : wrong) {
    auto json = *Json::parse(R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "minishard_bits": 3,
      "shard_bits": 0, "hash": "identity"})");
    json.set(member, *Json::parse(value));
    const auto refused = Uint64Sharding::parse(json);
    ASSERT_FALSE(refused) << member;
    EXPECT_EQ(refused.error().member(), member);
  }
}

// ---- shards ----

/// A shard of these chunks as the writer makes it.
std::string shard_of(const Uint64Format& format, std::map<std::uint64_t, std::string> chunks) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, bytes] : chunks) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), [&](std::uint64_t a, std::uint64_t b) {
    return std::pair(format.sharding.locate(a), a) < std::pair(format.sharding.locate(b), b);
  });
  const Uint64IndexCoding coding(format, ids, kLimits);
  Buffer object;
  BufferWriter to(object);
  ShardWriter writer(coding, plan_new(coding).value(), 1);
  writer.start(to).value();
  for (std::size_t slot = 0; slot < ids.size(); ++slot) {
    const std::string& chunk = chunks[ids[slot]];
    EncodedBatch batch;
    Buffer bytes;
    bytes.append(as_bytes(chunk)).value();
    batch.add(slot, bytes, true).value();
    writer.put(std::move(batch)).value();
  }
  EXPECT_TRUE(writer.finish().value());
  return {reinterpret_cast<const char*>(object.data()), object.size()};
}

Uint64Format format_of(const Uint64Sharding& sharding) {
  return Uint64Format::build(sharding, precomputed_codecs(), kLimits).value();
}

Result<std::optional<std::string>> find(const std::string& shard, const Uint64Format& format, std::uint64_t id) {
  SpanSource source("0.shard", as_bytes(shard));
  Cache cache(1 << 20);
  const std::uint64_t minishard = format.sharding.locate(id).minishard;
  const auto lists = read_minishards(source, {&minishard, 1}, {format, kLimits, cache});
  if (!lists) return lists.error();
  if (lists->front() == nullptr) return std::optional<std::string>();
  const auto extent = lists->front()->extent(id);
  if (!extent) return extent.error();
  if (!*extent) return std::optional<std::string>();
  return std::optional(shard.substr((*extent)->offset, (*extent)->length));
}

class Uint64Shard : public testing::TestWithParam<Uint64Sharding> {};

TEST_P(Uint64Shard, ReturnsEveryChunkAndNoOther) {
  const Uint64Format format = format_of(GetParam());
  std::map<std::uint64_t, std::string> chunks;
  for (std::uint64_t id = 3; id < 3000; id = id * 3 / 2 + 1) chunks[id] = std::string(id % 17, static_cast<char>(id));
  chunks[~std::uint64_t{0}] = "the last";
  const std::string shard = shard_of(format, chunks);
  for (const auto& [id, bytes] : chunks) EXPECT_EQ(find(shard, format, id).value(), bytes) << id;
  for (const std::uint64_t id : {0U, 4U, 2999U}) EXPECT_EQ(find(shard, format, id).value(), std::nullopt) << id;
}

INSTANTIATE_TEST_SUITE_P(Shardings, Uint64Shard,
                         testing::Values(Uint64Sharding{}, Uint64Sharding{.minishard_bits = 3},
                                         Uint64Sharding{.preshift_bits = 2, .minishard_bits = 5, .hash = kMurmur},
                                         Uint64Sharding{.minishard_bits = 4, .gzip_index = true}));

TEST(Uint64Shard, HasTheSpecifiedBytes) {
  const std::string shard = shard_of(format_of({.minishard_bits = 1}), {{3, "abc"}, {5, "de"}, {2, "f"}});
  std::vector<std::uint64_t> words;
  const auto word = [&](std::size_t at) { return load_little<std::uint64_t>(as_bytes(shard).data() + at); };
  for (std::size_t at = 0; at < 32; at += 8) words.push_back(word(at));
  EXPECT_THAT(words, ElementsAre(6, 30, 30, 78)) << "of each minishard, from the end of this array on";
  EXPECT_EQ(shard.substr(32, 6), "fabcde");
  words.clear();
  for (std::size_t at = 38; at < shard.size(); at += 8) words.push_back(word(at));
  EXPECT_THAT(words, ElementsAre(2, 0, 1, /**/ 3, 2, 1, 0, 3, 2)) << "ids, gaps and sizes";
}

/// A shard of one minishard whose list is these words.
std::string with_list(const std::vector<std::uint64_t>& words, std::uint64_t start = 4) {
  std::string shard(16 + 4 + 8 * words.size(), 'd');
  auto* at = reinterpret_cast<std::byte*>(shard.data());
  store_little(at, start);
  store_little(at + 8, 4 + 8 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) store_little(at + 20 + 8 * i, words[i]);
  return shard;
}

TEST(Uint64Shard, MayListItsChunksInAnyOrder) {
  const Uint64Format format = format_of({});
  // 7 at 2 (1 byte), then 5 at 0 (2 bytes): both deltas wrap around.
  const std::string shard = with_list({7, ~std::uint64_t{0} - 1, 2, ~std::uint64_t{0} - 2, 1, 2});
  EXPECT_EQ(find(shard, format, 7).value(), "d");
  EXPECT_EQ(find(shard, format, 5).value(), "dd");
}

TEST(Uint64Shard, UsesTheFirstChunkOfARepeatedId) {
  const auto list = with_list({7, 0, 0, 0, 1, 2}).substr(20);
  const MinishardIndex index = MinishardIndex::decode(as_bytes(list), 16, 100).value();
  EXPECT_EQ(index.extent(7).value(), (Extent{16, 1}));
  EXPECT_THAT(index.repeated(), ElementsAre(7));
}

TEST(Uint64Shard, DamageIsReportedWithItsLocation) {
  const Uint64Format format = format_of({});
  const auto message = [&](const std::string& shard) {
    const auto found = find(shard, format, 7);
    EXPECT_FALSE(found);
    if (found) return std::string();
    EXPECT_EQ(found.error().code(), ErrorCode::corrupt);
    return found.error().message();
  };
  EXPECT_THAT(message(""), HasSubstr("too small for its index of 16 bytes"));
  EXPECT_THAT(message(std::string(15, '\0')), HasSubstr("too small"));
  EXPECT_THAT(message(with_list({7, 0, 4}, 29)), HasSubstr("minishard 0 (start 29, end 28)"));
  EXPECT_THAT(message(with_list({7, 0, 4}).substr(0, 43)), HasSubstr("reaches beyond the shard's 43 bytes"));
  EXPECT_THAT(message(with_list({7, 0, 4}, 5)), HasSubstr("minishard 0: a minishard index has 23 bytes"));
  EXPECT_THAT(message(with_list({7, 0, 1000})), HasSubstr("chunk 7: its entry (offset 16, size 1000)"));
  EXPECT_THAT(message(with_list({7, 1, ~std::uint64_t{0}})), HasSubstr("chunk 7: its entry"));
  EXPECT_EQ(find(with_list({7, 0, 4}, 28), format, 7).value(), std::nullopt) << "start and end alike: no chunks";
}

TEST(Uint64Shard, CannotMakeAReaderHoldMoreThanTheLimit) {
  // 2^12 minishards, each with the same list of 24 KiB.
  const Uint64Format format = format_of({.minishard_bits = 12});
  const std::uint64_t head = format.sharding.head_bytes();
  std::string shard(head + 24 * 1024, '\0');
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    store_little(reinterpret_cast<std::byte*>(shard.data()) + 16 * i + 8, std::uint64_t{24 * 1024});
    all.push_back(i);
  }
  SpanSource source("0.shard", as_bytes(shard));
  Cache cache(0);
  Limits limits;
  limits.index_bytes = 1 << 20;
  const auto refused = read_minishards(source, all, {format, limits, cache});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("index_bytes"));
}

TEST(Uint64Shard, IndexTakesTwoReadsAndNoneIfCached) {
  const Uint64Format format = format_of({.minishard_bits = 2});
  auto store = memory_store();
  const std::string shard = shard_of(format, {{1, "a"}, {2, "b"}, {5, "c"}});
  store->set("0.shard", shard).value();
  auto recorder = std::make_shared<Recorder>();
  const auto source = recorded_store(store, recorder)->open("0.shard").value();
  Cache cache(1 << 20);
  const std::vector<std::uint64_t> wanted = {0, 1, 2};
  const auto lists = read_minishards(*source, wanted, {format, kLimits, cache}).value();
  EXPECT_EQ(lists[0], nullptr);
  EXPECT_EQ(lists[1]->chunks().size(), 2U);
  EXPECT_EQ(recorder->stats().requests, 2U) << "the array, and both lists at once";
  read_minishards(*source, wanted, {format, kLimits, cache}).value();
  EXPECT_EQ(recorder->stats().requests, 2U);
}

}  // namespace uint64_test
}  // namespace sherd
