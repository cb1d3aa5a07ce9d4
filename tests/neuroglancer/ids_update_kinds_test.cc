// How a shard of values by id is changed: by settings and store, in place where nothing else changes, and that an HDF5
// file is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/neuroglancer/kv_testing.hpp"
#include "tests/store/amend_cost.hpp"

namespace sherd {
namespace ids_update_kinds_test {

using namespace kv_testing;
using testing::HasSubstr;

TEST(ShardedUpdateKind, IsWrittenOnceOrAmendedByCostAndSetting) {
  struct Case {
    AmendCost cost;
    Update update;
    unsigned written, amended;
  };
  for (const Case& each :
       {Case{AmendCost::at_once, Update::automatic, 0, 2}, Case{AmendCost::copy, Update::automatic, 2, 0},
        Case{AmendCost::copy, Update::append, 0, 2}, Case{AmendCost::at_once, Update::rewrite, 2, 0}}) {
    const auto store = amended_at(each.cost);
    ShardedStoreOptions options;
    options.config.update = each.update;
    const ShardedStore ids = open(store, {.minishard_bits = 2}, options);
    Values model = some_values(50);
    put(ids, model);
    store->forget();
    put(ids, {{1, "changed"}, {2, "too"}});
    EXPECT_TRUE(ids.erase(3).value());
    EXPECT_EQ(written(*store), each.written);
    EXPECT_EQ(amended(*store), each.amended);
    model[1] = "changed";
    model[2] = "too";
    model.erase(3);
    EXPECT_EQ(all_of(open(store, {.minishard_bits = 2})), model);
  }
}

TEST(ShardedUpdateKind, RewritesWhereAnAppendIsTooLargeForMemory) {
  const auto store = amended_at(AmendCost::at_once);
  ShardedStoreOptions options;
  options.config.update = Update::append;
  options.config.memory_budget = 4 << 10;
  const ShardedStore ids = open(store, {.minishard_bits = 2}, options);
  put(ids, {{1, std::string(16 << 10, 'a')}});
  store->forget();
  put(ids, {{2, std::string(1 << 10, 'b')}});
  EXPECT_EQ(amended(*store), 1U);
  put(ids, {{2, std::string((1 << 10) + 1, 'c')}});
  EXPECT_EQ(amended(*store), 1U);
  EXPECT_EQ(written(*store), 1U);
}

class InPlace : public testing::Test {
 protected:
  InPlace() { options_.config.update = Update::in_place; }

