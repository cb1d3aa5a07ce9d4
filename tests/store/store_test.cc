// What every store must do, run over every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <set>
#include <thread>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "tests/store/every_store.hpp"

namespace sherd {
namespace store_test {

using testing::ElementsAre;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Stores, EveryStore, testing::ValuesIn(kinds_that_list()),
                         [](const auto& kind) { return kind.param.name; });

class EveryStoreWithLocks : public EveryStore {};
INSTANTIATE_TEST_SUITE_P(Stores, EveryStoreWithLocks, testing::ValuesIn(kinds_with_locks()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(EveryStore, IsInitiallyEmpty) {
  EXPECT_EQ(store_->open("a/b").value(), nullptr);
  EXPECT_EQ(get("a"), std::nullopt);
  erase("a/b", Erased::nothing);
  EXPECT_THAT(keys(), IsEmpty());
  const auto listing = store_->list_dir("a/").value();
  EXPECT_TRUE(listing.objects.empty() && listing.prefixes.empty());
  store_->erase_prefix("a/").value();
  store_->erase_prefix("").value();
  EXPECT_THAT(directory_.contents(), IsEmpty());
}

TEST_P(EveryStore, ReturnsWhatWasWritten) {
  set("zarr.json", "{}");
  set("c/0/1", std::string(100'000, 'x'));
  set("c/0/2", "");
  EXPECT_EQ(get("zarr.json"), "{}");
  EXPECT_EQ(get("c/0/1"), std::string(100'000, 'x'));
  EXPECT_EQ(get("c/0/2"), "");
  set("zarr.json", "[1]");
  EXPECT_EQ(get("zarr.json"), "[1]");
}

TEST_P(EveryStore, RefusesAnObjectLargerThanTheBound) {
  set("a", "12345");
  EXPECT_EQ(store_->get("a", 5).value(), "12345");
  const auto refused = store_->get("a", 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().key(), "a");
}

TEST_P(EveryStore, AcceptsWritesInAnyOrderAndFillsGapsWithZeros) {
  auto writer = store_->write("a").value();
  writer->write(8, as_bytes("world")).value();
  writer->write(0, as_bytes("hello")).value();
  writer->write(16, as_bytes("!")).value();
  writer->write(3, as_bytes("")).value();
  writer->commit().value();
  EXPECT_EQ(get("a"), std::string("hello\0\0\0world\0\0\0!", 17));
}

TEST_P(EveryStore, AcceptsWritesFromManyThreads) {
  constexpr std::size_t kThreads = 8, kBlock = 3000, kBlocks = 20;
  auto writer = store_->write("a").value();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string block(kBlock, static_cast<char>('a' + t));
      for (std::size_t b = 0; b < kBlocks; ++b) writer->write((b * kThreads + t) * kBlock, as_bytes(block)).value();
    });
  }
  for (auto& thread : threads) thread.join();
  writer->commit().value();
  std::string expected;
  for (std::size_t i = 0; i < kThreads * kBlocks; ++i) expected.append(kBlock, static_cast<char>('a' + i % kThreads));
  EXPECT_EQ(get("a"), expected);
}

TEST_P(EveryStore, RefusesAWriteWhoseEndOverflows) {
  auto writer = store_->write("a").value();
  const auto refused = writer->write(std::numeric_limits<std::uint64_t>::max(), as_bytes("ab"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
}

TEST_P(EveryStore, ReadsSeveralRangesOfAnOpenObject) {
  set("a", "0123456789");
  const auto source = store_->open("a").value();
  EXPECT_EQ(source->name(), "a");
  EXPECT_EQ(source->size().value(), 10u);
  std::string first(3, ' '), second(2, ' '), none;
  const RangeRead ranges[] = {{7, std::as_writable_bytes(std::span(first))},
                              {0, std::as_writable_bytes(std::span(second))},
                              {10, std::as_writable_bytes(std::span(none))}};
  source->read(ranges).value();
  EXPECT_EQ(first, "789");
  EXPECT_EQ(second, "01");
}

TEST_P(EveryStore, ReportsARangeBeyondTheEndAsCorrupt) {
  set("a", "0123456789");
  const auto source = store_->open("a").value();
  std::string into(4, ' ');
  for (const std::uint64_t offset : {std::uint64_t{7}, std::uint64_t{11}, ~std::uint64_t{0}, ~std::uint64_t{0} - 2}) {
    const RangeRead range{offset, std::as_writable_bytes(std::span(into))};
    const auto read = source->read({&range, 1});
    ASSERT_FALSE(read) << offset;
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(read.error().key(), "a");
  }
}

/// The whole of an open object; `old` if the store no longer has this version.
std::string content(ByteSource& source, const std::string& old) {
  std::string text(source.size().value(), ' ');
  const RangeRead range{0, std::as_writable_bytes(std::span(text))};
  const auto read = source.read({&range, 1});
  if (!read && read.error().code() == ErrorCode::conflict) return old;
  read.value();
  return text;
}

TEST_P(EveryStore, KeepsAnOpenObjectAtOneVersion) {
  set("a", "old old");
  const auto source = store_->open("a").value();
  const auto before = source->generation().value();
  set("a", "new");
  EXPECT_EQ(source->size().value(), 7u);
  const std::string replaced = GetParam().is_server ? "old old" : "lost";
  EXPECT_EQ(content(*source, replaced), "old old");
  EXPECT_EQ(source->generation().value(), before);
  EXPECT_NE(generation("a"), before);
  store_->erase("a").value();
  EXPECT_EQ(content(*source, replaced), "old old");
}

TEST_P(EveryStore, HasAGenerationForEveryVersion) {
  std::set<std::string> tokens;
  for (int i = 0; i < 200; ++i) {
    set("a", GetParam().is_server ? "number " + std::to_string(i) : "same size");
    tokens.insert(generation("a").token);
    EXPECT_EQ(tokens.count(generation("a").token), 1u);
  }
  EXPECT_EQ(tokens.size(), 200u);
}

TEST_P(EveryStore, ReplacesOnlyIfTheConditionHolds) {
  store_->set("a", "1", Condition::absent()).value();
  const auto first = generation("a");
  const auto again = store_->set("a", "2", Condition::absent());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::conflict);
  EXPECT_EQ(again.error().key(), "a");
  EXPECT_EQ(get("a"), "1");
  if (!GetParam().compares) {
    EXPECT_TRUE(is_refused_by_name(store_->set("a", "3", Condition::matches(first))));
    EXPECT_TRUE(is_refused_by_name(store_->set("b", "3", Condition::matches(first))));
    EXPECT_EQ(get("a"), "1");
    EXPECT_THAT(keys(), ElementsAre("a"));
    return;
  }
  store_->set("a", "3", Condition::matches(first)).value();
  const auto stale = store_->set("a", "4", Condition::matches(first));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), ErrorCode::conflict);
  EXPECT_EQ(get("a"), "3");
  const auto missing = store_->set("b", "5", Condition::matches(first));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys(), ElementsAre("a"));
}

TEST_P(EveryStore, ErasesOnlyIfTheConditionHolds) {
  set("a", "1");
  const auto first = generation("a");
  set("a", "2");
  if (!store_->traits().conditional_erase) {
    EXPECT_EQ(store_->erase("a", Condition::matches(generation("a"))).error().code(), ErrorCode::unsupported);
    EXPECT_EQ(get("a"), "2");
    return;
  }
  const auto stale = store_->erase("a", Condition::matches(first));
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code(), ErrorCode::conflict);
  EXPECT_EQ(stale.error().key(), "a");
  EXPECT_EQ(store_->erase("a", Condition::absent()).error().code(), ErrorCode::conflict);
  EXPECT_EQ(get("a"), "2");
  EXPECT_EQ(store_->erase("a", Condition::matches(generation("a"))).value(), Erased::object);
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(store_->erase("a", Condition::matches(first)).error().code(), ErrorCode::conflict);
  EXPECT_EQ(store_->erase("d/e", Condition::matches(first)).error().code(), ErrorCode::conflict);
  EXPECT_EQ(store_->erase("a", Condition::absent()).value(), Erased::nothing);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(EveryStore, ShowsAnObjectOnlyAfterItsCommit) {
  set("a", "old");
  {
    auto writer = store_->write("a").value();
    writer->write(0, as_bytes("newer")).value();
    auto other = store_->write("d/e/f").value();
    other->write(0, as_bytes("x")).value();
    EXPECT_EQ(get("a"), "old");
    EXPECT_THAT(keys(), ElementsAre("a"));
  }
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(get("d/e/f"), std::nullopt);
  EXPECT_TRUE(store_->list_dir("").value().prefixes.empty());
}

TEST_P(EveryStore, ReturnsTheGenerationOfACommit) {
  for (const char* text : {"first", "second"}) {
    const auto writer = store_->write("a").value();
    writer->write(0, as_bytes(text)).value();
    EXPECT_TRUE(writer->committed().token.empty());
    writer->commit().value();
    EXPECT_EQ(writer->committed(), store_->open("a").value()->generation().value());
  }
  const auto refused = store_->write("a").value();
  EXPECT_FALSE(refused->commit(Condition::absent()));
  EXPECT_TRUE(refused->committed().token.empty());
}

TEST_P(EveryStore, EndsAWriterWithItsCommit) {
  auto writer = store_->write("a").value();
  writer->write(0, as_bytes("x")).value();
  writer->commit().value();
  set("a", "y");  // the lock is free again
  EXPECT_FALSE(writer->write(1, as_bytes("z")));
  EXPECT_FALSE(writer->commit());
  EXPECT_EQ(get("a"), "y");
}

TEST_P(EveryStore, EndsAWriterWithAFailedCommitToo) {
  set("a", "old");
  auto writer = store_->write("a").value();
  writer->write(0, as_bytes("x")).value();
  EXPECT_FALSE(writer->commit(Condition::absent()));
  EXPECT_FALSE(writer->commit());
  EXPECT_EQ(get("a"), "old");
}

TEST_P(EveryStore, CopiesFromAnOlderVersionAndFromOtherStores) {
  std::string large(3'000'000, ' ');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 256);
  set("a", large);
  const auto elsewhere = memory_store();
  elsewhere->set("b", large).value();
  const auto uncopied = recorded_store(elsewhere, std::make_shared<Recorder>());

  const auto old = store_->open("a").value();
  auto writer = store_->write("a").value();
  writer->copy(*old, 0, large.size(), 0).value();
  writer->copy(*old, 11, 5000, large.size() + 1).value();
  writer->copy(*elsewhere->open("b").value(), 2'000'001, 999'999, large.size() + 5001).value();
  writer->copy(*uncopied->open("b").value(), 1, 2'500'000, large.size() + 1'005'000).value();
  writer->copy(*old, large.size(), 0, 7).value();
  writer->commit().value();
  EXPECT_TRUE(get("a") == large + '\0' + large.substr(11, 5000) + large.substr(2'000'001) + large.substr(1, 2'500'000));
}

TEST_P(EveryStore, RefusesToCopyAMissingObject) {
  set("a", "0123456789");
  const auto source = store_->open("a").value();
  auto writer = store_->write("b").value();
  for (const auto& [offset, length] :
       {std::pair<std::uint64_t, std::uint64_t>{8, 3}, {11, 0}, {~std::uint64_t{0}, 2}}) {
    EXPECT_FALSE(writer->copy(*source, offset, length, 0)) << offset << ' ' << length;
  }
}

TEST_P(EveryStore, ErasesObjectsAndPrefixes) {
  for (const char* key : {"a/b", "a/c/d", "a/c/e/f", "a.b/c", "ab", "z"}) set(key, key);
  erase("z", Erased::object);
  erase("z", Erased::nothing);
  store_->erase_prefix("a/c/").value();
  EXPECT_THAT(keys(), ElementsAre("a.b/c", "a/b", "ab"));
  store_->erase_prefix("a/").value();
  EXPECT_THAT(keys(), ElementsAre("a.b/c", "ab"));
  const auto left = store_->list_dir("").value().prefixes;
  EXPECT_THAT(left, testing::Conditional(GetParam().is_filer, testing::Contains("a.b"), ElementsAre("a.b")));
  set("a/b", "again");
  EXPECT_EQ(get("a/b"), "again");
  store_->erase_prefix("").value();
  EXPECT_THAT(keys(), IsEmpty());
  EXPECT_TRUE(store_->list_dir("").value().prefixes.empty() || GetParam().is_filer);
}

TEST_P(EveryStore, MovesAPrefixIntoAnExistingOne) {
  for (const char* key : {"new/a/b", "new/a/c/d", "new/z.json", "new/e/f", "a/b", "a/kept", "e/g", "newer"})
    set(key, key);
  RenamingStore* const renames = renaming(*store_, "");
  if (renames == nullptr) return;
  renames->move_all("new/", "").value();
  EXPECT_THAT(keys(), ElementsAre("a/b", "a/c/d", "a/kept", "e/f", "e/g", "newer", "z.json"));
  EXPECT_EQ(get("a/b"), "new/a/b");
  EXPECT_EQ(get("a/kept"), "a/kept");
  renames->move_all("e/", "x/y/").value();
  EXPECT_THAT(keys(), ElementsAre("a/b", "a/c/d", "a/kept", "newer", "x/y/f", "x/y/g", "z.json"));
  renames->move_all("none/", "a/").value();
  EXPECT_EQ(keys().size(), 7U);
}

TEST_P(EveryStore, MovesAPrefixAtOnceOrChangesNothing) {
  for (const char* key : {"a/b", "a/c/d", "e/f"}) set(key, key);
  RenamingStore* const renames = renaming(*store_, "");
  if (renames == nullptr) return;
  EXPECT_FALSE(renames->move_at_once("a/", "e/").value());
  EXPECT_THAT(keys(), ElementsAre("a/b", "a/c/d", "e/f"));
  if (renames->move_at_once("a/", "x/y/").value())
    EXPECT_THAT(keys(), ElementsAre("e/f", "x/y/b", "x/y/c/d"));
  else
    EXPECT_THAT(keys(), ElementsAre("a/b", "a/c/d", "e/f"));
}

TEST_P(EveryStore, MovesNothingAtOnceFromWhereThereIsNothing) {
  for (const char* key : {"a/b", "e/f"}) set(key, key);
  RenamingStore* const renames = renaming(*store_, "");
  if (renames == nullptr) return;
  EXPECT_TRUE(renames->move_at_once("a/", "b/").value());
  for (const char* from : {"a/", "a/c/", "none/"})
    EXPECT_EQ(renames->move_at_once(from, "x/y/").error().code(), ErrorCode::not_found) << from;
  EXPECT_THAT(keys(), ElementsAre("b/b", "e/f"));
}

TEST(MemoryStore, MovesNothingAtOnceWhileAKeyIsHeld) {
  const auto store = memory_store();
  store->set("a/b", "1").value();
  auto lock = store->lock("a/c").value();
  EXPECT_EQ(renaming(*store, "")->move_at_once("a/", "b/").error().code(), ErrorCode::conflict);
  lock.reset();
  EXPECT_TRUE(renaming(*store, "")->move_at_once("a/", "b/").value());
  EXPECT_EQ(store->get("b/b").value(), "1");
}

TEST_P(EveryStore, ListsTheChildrenOfAPrefix) {
  for (const char* key : {"g/b", "g/a", "g/c/0", "g/c/1", "g/c.d/0", "g/c0", "h"}) set(key, key);
  const auto listing = store_->list_dir("g/").value();
  std::vector<std::string> names;
  for (const auto& object : listing.objects) {
    names.push_back(object.name);
    EXPECT_EQ(object.size, object.name.size() + 2);
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c0"));
  EXPECT_THAT(listing.prefixes, ElementsAre("c", "c.d"));
}

TEST_P(EveryStore, ListsAllKeysInOrderAndStopsOnRequest) {
  const std::vector<std::string> sorted = {"a.b/c", "a/b", "a/c/d", "a/c/e/f", "ab", "z"};
  for (auto key = sorted.rbegin(); key != sorted.rend(); ++key) set(*key, "x");
  EXPECT_EQ(keys(), sorted);
  EXPECT_THAT(keys("a/c/"), ElementsAre("a/c/d", "a/c/e/f"));
  int seen = 0;
  EXPECT_FALSE(store_->list("", [&](const std::string&, std::uint64_t) { return ++seen < 3; }).value());
  EXPECT_EQ(seen, 3);
}

TEST_P(EveryStore, RefusesKeysOutsideTheStore) {
  const std::string deep = [] {
    std::string key = "a";
    for (int i = 0; i < 10'000; ++i) key += "/a";
    return key;
  }();
  for (const std::string& key :
       {std::string(), std::string("/"), std::string("/etc/passwd"), std::string("a//b"), std::string("a/"),
        std::string("."), std::string(".."), std::string("../a"), std::string("a/../b"), std::string("a/./b"),
        std::string("a/.."), std::string("a\0b", 3), std::string(256, 'n'), deep, std::string("a/.x.sherd-lock")}) {
    SCOPED_TRACE(key.substr(0, 40));
    std::vector<ErrorCode> codes;
    const auto note = [&](const auto& result) {
      codes.push_back(result.has_value() ? ErrorCode::io : result.error().code());
    };
    note(store_->open(key));
    note(store_->write(key));
    note(store_->lock(key));
    note(store_->erase(key));
    if (!key.empty()) note(store_->list_dir(key + "/"));
    if (!key.empty()) note(store_->erase_prefix(key + "/"));
    EXPECT_THAT(codes, testing::Each(ErrorCode::invalid_argument));
  }
  EXPECT_FALSE(store_->list_dir("a"));
  EXPECT_FALSE(store_->erase_prefix("a"));
  EXPECT_THAT(directory_.contents(), IsEmpty());
}

TEST_P(EveryStore, AcceptsEveryOtherKeyUnchanged) {
  std::vector<std::string> odd = {
      "%2e%2e%2f",           "%252e",    "..\\..\\a", "...",         "..a", ".zattrs", "A/case", "a/case",
      "caf\xc3\xa9",         "\xff\xfe", " ",         "c:d?e#f*g|h", "-rf", "x\ny",    ".sherd", "x.sherd-lock",
      std::string(255, 'n'), "~"};
  if (!GetParam().has_any_bytes_in_keys) std::erase(odd, "\xff\xfe");
  if (GetParam().is_filer) std::erase(odd, "..\\..\\a");
  for (const auto& key : odd) set(key, key);
  for (const auto& key : odd) EXPECT_EQ(get(key), key);
  auto sorted = odd;
  std::ranges::sort(sorted);
  EXPECT_EQ(keys(), sorted);
}

TEST_P(EveryStore, LetsAThreadWriteAndEraseUnderItsLock) {
  if (!GetParam().compares) {
    EXPECT_TRUE(is_refused_by_name(store_->lock("a")));
    return;
  }
  const auto lock = store_->lock("a").value();
  set("a", "1");
  set("a", "2");
  const auto again = store_->lock("a").value();
  erase("a", Erased::object);
  set("b", "other keys are free");
  EXPECT_EQ(get("a"), std::nullopt);
}

TEST_P(EveryStoreWithLocks, LetsAThreadHaveOneWriterOfAKeyAtATime) {
  auto writer = store_->write("a").value();
  const auto second = store_->write("a");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::invalid_argument);
  writer.reset();
  set("a", "1");
  EXPECT_EQ(get("a"), "1");
}

TEST_P(EveryStoreWithLocks, MakesOtherThreadsWaitForALock) {
  set("a", "0");
  auto lock = store_->lock("a").value();
  std::atomic<bool> unlocked = false;
  std::thread other([&] {
    set("a", "2");
    EXPECT_TRUE(unlocked);
  });
  EXPECT_EQ(get("a"), "0");
  set("a", "1");
  EXPECT_EQ(get("a"), "1");
  unlocked = true;
  lock.reset();
  other.join();
  EXPECT_EQ(get("a"), "2");
}

TEST_P(EveryStoreWithLocks, KeepsTheLockWhileAWriterMadeUnderItLives) {
  auto lock = store_->lock("a").value();
  auto writer = store_->write("a").value();
  lock.reset();
  std::atomic<bool> committed = false;
  std::thread other([&] {
    set("a", "2");
    EXPECT_TRUE(committed);
  });
  writer->write(0, as_bytes("1")).value();
  committed = true;
  writer->commit().value();
  other.join();
  EXPECT_EQ(get("a"), "2");
}

TEST(PrefixedStore, IsWhatLiesBelowThePrefix) {
  auto whole = memory_store();
  whole->set("a/b", "1").value();
  whole->set("ab", "2").value();
  const auto part = prefixed_store(whole, "a/");
  EXPECT_EQ(part->get("b").value(), "1");
  EXPECT_THAT(part->list_dir("").value().objects, testing::SizeIs(1));
  part->set("c/d", "3").value();
  EXPECT_EQ(whole->get("a/c/d").value(), "3");
  renaming(*part, "")->move_all("c/", "e/").value();
  EXPECT_EQ(whole->get("a/e/d").value(), "3");
  EXPECT_EQ(part->erase("b").value(), Erased::object);
  EXPECT_FALSE(part->open("../ab")) << "no key leads out of it";
  part->erase_prefix("").value();
  EXPECT_EQ(whole->get("ab").value(), "2");
  EXPECT_EQ(whole->get("a/e/d").value(), std::nullopt);
}

}  // namespace store_test
}  // namespace sherd
