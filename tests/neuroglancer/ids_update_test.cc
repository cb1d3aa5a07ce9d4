// A store of ids is changed: in place where it can be, rewritten where it must be, by many at once, until it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "api/registry.hpp"
#include "base/cache.hpp"
#include "base/endian.hpp"
#include "neuroglancer/codecs.hpp"
#include "shard/reader.hpp"
#include "tests/child.hpp"
#include "tests/neuroglancer/kv_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace ids_update_test {

using namespace kv_testing;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;

std::shared_ptr<Store> files(const TempDir& dir) { return file_store(dir.path()).value(); }

ino_t inode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

// ---- what changes become ----

struct Where {
  const char* name;
  bool files;
  Uint64Sharding sharding;
};

class Updates : public testing::TestWithParam<Where> {
 protected:
  TempDir dir_;
  std::shared_ptr<Store> store_ = GetParam().files ? files(dir_) : memory_store();
};

TEST_P(Updates, OfAnyKindInAnyOrderAgreeWithAMap) {
  const ShardedStore ids = open(store_, GetParam().sharding);
  Values model;
  std::uint64_t random = 1;
  for (std::uint64_t round = 0; round < 60; ++round) {
    random = murmurhash3(random);
    if (random % 5 == 0) {
      ids.compact().value();
    } else if (random % 3 != 0) {
      Values more = some_values(1 + random % 40, random % 7);
      for (auto& [id, value] : more) value += std::to_string(round);
      put(ids, more);
      for (auto& [id, value] : more) model[id] = value;
    } else {
      std::vector<std::uint64_t> gone = {4711};
      for (const auto& [id, value] : model)
        if (murmurhash3(id ^ random) % 3 == 0) gone.push_back(id);
      EXPECT_EQ(ids.erase_many(gone).value(), gone.size() - 1);
      for (const std::uint64_t id : gone) model.erase(id);
    }
    ASSERT_EQ(all_of(ids), model) << "round " << round;
    ASSERT_EQ(all_of(open(store_, GetParam().sharding)), model) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stores, Updates,
    testing::Values(Where{"Memory", false, {.minishard_bits = 2, .shard_bits = 1, .hash = kMurmur}},
                    Where{"File", true, {.minishard_bits = 2, .shard_bits = 1, .hash = kMurmur}},
                    Where{"FileGzip", true, {.minishard_bits = 1, .gzip_index = true, .gzip_data = true}},
                    Where{"FileOneMinishard", true, {.preshift_bits = 64}}),
    [](const auto& each) { return each.param.name; });

TEST(ShardedUpdate, OfOneValueChangesTheFileInPlaceAndWritesLittle) {
  const TempDir dir;
  const auto store = files(dir);
  const Uint64Sharding sharding{.minishard_bits = 6};
  Values values;
  for (std::uint64_t id = 0; id < 4096; ++id) values[id] = std::string(16 << 10, static_cast<char>(id));
  put(open(store, sharding), values);
  const std::uint64_t size = size_of(*store, "0.shard");
  EXPECT_GT(size, 64U << 20);
  const ino_t inode = inode_of(dir / "0.shard");
  const auto recorder = std::make_shared<Recorder>();
  ShardedStoreOptions options;
  options.config.recorder = recorder;
  const ShardedStore ids = open(store, sharding, options);
  values[77] = std::string(16 << 10, 'n');
  ids.put({77, as_bytes(values[77])}).value();
  EXPECT_LT(recorder->stats().bytes_written, 1U << 20);
  EXPECT_LT(size_of(*store, "0.shard"), size + (1U << 20));
  EXPECT_EQ(inode_of(dir / "0.shard"), inode) << "the same file";
  EXPECT_EQ(recorder->stats().chunks_moved, 63U) << "in the list, not in the file";
  EXPECT_EQ(all_of(open(store, sharding)), values);
  EXPECT_THAT(dir.contents(), ElementsAre("0.shard"));
}

TEST(ShardedUpdate, LeavesEveryOldByteWhereItWas) {
  const TempDir dir;
  const auto store = files(dir);
  const Uint64Sharding sharding{.minishard_bits = 2};
  const ShardedStore ids = open(store, sharding);
  put(ids, some_values(200));
  const std::string before = store->get("0.shard").value().value();
  put(ids, {{1, "changed"}, {2, "too"}});
  EXPECT_TRUE(ids.erase(6).value());
  const std::string after = store->get("0.shard").value().value();
  EXPECT_EQ(after.substr(64, before.size() - 64), before.substr(64)) << "behind the index";
  EXPECT_EQ(after.substr(0, 16), before.substr(0, 16)) << "of an untouched minishard";
  EXPECT_EQ(after.substr(48, 16), before.substr(48, 16));
}

TEST(ShardedUpdate, ReplacesHardLinksAndSymbolicLinks) {
  const TempDir dir;
  const auto store = files(dir);
  const ShardedStore ids = open(store, {.minishard_bits = 2});
  const Values values = some_values(50);
  put(ids, values);
  std::filesystem::create_hard_link(dir / "0.shard", dir / "other");
  const std::string before = store->get("other").value().value();
  put(ids, {{1, "changed"}});
  EXPECT_EQ(store->get("other").value(), before) << "the other name has the old version";
  EXPECT_EQ(ids.get(1).value(), "changed");
  std::filesystem::rename(dir / "0.shard", dir / "target");
  std::filesystem::create_symlink("target", dir / "0.shard");
  const std::string linked = store->get("target").value().value();
  put(ids, {{1, "again"}});
  EXPECT_EQ(store->get("target").value(), linked);
  EXPECT_EQ(ids.get(1).value(), "again");
}

TEST(ShardedUpdate, RewritesAShardThatWouldBeMostlyDead) {
  const TempDir dir;
  const auto store = files(dir);
  const ShardedStore ids = open(store, {.minishard_bits = 3});
  Values values;
  for (std::uint64_t id = 0; id < 100; ++id) values[id] = std::string(1000, 'a');
  put(ids, values);
  const std::uint64_t dense = size_of(*store, "0.shard");
  for (int round = 0; round < 20; ++round) {
    for (auto& [id, value] : values)
      if (id % 4 == 0) value = std::string(1000, static_cast<char>('b' + round));
    put(ids, values);
    EXPECT_LE(size_of(*store, "0.shard"), 2 * dense + 10'000) << round;
  }
  EXPECT_EQ(all_of(ids), values);
}

TEST(ShardedUpdate, OfEveryValueErasesTheShard) {
  const TempDir dir;
  const ShardedStore ids = open(files(dir), {.minishard_bits = 1, .shard_bits = 1});
  put(ids, {{0, "a"}, {1, "b"}, {2, "c"}});
  EXPECT_TRUE(ids.erase(2).value());
  EXPECT_FALSE(ids.erase(2).value());
  EXPECT_THAT(dir.contents(), ElementsAre("0.shard"));
  EXPECT_EQ(ids.erase_many(std::vector<std::uint64_t>{0, 1, 7}).value(), 2U);
  EXPECT_THAT(dir.contents(), ElementsAre());
  EXPECT_FALSE(ids.erase(2).value());
  EXPECT_THAT(dir.contents(), ElementsAre()) << "erasing what is not there makes nothing";
}

TEST(ShardedUpdate, WritesAnEmptiedMinishardAsZeros) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, {.minishard_bits = 1});
  put(ids, {{0, "a"}, {1, "b"}});
  EXPECT_TRUE(ids.erase(1).value());
  EXPECT_EQ(store->get("0.shard").value()->substr(16, 16), std::string(16, '\0'));
  EXPECT_EQ(ids.get(0).value(), "a");
}

