// A file system without locks: whole objects can be written, changing part of an object needs lock = none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace locks_test {

using sherd::Box;
using sherd::Condition;
using sherd::ErrorCode;
using testing::HasSubstr;
using Values = std::vector<std::uint16_t>;

class WithoutLocks : public testing::TestWithParam<int> {
 protected:
  /// 10 elements in shards of 4, so that the last one reaches beyond the end.
  sherd::Array create(sherd::Locking lock = sherd::Locking::automatic) const {
    return sherd::create_array(
               folder_.path(),
               {.shape = {10}, .dtype = sherd::DType::uint16, .chunks = {2}, .shards = {4}, .config = config(lock)})
        .value();
  }
  static sherd::Config config(sherd::Locking lock) {
    sherd::Config config;
    config.durable = false;
    config.threads = 1;
    config.lock = lock;
    return config;
  }
  static Values read(const sherd::Array& array) {
    Values values(10);
    array.read(Box{{0}, {10}}, std::span(values)).value();
    return values;
  }
  template <class T>
  static void expect_refused(const sherd::Result<T>& outcome) {
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code(), ErrorCode::unsupported);
    EXPECT_THAT(outcome.error().text(), HasSubstr("has no locks"));
    EXPECT_THAT(outcome.error().text(), HasSubstr("lock=\"none\" (--lock none)"));
  }

  const TempDir folder_;
  const Simulation simulation_{{.kind = Fault::Kind::named, .code = GetParam(), .name = "set_lock"}};
};
INSTANTIATE_TEST_SUITE_P(Because, WithoutLocks, testing::Values(ENOLCK, ENOSYS, EOPNOTSUPP), [](const auto& code) {
  return std::string(code.param == ENOLCK ? "ENOLCK" : code.param == ENOSYS ? "ENOSYS" : "EOPNOTSUPP");
});

TEST_P(WithoutLocks, WholeShardsAreWrittenAndErased) {
  const sherd::Array array = create();
  const Values values(10, 7), zeros(10, 0);
  array.write(Box{{0}, {10}}, std::span(values)).value();
  EXPECT_EQ(read(array), values);
  array.write(Box{{4}, {4}}, std::span(zeros).first(4)).value();
  EXPECT_EQ(read(array), (Values{7, 7, 7, 7, 0, 0, 0, 0, 7, 7}));
  EXPECT_EQ(files(folder_.path()), (std::set<std::string>{"c/0", "c/2", "zarr.json"}));
}

TEST_P(WithoutLocks, PartsAreRefusedWithTheOptionThatAllowsThem) {
  sherd::Array array = create();
  const Values values(10, 7);
  array.write(Box{{0}, {10}}, std::span(values)).value();
  expect_refused(array.write(Box{{1}, {2}}, std::span(values).first(2)));
  expect_refused(array.set_attributes(sherd::Json(sherd::Json::Object{})));
  expect_refused(array.resize({4}));
  EXPECT_EQ(read(array), values);
  EXPECT_EQ(files(folder_.path()), (std::set<std::string>{"c/0", "c/1", "c/2", "zarr.json"}));
}

TEST_P(WithoutLocks, PartsAreWrittenIfTheUserAllowsIt) {
  sherd::Array array = create(sherd::Locking::none);
  const Values values(10, 7);
  array.write(Box{{1}, {9}}, std::span(values).first(9)).value();
  array.set_attributes(sherd::Json(sherd::Json::Object{})).value();
  array.resize({6}).value();
  array.resize({10}).value();
  EXPECT_EQ(read(array), (Values{0, 7, 7, 7, 7, 7, 0, 0, 0, 0}));
  EXPECT_EQ(files(folder_.path()), (std::set<std::string>{"c/0", "c/1", "zarr.json"}));
  const auto calls = simulation_.calls();
  EXPECT_TRUE(std::ranges::none_of(calls, [](const Call& call) { return call.name == "set_lock"; }));
}

