// Lists of every store: page by page, while the store is used, and ended by the caller.
#include "store/listing.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <thread>

#include "tests/store/every_store.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace listing_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class EveryListedStore : public EveryStore {
 protected:
  /// Stores empty objects, several at a time, since some stores are slow.
  void set_all(const std::vector<std::string>& keys) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < keys.size(); i += 8) set(keys[i], "");
      });
    for (auto& thread : threads) thread.join();
  }
  /// Names, those of prefixes with a slash, in the order of the visit.
  std::vector<std::string> visited(const std::string& prefix, ListDepth depth) {
    std::vector<std::string> names;
    const auto all = store_->visit(prefix, depth, [&](const ListEntry& entry) {
      names.push_back(std::string(entry.name) + (entry.is_prefix ? "/" : " " + std::to_string(entry.size)));
      return true;
    });
    EXPECT_TRUE(all.value());
    return names;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, EveryListedStore, testing::ValuesIn(kinds_that_list()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(EveryListedStore, VisitsChildrenOrEverything) {
  for (const char* key : {"a", "b/c", "b/d/e", "b.x/f", "g/h"}) set(key, key);
  EXPECT_THAT(visited("", ListDepth::children), UnorderedElementsAre("a 1", "b/", "b.x/", "g/"));
  EXPECT_THAT(visited("b/", ListDepth::children), UnorderedElementsAre("c 3", "d/"));
  EXPECT_THAT(visited("", ListDepth::all), UnorderedElementsAre("a 1", "b/c 3", "b/d/e 5", "b.x/f 5", "g/h 3"));
  EXPECT_THAT(visited("b/", ListDepth::all), UnorderedElementsAre("c 3", "d/e 5"));
  EXPECT_THAT(visited("none/", ListDepth::all), IsEmpty());
  EXPECT_FALSE(store_->visit("b", ListDepth::all, [](const ListEntry&) { return true; }).has_value())
      << "a prefix ends in '/'";
}

TEST_P(EveryListedStore, TellsTheVersionsOfObjectsIfItKnowsThem) {
  for (const char* key : {"a", "b/c", "b/d/e"}) set(key, key);
  const auto now = std::chrono::system_clock::now();
  for (const ListDepth depth : {ListDepth::children, ListDepth::all}) {
    store_
        ->visit("b/", depth,
                [&](const ListEntry& entry) -> Result<bool> {
                  if (entry.is_prefix) return true;
                  const std::string key = "b/" + std::string(entry.name);
                  if (!entry.generation.empty()) {
                    EXPECT_EQ(entry.generation, store_->open(key).value()->generation().value().token) << key;
                  }
                  const auto age = now - entry.modified.value_or(now);
                  EXPECT_LT(std::chrono::abs(age), std::chrono::hours(1)) << key;
                  EXPECT_TRUE(!entry.generation.empty() || !store_->traits().locks) << key;
                  return true;
                })
        .value();
  }
}

TEST_P(EveryListedStore, EndsAListIfTheVisitorAsks) {
  for (const char* key : {"a", "b", "c/d", "c/e"}) set(key, "");
  for (const ListDepth depth : {ListDepth::children, ListDepth::all}) {
    int seen = 0;
    EXPECT_FALSE(store_->visit("", depth, [&](const ListEntry&) { return ++seen < 2; }).value());
    EXPECT_EQ(seen, 2);
    const auto failed = store_->visit("", depth, [](const ListEntry&) -> Result<bool> { return conflict("enough"); });
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), ErrorCode::conflict);
  }
}

TEST_P(EveryListedStore, EndsAfterPagesThatAreFull) {
  for (const std::size_t count : {kListPage, 2 * kListPage}) {
    if (count > kListPage && !GetParam().compares) return;  // is slow
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back("p/" + std::to_string(i));
    set_all(all);
    for (const ListDepth depth : {ListDepth::children, ListDepth::all}) {
      std::set<std::string> seen;
      EXPECT_TRUE(store_
                      ->visit("p/", depth,
                              [&](const ListEntry& entry) -> Result<bool> {
                                return seen.insert(std::string(entry.name)).second;  // ends when one comes again
                              })
                      .value());
      EXPECT_EQ(seen.size(), count);
    }
  }
}

TEST_P(EveryListedStore, CanBeUsedByTheVisitorOfMoreThanAPage) {
  const std::size_t count = GetParam().compares ? kListPage + 7 : 50;  // a page takes others too long
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.insert("k" + std::to_string(i));
  std::vector<std::string> all = {"p/q/r"};
  for (const std::string& name : names) all.push_back("p/" + name);
  set_all(all);
  set("z", "");
  EXPECT_TRUE(store_
                  ->visit("p/", ListDepth::all,
                          [&](const ListEntry& entry) -> Result<bool> {
                            const std::string name(entry.name);
                            EXPECT_TRUE(names.erase(name) == 1 || name == "q/r") << name;
                            return store_->erase("p/" + name).has_value();
                          })
                  .value());
  EXPECT_THAT(names, IsEmpty()) << "not visited";
  EXPECT_THAT(keys(), ElementsAre("z"));
}