TEST(ShardedUpdate, CompactionReclaimsDeadBytesAndNothingElse) {
  const TempDir dir;
  const auto store = files(dir);
  const Uint64Sharding sharding{.minishard_bits = 2, .shard_bits = 1};
  const ShardedStore ids = open(store, sharding);
  Values values = some_values(300);
  put(ids, values);
  EXPECT_EQ(ids.compact().value().shards, 0U) << "dense already";
  const std::uint64_t dense = size_of(*store, "0.shard") + size_of(*store, "1.shard");
  for (std::uint64_t id = 0; id < 12; ++id) ids.put({id, as_bytes(values[id] = std::to_string(id))}).value();
  const std::uint64_t before = size_of(*store, "0.shard") + size_of(*store, "1.shard");
  const auto compacted = ids.compact().value();
  const std::uint64_t after = size_of(*store, "0.shard") + size_of(*store, "1.shard");
  EXPECT_EQ(compacted.shards, 2U);
  EXPECT_EQ(compacted.reclaimed, before - after);
  EXPECT_LT(after, dense + 24 * 12);
  EXPECT_EQ(all_of(open(store, sharding)), values);
  EXPECT_EQ(ids.compact().value().shards, 0U);
}

TEST(ShardedUpdate, ReplacesLegacyFilesByAShard) {
  const auto store = memory_store();
  const Uint64Sharding sharding{.minishard_bits = 2};
  Values values = some_values(100);
  put(open(store, sharding), values);
  const std::string shard = store->get("0.shard").value().value();
  const auto make_pair = [&] {
    store->set("0.index", std::string_view(shard).substr(0, 64)).value();
    store->set("0.data", std::string_view(shard).substr(64)).value();
    store->erase("0.shard").value();
  };
  make_pair();
  const ShardedStore ids = open(store, sharding);
  ids.put({5, as_bytes(values[5] = "new")}).value();
  EXPECT_EQ(all_of(ids), values);
  EXPECT_EQ(store->open("0.index").value(), nullptr);
  EXPECT_EQ(store->open("0.data").value(), nullptr);
  make_pair();
  std::vector<std::uint64_t> every;
  for (const auto& [id, value] : values) every.push_back(id);
  ids.erase_many(every).value();
  EXPECT_TRUE(all_of(ids).empty());
  EXPECT_TRUE(store->list_dir("").value().objects.empty());
}

