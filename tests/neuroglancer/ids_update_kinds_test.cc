// How a shard of values by id is changed: by settings and store, and that an HDF5 file is not.
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