  [[nodiscard]] ShardedStore open() {
    options_.config.recorder = recorder_ = std::make_shared<Recorder>();
    return kv_testing::open(store_, sharding_, options_);
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> updates() const { return recorder_->updates(); }
  [[nodiscard]] std::uint64_t size() const { return size_of(*store_, "0.shard"); }

  const std::shared_ptr<TestStore> store_ = amended_at(AmendCost::at_once);
  Uint64Sharding sharding_{.minishard_bits = 2};
  ShardedStoreOptions options_;
  std::shared_ptr<Recorder> recorder_;
};

TEST_F(InPlace, ValuesOfTheSameLengthAreOverwrittenAndOthersAppended) {
  options_.config.max_unused = 1;
  Values model = {{1, "one"}, {2, "two"}, {3, "three"}, {5, "fifth"}};
  const ShardedStore ids = open();
  put(ids, model);
  const std::uint64_t before = size();
  put(ids, {{1, "ONE"}, {5, "FIFTH"}});
  EXPECT_EQ(size(), before);
  EXPECT_EQ(updates(), (std::map<std::string, std::uint64_t>{{"in_place", 1}}));
  put(ids, {{1, "1"}, {2, "TWO"}, {7, "seventh"}});
  EXPECT_TRUE(ids.erase(3).value());
  EXPECT_EQ(updates(),
            (std::map<std::string, std::uint64_t>{{"in_place", 1}, {"append: not all of it fits in place", 2}}));
  model = {{1, "1"}, {2, "TWO"}, {5, "FIFTH"}, {7, "seventh"}};
  EXPECT_EQ(all_of(ids), model);
  EXPECT_EQ(all_of(open()), model);
}

TEST_F(InPlace, DeadBytesAreCountedAsTheShardHasThem) {
  options_.config.max_unused = 0.5;
  const ShardedStore ids = open();
  put(ids, {{1, std::string(100, 'a')}, {2, std::string(100, 'b')}});
  const std::uint64_t length = size();
  for (int i = 0; i < 10; ++i) put(ids, {{1, std::string(100, static_cast<char>('c' + i))}});
  EXPECT_EQ(size(), length);
  EXPECT_EQ(ids.compact().value().shards, 0U) << "nothing is dead";
  put(ids, {{1, std::string(50, 'x')}});  // 100 bytes and a list
  const std::uint64_t appended = size();
  EXPECT_GT(appended, length);
  const std::uint64_t reclaimed = ids.compact().value().reclaimed;
  EXPECT_EQ(reclaimed, appended - length + 50);
  EXPECT_EQ(open().compact().value().reclaimed, 0U);
}

// As programs may store equal values once.
TEST_F(InPlace, AValueWhoseBytesBelongToAnotherIdIsAppended) {
  sharding_.minishard_bits = 0;
  std::string shard(16, '\0');
  shard += "same";
  const auto word = [&shard](std::uint64_t value) { shard.append(reinterpret_cast<const char*>(&value), 8); };
  for (const int each : {1, 1, 0, -4, 4, 4})
    word(static_cast<std::uint64_t>(each));  // ids, offsets, lengths of 1 and 2
  const std::uint64_t list[] = {4, 4 + 48};
  shard.replace(0, 16, reinterpret_cast<const char*>(list), 16);
  store_->set("0.shard", shard).value();
  const ShardedStore ids = open();
  ASSERT_EQ(all_of(ids), (Values{{1, "same"}, {2, "same"}}));
  options_.config.max_unused = 1;
  put(open(), {{1, "SAME"}});
  EXPECT_EQ(updates(), (std::map<std::string, std::uint64_t>{{"append", 1}}));
  EXPECT_EQ(all_of(open()), (Values{{1, "SAME"}, {2, "same"}}));
}

TEST_F(InPlace, AValueThatBeginsElsewhereInTheSameBytesIsAppended) {
  options_.preceding = [](std::span<const std::byte> value) -> Result<std::uint64_t> {
    return static_cast<std::uint64_t>(value.front()) - '0';
  };
  options_.config.max_unused = 1;
  const ShardedStore ids = open();
  const auto put = [&](const std::string& before, const std::string& value) {
    ids.put({.id = 1, .value = as_bytes(value), .preceding = as_bytes(before)}).value();
  };
  put("ab", "2value");
  put("AB", "2VALUE");
  put("a", "1 value");
  EXPECT_EQ(updates(), (std::map<std::string, std::uint64_t>{{"append", 1}, {"in_place", 1}}));
  EXPECT_EQ(ids.get(1).value(), "1 value");
  EXPECT_EQ(ids.get_preceding(1).value(), "a");
}

// The index is in the user block of an HDF5 file, and the file's metadata are after the values.
TEST(ShardedUpdateKind, RefusesAShardThatIsAnHdf5File) {
  const auto store = memory_store();
  const Uint64Sharding sharding{.minishard_bits = 2};
  Values model = {{1, "one"}, {2, "two"}};
  put(open(store, sharding), model);
  std::string shard = store->get("0.shard").value().value();
  ASSERT_LT(shard.size(), 512U);
  shard.resize(512, '.');
  store->set("0.shard", shard + "\x89HDF\r\n\x1a\n and its metadata").value();
  const std::string before = store->get("0.shard").value().value();
  for (const Update update : {Update::automatic, Update::rewrite, Update::append}) {
    ShardedStoreOptions options;
    options.config.update = update;
    const ShardedStore ids = open(store, sharding, options);
    const std::vector<std::uint64_t> all = {1, 2};
    for (const Error& error : {ids.put({3, as_bytes(model[1])}).error(), ids.erase(1).error(),
                               ids.erase_many(all).error(), ids.compact().error()}) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_THAT(error.text(), testing::AllOf(HasSubstr("0.shard"), HasSubstr("HDF5 file")));
    }
  }
  EXPECT_EQ(store->get("0.shard").value(), before);
  EXPECT_EQ(all_of(open(store, sharding)), model);
}

}  // namespace ids_update_kinds_test
}  // namespace sherd