// ---- bytes before values ----

/// Values whose first byte says how many bytes before them belong to them.
Result<std::uint64_t> first_byte(std::span<const std::byte> value) {
  if (value.empty()) return corrupt("has no first byte");
  return std::to_integer<std::uint64_t>(value.front());
}

TEST(ShardedUpdate, KeepsPrecedingBytesImmediatelyBeforeTheirValue) {
  for (const bool gzip : {false, true}) {
    const TempDir dir;
    const auto store = files(dir);
    const Uint64Sharding sharding{.minishard_bits = 1, .gzip_data = gzip};
    ShardedStoreOptions options;
    options.preceding = first_byte;
    const ShardedStore ids = open(store, sharding, options);
    std::map<std::uint64_t, std::string> fragments;
    const auto put_mesh = [&](std::uint64_t id, char letter, std::size_t bytes) {
      fragments[id] = std::string(bytes, letter);
      const std::string value = std::string(1, static_cast<char>(bytes)) + letter;
      ids.put({id, as_bytes(value), as_bytes(fragments[id])}).value();
    };
    for (std::uint64_t id = 0; id < 20; ++id) put_mesh(id, static_cast<char>('a' + id), 100 - id);
    for (std::uint64_t id = 3; id < 20; id += 4) put_mesh(id, 'Z', id);
    EXPECT_TRUE(ids.erase(4).value());
    fragments.erase(4);
    EXPECT_EQ(ids.compact().value().shards, 1U);
    EXPECT_EQ(ids.compact().value().shards, 0U) << "fragments are not dead";
    for (const auto& [id, bytes] : fragments) {
      EXPECT_EQ(ids.get_preceding(id).value(), bytes) << id;
      EXPECT_EQ(ids.get(id).value()->size(), 2U);
    }
    EXPECT_EQ(ids.get_preceding(4).value(), std::nullopt);
    const auto wrong = ids.put({1, as_bytes("\5x"), as_bytes("four")});
    EXPECT_THAT(wrong.error().message(), HasSubstr("4 bytes before it, and 5 belong to it"));
  }
}