TEST_P(EveryListedStore, ErasesManyObjectsSomeOfThemMissing) {
  for (const char* key : {"a", "b/c", "b/d"}) set(key, "");
  store_->erase_all(std::vector<std::string>{"b/d", "none", "a", "no/where"}).value();
  EXPECT_THAT(keys(), ElementsAre("b/c"));
  EXPECT_FALSE(store_->erase_all(std::vector<std::string>{"../a"}));
}

TEST_P(EveryListedStore, IsTheParentOfAPartOfIt) {
  set("a/b/c", "");
  const auto part = prefixed_store(store_, "a/b/");
  const auto above = part->parent().value();
  ASSERT_TRUE(above);
  EXPECT_EQ(above->name, "b");
  EXPECT_TRUE(above->store->open("b/c").value());
  const auto root = above->store->parent().value();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "a");
  EXPECT_TRUE(root->store->open("a/b/c").value());
  EXPECT_EQ(root->store->url(), store_->url());
}

// In byte order "a.txt" is before "a/…".
TEST_P(EveryListedStore, SortsAListByKey) {
  const std::vector<std::string> sorted = {"a-b/c", "a.txt", "a/b", "a/c/d", "a0", "b/x"};
  for (const std::string& key : sorted) set("p/" + key, key);
  set("q", "");
  std::vector<std::string> listed;
  const auto list = [&](std::size_t most) {
    listed.clear();
    return store_->list("p/", [&](const std::string& key, std::uint64_t size) {
      listed.push_back(key.substr(2));
      EXPECT_EQ(size, key.size() - 2);
      return listed.size() < most;
    });
  };
  EXPECT_TRUE(list(100).value());
  EXPECT_EQ(listed, sorted);
  EXPECT_FALSE(list(3).value());
  EXPECT_THAT(listed, ElementsAre("a-b/c", "a.txt", "a/b"));
}

TEST(SortedLists, AreOneListAndNotOneForEachDirectory) {
  const auto store = std::make_shared<TestStore>(memory_store());
  for (const char* key : {"p/a/b", "p/c/d/e", "p/f"}) store->set(key, "").value();
  for (const bool sorted : {false, true}) {
    store->has.sorted_lists = sorted;
    store->forget();
    std::vector<std::string> keys;
    store
        ->list("p/",
               [&](const std::string& key, std::uint64_t) {
                 keys.push_back(key);
                 return true;
               })
        .value();
    EXPECT_THAT(keys, ElementsAre("p/a/b", "p/c/d/e", "p/f"));
    EXPECT_EQ(store->count(Op::visit), sorted ? 1U : 4U);
  }
}

TEST(ParentStore, OfADirectoryIsTheOneAbove) {
  const TempDir directory;
  const auto store = file_store(directory / "a/b").value();
  store->set("c", "text").value();
  const auto above = store->parent().value();
  ASSERT_TRUE(above);
  EXPECT_EQ(above->name, "b");
  EXPECT_EQ(above->store->get("b/c").value(), "text");
  EXPECT_FALSE(file_store("/").value()->parent().value());
  EXPECT_EQ(file_store(directory / "a/b/./").value()->parent().value()->name, "b");
  EXPECT_FALSE(file_store(directory / "a/..").value()->parent().value()) << "its own name is not known";
  store->set("file", "").value();
  const auto below = file_store(directory / "a/b/file/x").value()->parent();
  ASSERT_FALSE(below);
  EXPECT_EQ(below.error().code(), ErrorCode::invalid_argument);
}

TEST(ParentStore, CountsAndDelaysRequestsAsTheInnerStore) {
  const auto recorder = std::make_shared<Recorder>();
  const auto memory = memory_store();
  const auto store =
      recorded_store(delayed_store(prefixed_store(memory, "a/"), std::chrono::microseconds(10), 7), recorder);
  const auto above = store->parent().value();
  ASSERT_TRUE(above);
  EXPECT_EQ(above->store->traits().parallel_requests, 7U);
  above->store->set("a/b", "text").value();
  EXPECT_EQ(store->get("b").value(), "text");
  EXPECT_EQ(recorder->stats().requests, 2U);
  EXPECT_FALSE(above->store->parent().value());
}

}  // namespace listing_test
}  // namespace sherd