TEST_P(WithoutLocks, AnObjectCanOnlyBeCreatedOrReplacedWhole) {
  const auto store = sherd::file_store(folder_.path()).value();
  store->set("a", "1", Condition::absent()).value();
  EXPECT_EQ(store->set("a", "2", Condition::absent()).error().code(), ErrorCode::conflict);
  EXPECT_EQ(store->get("a").value(), "1");
  const sherd::Generation first = store->open("a").value()->generation().value();
  expect_refused(store->set("a", "2", Condition::matches(first)));
  expect_refused(store->erase("a", Condition::matches(first)));
  expect_refused(store->amend("a", {.of = first, .size = 1}));
  expect_refused(store->lock("a"));
  store->set("a", "2").value();
  EXPECT_EQ(store->get("a").value(), "2");
  EXPECT_EQ(files(folder_.path()), std::set<std::string>{"a"});
  EXPECT_EQ(store->erase("a").value(), sherd::Erased::object);
}

TEST_P(WithoutLocks, TheLastOfTwoWritersOfOneObjectWins) {
  const auto one = sherd::file_store(folder_.path()).value();
  const auto other = sherd::file_store(folder_.path()).value();
  const auto first = one->write("a").value();
  first->write(0, sherd::as_bytes("first")).value();
  other->set("a", "second").value();
  EXPECT_EQ(first->commit().error().code(), ErrorCode::conflict) << "its next version is gone, and it must begin again";
  EXPECT_EQ(one->get("a").value(), "second");
}

TEST_P(WithoutLocks, AWriterThatLostDoesNotTakeTheOtherOneAlong) {
  const auto one = sherd::file_store(folder_.path()).value();
  const auto other = sherd::file_store(folder_.path()).value();
  auto first = one->write("a").value();
  first->write(0, sherd::as_bytes("first")).value();
  const auto second = other->write("a").value();
  second->write(0, sherd::as_bytes("second")).value();
  EXPECT_EQ(first->commit().error().code(), ErrorCode::conflict);
  first.reset();
  second->commit().value();
  EXPECT_EQ(one->get("a").value(), "second");
}

TEST_P(WithoutLocks, AVersionReplacedBeforeItsCommitIsNotPublished) {
  for (const auto& condition : {Condition{}, Condition::absent()}) {
    const auto one = sherd::file_store(folder_.path(), config(sherd::Locking::automatic)).value();
    const auto other = sherd::file_store(folder_.path(), config(sherd::Locking::automatic)).value();
    const bool replaces = condition.kind == Condition::Kind::always;
    const std::optional<std::string> old = replaces ? std::optional<std::string>("old") : std::nullopt;
    if (replaces) one->set("a", *old).value();
    const auto first = one->write("a").value();
    first->write(0, sherd::as_bytes("first")).value();
    std::unique_ptr<sherd::ObjectWriter> second;
    simulation_.before("renameat", [&] {
      second = other->write("a").value();
      second->write(0, sherd::as_bytes("sec")).value();
    });
    EXPECT_EQ(first->commit(condition).error().code(), ErrorCode::conflict);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(one->get("a").value(), old);
    second->commit(condition).value();
    EXPECT_EQ(one->get("a").value(), "sec");
    EXPECT_EQ(files(folder_.path()), std::set<std::string>{"a"});
    EXPECT_EQ(one->erase("a").value(), sherd::Erased::object);
  }
}

TEST_P(WithoutLocks, ValuesByIdAreChangedIfTheUserAllowsIt) {
  using sherd::neuroglancer::ShardedStore;
  const auto sharding =
      sherd::Json::parse(
          R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 1,
              "shard_bits": 0})")
          .value();
  for (const auto lock : {sherd::Locking::automatic, sherd::Locking::none}) {
    const auto values = ShardedStore::open(sherd::file_store(folder_.path(), config(lock)).value(), sharding,
                                           {.writable = true, .config = config(lock)})
                            .value();
    const auto put = values.put({.id = 1, .value = sherd::as_bytes("one")});
    if (lock == sherd::Locking::automatic) expect_refused(put);
    EXPECT_EQ(values.get(1).value().has_value(), lock == sherd::Locking::none);
  }
}

}  // namespace locks_test
}  // namespace faults