TEST(ShardedUpdate, RefusesMorePrecedingBytesThanTheShardHas) {
  const auto store = memory_store();
  put(open(store, Uint64Sharding{}), {{1, "\x7f"}, {2, std::string(1, '\0')}});
  ShardedStoreOptions options;
  options.preceding = first_byte;
  const ShardedStore ids = open(store, Uint64Sharding{}, options);
  const auto read = ids.get_preceding(1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(ids.compact().error().code(), ErrorCode::corrupt);
}

// ---- what is refused ----

TEST(ShardedUpdate, RefusesInvalidRequests) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, Uint64Sharding{});
  const std::vector<ShardedStore::Item> twice = {{1, as_bytes("a")}, {2, as_bytes("b")}, {1, as_bytes("c")}};
  EXPECT_THAT(ids.put_many(twice).error().message(), HasSubstr("id 1 is given twice"));
  EXPECT_EQ(ids.put({1, as_bytes("a"), as_bytes("b")}).error().code(), ErrorCode::invalid_argument);
  const ShardedStore reader = ShardedStore::open(store, ids.sharding()).value();
  EXPECT_EQ(reader.put({1, as_bytes("a")}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(reader.erase(1).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(reader.compact().error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(store->list_dir("").value().objects.empty());
}

TEST(ShardedUpdate, ChangesNothingWithAWrongSharding) {
  const auto store = memory_store();
  const Values values = some_values(50);
  put(open(store, {.minishard_bits = 3, .hash = kMurmur}), values);
  const std::string before = store->get("0.shard").value().value();
  const ShardedStore wrong = open(store, {.minishard_bits = 3});
  for (const auto& refused : {wrong.put({1, as_bytes("x")}), Result<void>(wrong.compact().error())}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
    EXPECT_THAT(refused.error().message(), HasSubstr("is the sharding the right one?"));
  }
  EXPECT_EQ(store->get("0.shard").value(), before);
}

TEST(ShardedUpdate, DoesNotChangeAValueThatIsPartOfTheIndex) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, Uint64Sharding{});
  put(ids, {{1, "abcd"}});
  std::string shard = store->get("0.shard").value().value();
  store_little(reinterpret_cast<std::byte*>(shard.data()) + 20 + 8, ~std::uint64_t{0} - 15);  // 16 bytes back
  store->set("0.shard", shard).value();
  EXPECT_EQ(ids.get(1).value(), shard.substr(0, 4)) << "any range is read";
  EXPECT_THAT(ids.put({2, as_bytes("x")}).error().message(), HasSubstr("overlaps the index"));
}

TEST(ShardedUpdate, DoesNotHideThatAShardIsTruncated) {
  const auto store = memory_store();
  const ShardedStore ids = open(store, {.minishard_bits = 1});
  put(ids, some_values(50));
  const std::string whole = store->get("0.shard").value().value();
  store->set("0.shard", std::string_view(whole).substr(0, whole.size() - 1)).value();
  const auto refused = ids.put({2, as_bytes("x")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(refused.error().key(), "0.shard");
  EXPECT_EQ(size_of(*store, "0.shard"), whole.size() - 1);
}

// ---- failures ----

TEST(ShardedUpdate, OnAFullDiskKeepsTheOldShard) {
  const TempDir dir;
  const auto store = files(dir);
  const Uint64Sharding sharding{.minishard_bits = 2};
  put(open(store, sharding), some_values(300));
  const std::string before = store->get("0.shard").value().value();
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = before.size() + 1000, .rlim_max = before.size() + 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto failed = open(store, sharding).put({1, as_bytes(std::string(5000, 'x'))});
    ::_exit(!failed && failed.error().code() == ErrorCode::io ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store->get("0.shard").value(), before);
  EXPECT_THAT(dir.contents(), ElementsAre("0.shard"));
}

TEST(ShardedUpdate, ThatCannotBeCommittedLeavesTheOldShard) {
  const auto memory = memory_store();
  const auto failing = std::make_shared<TestStore>(memory);
  const ShardedStore ids = open(failing, {.minishard_bits = 2});
  const Values values = some_values(100);
  put(ids, values);
  failing->fail_from(0);
  EXPECT_EQ(ids.put({1, as_bytes("x")}).error().code(), ErrorCode::io);
  EXPECT_EQ(all_of(ids), values);
}

// ---- many at once ----

void count_up(const std::shared_ptr<Store>& store, const Uint64Sharding& sharding, std::uint64_t first,
              std::uint64_t rounds) {
  std::vector<std::thread> threads;
  const ShardedStore ids = open(store, sharding);
  for (std::uint64_t id = first; id < first + 8; ++id)
    threads.emplace_back([&, id] {
      for (std::uint64_t round = 1; round <= rounds; ++round)
        ids.put({id, as_bytes(std::to_string(round) + std::string(50 + id, 'x'))}).value();
    });
  for (auto& thread : threads) thread.join();
}

TEST(ShardedUpdate, ByThreadsAndProcessesAtOnceLosesNothing) {
  const TempDir dir;
  const Uint64Sharding sharding{.minishard_bits = 4};
  constexpr std::uint64_t rounds = 25;
  Config quick;
  quick.durable = false;
  const auto store = file_store(dir.path(), quick).value();
  put(open(store, sharding), {{100, "stays"}});
  std::vector<pid_t> children;
  for (std::uint64_t process = 0; process < 2; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      count_up(file_store(dir.path(), quick).value(), sharding, process * 8, rounds);
      ::_exit(0);
    }
    children.push_back(child);
  }
  const ShardedStore reader = open(store, sharding);
  std::map<std::uint64_t, std::uint64_t> newest;
  std::uint64_t reads = 0;
  for (std::size_t running = children.size(); running > 0;) {
    for (std::uint64_t id = 0; id < 16; ++id, ++reads) {
      const auto value = reader.get(id).value();
      const std::uint64_t round = value ? std::stoull(*value) : 0;
      if (value) {
        EXPECT_EQ(*value, std::to_string(round) + std::string(50 + id, 'x'));
      }
      EXPECT_GE(round, newest[id]) << "never back";
      newest[id] = round;
    }
    EXPECT_EQ(reader.get(100).value(), "stays");
    int status = -1;
    if (::waitpid(-1, &status, WNOHANG) > 0) {
      EXPECT_EQ(status, 0);
      --running;
    }
  }
  for (std::uint64_t id = 0; id < 16; ++id)
    EXPECT_EQ(reader.get(id).value(), std::to_string(rounds) + std::string(50 + id, 'x')) << id;
  EXPECT_EQ(all_of(open(store, sharding)).size(), 17U);
  EXPECT_THAT(dir.contents(), ElementsAre("0.shard"));
  EXPECT_GT(reads, 0U);
}

TEST(ShardedUpdate, DoesNotDisturbAReaderWithTheOldIndex) {
  const TempDir dir;
  const auto store = files(dir);
  const Uint64Sharding sharding{.minishard_bits = 1};
  const ShardedStore ids = open(store, sharding);
  Values values = some_values(100);
  put(ids, values);
  const auto format = Uint64Format::build(sharding, precomputed_codecs(), {}).value();
  Cache cache(1 << 20);
  const auto source = store->open("0.shard").value();
  const std::vector<std::uint64_t> both = {0, 1};
  const Limits limits;
  const auto lists = read_minishards(*source, both, {format, limits, cache}).value();
  put(ids, {{2, "new"}, {3, "new"}});
  const std::string now = store->get("0.shard").value().value();
  for (const auto& list : lists)
    for (const auto& chunk : list->chunks())
      EXPECT_EQ(now.substr(chunk.offset, chunk.length), values[chunk.id]) << "by the old list in the new file";
}

}  // namespace ids_update_test
}  // namespace sherd
