// Streams of slices: what is stored and shown when, what a full queue, a failure and a second appender do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/child.hpp"
#include "tests/store/lock_holder.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace appender_test {

using testing::HasSubstr;

constexpr std::uint64_t kRows = 3, kColumns = 5;
constexpr std::uint64_t kSlice = kRows * kColumns;

/// The elements of slices [first, first + count): each tells its slice and its place.
std::vector<std::uint32_t> slices(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint32_t> values(count * kSlice);
  std::iota(values.begin(), values.end(), static_cast<std::uint32_t>(first * kSlice + 1));
  return values;
}

Result<void> append(Appender& appender, std::uint64_t first, std::uint64_t count, double timeout = Appender::kForever) {
  return appender.append(std::span<const std::uint32_t>(slices(first, count)), timeout);
}

std::vector<std::uint32_t> read_all(const Array& array) {
  std::vector<std::uint32_t> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

CreateOptions shards_of(std::uint64_t chunk, std::uint64_t shard) {
  CreateOptions options{.shape = {0, kRows, kColumns}, .dtype = DType::uint32, .chunks = {chunk, 2, 5}};
  if (shard != 0) options.shards = {shard, 4, 5};
  options.config.durable = false;
  return options;
}

Array opened(const std::shared_ptr<Store>& store, Config config = {.durable = false}) {
  return open_array(store, {.writable = true, .config = std::move(config)}).value();
}

std::uint64_t length_in(const std::shared_ptr<Store>& store) { return open_array(store).value().shape()[0]; }

// ---- what is stored ----

struct Kind {
  const char* name;
  std::uint64_t chunk, shard;
  std::uint64_t queue_slices;
  Technique technique = Technique::automatic;
  const char* format = "zarr3";
  bool raw = false;
};

class Streams : public testing::TestWithParam<Kind> {};

TEST_P(Streams, ShowEverySliceOfAFlushAndNothingElse) {
  const Kind& kind = GetParam();
  const TempDir directory;
  for (const auto& base : {memory_store(), std::shared_ptr<Store>(lockless()), file_store(directory.path()).value()}) {
    CreateOptions options = shards_of(kind.chunk, kind.shard);
    options.format = kind.format;
    if (kind.raw) options.codecs = {Json("bytes")};
    create_array(base, "", options).value();
    Array array = opened(base);
    std::uint64_t length = 0;
    for (int stream = 0; stream < 2; ++stream) {
      Appender appender =
          array.appender({.technique = kind.technique, .queue_bytes = kind.queue_slices * kSlice * 4}).value();
      for (const std::uint64_t count : {1, 1, 2, 7, 3, 0, 30, 16, 1}) {
        append(appender, length, count).value();
        length += count;
        appender.flush().value();
        ASSERT_EQ(array.shape()[0], length);
        ASSERT_EQ(read_all(opened(base)), slices(0, length));
      }
      append(appender, length, 2).value();
      length += 2;
      appender.close().value();
      EXPECT_EQ(appender.stats().stored, 63U);
      EXPECT_EQ(appender.stats().length, length);
    }
    EXPECT_EQ(read_all(opened(base)), slices(0, length));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Streams,
    testing::Values(Kind{"SliceBySlice", 1, 0, 8, Technique::whole_shards}, Kind{"Chunks", 4, 0, 16},
                    Kind{"ChunksOfAQueue", 4, 0, 4}, Kind{"Shards", 1, 8, 16, Technique::append},
                    Kind{"ShardsLargerThanTheQueue", 2, 64, 6, Technique::append},
                    Kind{"ShardsAsLargeAsTheQueue", 2, 16, 16, Technique::arrival},
                    Kind{"ShardsInOrderOfArrival", 4, 16, 64, Technique::arrival},
                    Kind{"ShardsAtKnownPlaces", 1, 8, 16, Technique::preallocated, "zarr3", true},
                    Kind{"ShardsAtKnownPlacesLargerThanTheQueue", 2, 64, 6, Technique::preallocated, "zarr3", true},
                    Kind{"ZarrVersion2", 4, 0, 16, Technique::automatic, "zarr2"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Appender, AppendsAlongAnyAxisAndFromAnyStrides) {
  const auto store = memory_store();
  CreateOptions options{
      .shape = {kRows, 2, kColumns}, .dtype = DType::uint32, .chunks = {2, 3, 5}, .shards = {4, 6, 5}};
  Array array = create_array(store, "", options).value();
  const std::vector<std::uint32_t> before(kRows * 2 * kColumns, 9);
  array.write(Box{{0, 0, 0}, {kRows, 2, kColumns}}, std::span<const std::uint32_t>(before)).value();
  Appender appender = array.appender({.axis = 1}).value();
  const auto values = slices(0, 4);
  // Four slices that follow each other in memory, and one slice in Fortran order.
  appender.append(StridedView<const std::uint32_t>(values.data(), {kRows, 4, kColumns}, {kColumns, kSlice, 1})).value();
  appender.append(StridedView<const std::uint32_t>(values.data(), {kRows, kColumns}, Order::f)).value();
  appender.close().value();
  ASSERT_EQ(array.shape(), (Shape{kRows, 7, kColumns}));
  const auto stored = read_all(array);
  for (std::uint64_t y = 0; y < kRows; ++y)
    for (std::uint64_t t = 0; t < 7; ++t)
      for (std::uint64_t x = 0; x < kColumns; ++x) {
        const std::uint32_t expected = t < 2   ? 9
                                       : t < 6 ? values[(t - 2) * kSlice + y * kColumns + x]
                                               : values[x * kRows + y];
        ASSERT_EQ(stored[(y * 7 + t) * kColumns + x], expected);
      }
}

TEST(Appender, StoresElementsBeforeTheShapeThatShowsThem) {
  const auto base = memory_store();
  create_array(base, "", shards_of(2, 8)).value();
  const auto store = std::make_shared<TestStore>(base);
  store->of = Op::commit;
  std::atomic<int> shown{0};
  store->after = [&](const Asked& asked) {
    if (asked.key != "zarr.json") return;
    const Array now = open_array(base).value();
    EXPECT_EQ(read_all(now), slices(0, now.shape()[0]));
    ++shown;
  };
  Appender appender = opened(store).appender({.queue_bytes = 16 * kSlice * 4}).value();
  for (std::uint64_t i = 0; i < 60; ++i) {
    append(appender, i, 1).value();
    if (i % 7 == 0) appender.flush().value();
  }
  appender.close().value();
  EXPECT_GE(shown, 9);
  EXPECT_EQ(length_in(base), 60U);
}

TEST(Appender, ShowsOnlyLengthsThatWereFlushed) {
  const auto base = memory_store();
  create_array(base, "", shards_of(2, 8)).value();
  const auto store = std::make_shared<TestStore>(base);
  store->of = Op::commit;
  std::vector<std::uint64_t> lengths;
  store->after = [&](const Asked& asked) {
    if (asked.key == "zarr.json") lengths.push_back(length_in(base));
  };
  Appender appender = opened(store).appender({.queue_bytes = 16 * kSlice * 4, .auto_flush = false}).value();
  append(appender, 0, 100).value();
  appender.flush().value();
  append(appender, 100, 3).value();
  appender.flush().value();
  append(appender, 103, 40).value();
  appender.close().value();
  EXPECT_THAT(lengths, testing::ElementsAre(100, 103, 143));
  EXPECT_EQ(appender.stats().flushes, 3U);
  EXPECT_EQ(read_all(opened(base)), slices(0, 143));
}

TEST(Appender, WritesWholeShardsOnceUnlessFlushed) {
  const auto store = std::make_shared<TestStore>(memory_store());
  create_array(store, "", shards_of(1, 8)).value();
  store->forget();
  Appender appender = opened(store).appender().value();
  for (std::uint64_t i = 0; i < 40; ++i) append(appender, i, 1).value();
  appender.close().value();
  EXPECT_EQ(store->count(Op::commit, "c/4/0/0"), 1U);
  EXPECT_EQ(store->count(Op::commits) - store->count(Op::commits, "zarr.json"), 5U);
  EXPECT_EQ(length_in(store), 40U);
}

TEST(Appender, OfTechniqueFourLeavesShardsWithoutDeadBytes) {
  const auto sizes = [](Technique technique, std::uint64_t flush_every) {
    const auto store = memory_store();
    create_array(store, "", shards_of(4, 16)).value();
    Appender appender = opened(store).appender({.technique = technique}).value();
    for (std::uint64_t i = 0; i < 32; ++i) {
      append(appender, i, 1).value();
      if ((i + 1) % flush_every == 0) appender.flush().value();
    }
    appender.close().value();
    EXPECT_EQ(read_all(opened(store)), slices(0, 32));
    return open_array(store).value().stored().value().bytes;
  };
  EXPECT_GT(sizes(Technique::append, 3), sizes(Technique::append, 32));
  EXPECT_EQ(sizes(Technique::arrival, 3), sizes(Technique::append, 32));
}

TEST(Appender, ContinuesInsideAChunk) {
  const auto store = memory_store();
  create_array(store, "", shards_of(8, 16)).value();
  std::uint64_t length = 0;
  for (const std::uint64_t count : {3, 1, 5, 20}) {
    Appender appender = opened(store).appender().value();
    append(appender, length, count).value();
    length += count;  // and is destroyed, which stores it
  }
  EXPECT_EQ(read_all(opened(store)), slices(0, length));
}

TEST(Appender, KeepsConsolidatedMetadataUpToDate) {
  const auto store = memory_store();
  Group group = create_group(store, "").value();
  create_array(store, "movie", shards_of(1, 4)).value();
  group.consolidate().value();
  Array array = open_array(store, {.path = "movie", .writable = true}).value();
  Appender appender = array.appender().value();
  append(appender, 0, 3).value();
  appender.flush().value();
  EXPECT_THAT(store->get("zarr.json").value().value(), testing::ContainsRegex("\"shape\":[ \n]*\\[[ \n]*3,"));
}

// ---- the queue ----

TEST(Appender, RefusesSlicesOnceTheQueueIsFullAndTimeIsUp) {
  const auto store = memory_store();
  create_array(store, "", shards_of(1, 4)).value();
  Array array = opened(store);
  Appender appender = array.appender({.queue_bytes = 8 * kSlice * 4}).value();
  {
    const LockHolder holder(store, "c/0/0/0");
    append(appender, 0, 5, 0).value();
    const auto refused = append(appender, 5, 5, 0.01);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
    EXPECT_THAT(refused.error().text(), HasSubstr("queue of the appender is full: 3 of 5 slices"));
    const Appender::Stats stats = appender.stats();
    EXPECT_EQ(stats.appended, 8U);
    EXPECT_EQ(stats.stored, 0U);
    EXPECT_EQ(stats.queued_bytes, stats.queue_bytes);
    EXPECT_GT(stats.waited, 0);
  }
  append(appender, 8, 2).value();
  appender.close().value();
  EXPECT_EQ(read_all(array), slices(0, 10));
  EXPECT_EQ(appender.stats().queued_bytes, 0U);
}

TEST(Appender, EndsAWaitWhenTheCallIsInterrupted) {
  const auto store = memory_store();
  create_array(store, "", shards_of(1, 0)).value();
  std::atomic<bool> interrupted{false};
  Config config{.durable = false};
  config.interrupted = [&] { return interrupted.load(); };
  Array array = opened(store, config);
  {
    const LockHolder holder(store, "c/0/0/0");
    Appender appender = array.appender({.queue_bytes = 2 * kSlice * 4}).value();
    append(appender, 0, 2).value();
    interrupted = true;
    EXPECT_EQ(code_of(append(appender, 2, 1)), ErrorCode::unavailable);
    EXPECT_EQ(code_of(appender.flush()), ErrorCode::unavailable);
    EXPECT_EQ(code_of(appender.close()), ErrorCode::unavailable);
  }  // does not wait for the lock after that
  EXPECT_EQ(length_in(store), 0U);
}

TEST(Appender, CanBeClosedAgainAfterAnInterruptedClose) {
  const auto store = memory_store();
  create_array(store, "", shards_of(1, 0)).value();
  std::atomic<bool> interrupted{false};
  Config config{.durable = false};
  config.interrupted = [&] { return interrupted.load(); };
  Appender appender = opened(store, config).appender().value();
  {
    const LockHolder holder(store, "c/0/0/0");
    append(appender, 0, 2).value();
    interrupted = true;
    EXPECT_EQ(code_of(appender.close()), ErrorCode::unavailable);
  }
  interrupted = false;
  appender.close().value();
  appender.close().value();
  EXPECT_EQ(length_in(store), 2U);
  EXPECT_EQ(code_of(append(appender, 2, 1)), ErrorCode::invalid_argument);
  appender.flush().value();
}

TEST(Appender, EstimatesItsMemoryFromItsQueueAndThreads) {
  CreateOptions options{.shape = {0, 1024, 1024}, .dtype = DType::uint16, .chunks = {1, 256, 256}};
  options.shards = {16, 1024, 1024};
  const Array array = create_array(memory_store(), "", options).value();
  const Appender::Stats by_default = array.appender({.threads = 2}).value().stats();
  EXPECT_EQ(by_default.queue_bytes, std::uint64_t{96} << 20);  // three rows of shards
  const Appender small = array.appender({.queue_bytes = 5U << 20, .threads = 2}).value();
  EXPECT_EQ(small.stats().queue_bytes, 4U << 20);
  EXPECT_GT(small.estimate_memory(), small.stats().queue_bytes + 256U * 16U);
  EXPECT_LT(small.estimate_memory(), 64U << 20);
}

// ---- failures ----

TEST(Appender, EndsWithWhatWasStoredWhenAWriteFails) {
  const auto base = memory_store();
  create_array(base, "", shards_of(1, 4)).value();
  const auto store = std::make_shared<TestStore>(base);
  store->fail_at("c/2/0/0", Op::commit);
  Array array = opened(store);
  Appender appender = array.appender().value();
  append(appender, 0, 6).value();
  appender.flush().value();
  append(appender, 6, 3).value();
  const auto failed = appender.flush();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::io);
  EXPECT_EQ(failed.error().key(), "c/2/0/0");
  EXPECT_THAT(failed.error().text(), testing::AllOf(HasSubstr("the stream ended at length "), HasSubstr("not stored"),
                                                    HasSubstr("the disk is broken")));
  for (const auto& again : {append(appender, 9, 1), appender.flush(), appender.close(), appender.close()})
    EXPECT_EQ(again.error().text(), failed.error().text());
  const std::uint64_t length = length_in(base);
  EXPECT_GE(length, 6U);
  EXPECT_LE(length, 8U);
  EXPECT_EQ(read_all(opened(base)), slices(0, length));
  Appender next = opened(base).appender().value();
  append(next, length, 9).value();
  next.close().value();
  EXPECT_EQ(read_all(opened(base)), slices(0, length + 9));
}

TEST(Appender, FailsAtAnyRequestWithoutLosingWhatWasFlushed) {
  for (int number = 0;; ++number) {
    const auto base = memory_store();
    create_array(base, "", shards_of(2, 8)).value();
    const auto store = std::make_shared<TestStore>(base);
    store->fail_from(number, Op::most);
    std::uint64_t flushed = 0;
    bool failed = true;
    if (auto array = open_array(store, {.writable = true, .config = {.threads = 1, .durable = false}}))
      if (auto appender = array->appender({.queue_bytes = 16 * kSlice * 4})) {
        for (std::uint64_t i = 0; i < 20; i += 5)
          if (append(*appender, i, 5) && appender->flush()) flushed = i + 5;
        failed = !appender->close();
      }
    const Array now = opened(base);
    ASSERT_GE(now.shape()[0], flushed);
    ASSERT_EQ(read_all(now), slices(0, now.shape()[0]));
    Appender next = now.appender().value();
    append(next, now.shape()[0], 9).value();
    next.close().value();
    ASSERT_EQ(read_all(now), slices(0, now.shape()[0]));
    if (!failed) {
      EXPECT_GT(number, 20);
      break;
    }
  }
}

TEST(Appender, OfAKilledProcessIsContinuedFromItsLastFlush) {
  const TempDir directory;
  create_array(file_store(directory.path()).value(), "", shards_of(2, 8)).value();
  std::uint64_t length = 0;
  for (const std::uint64_t flushes : {1, 2, 3}) {
    const int status = in_child([&] {
      Array array = opened(file_store(directory.path()).value());
      Appender appender = array.appender({.queue_bytes = 16 * kSlice * 4}).value();
      for (std::uint64_t i = 0; i < flushes; ++i) {
        append(appender, length + i * 3, 3).value();
        appender.flush().value();
      }
      append(appender, length + flushes * 3, 1).value();
      ::kill(::getpid(), SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto store = file_store(directory.path()).value();
    EXPECT_GE(length_in(store), length + flushes * 3);
    length = length_in(store);
    EXPECT_EQ(read_all(opened(store)), slices(0, length));
  }
}

// ---- others ----

TEST(Appender, IsOnlyOneForAnArrayAtATime) {
  const TempDir directory;
  const Config config{.durable = false, .lock_timeout = 0};
  create_array(file_store(directory.path()).value(), "", shards_of(1, 4)).value();
  Array array = opened(file_store(directory.path()).value(), config);
  Appender first = array.appender().value();
  for (const Array& other : {array, opened(file_store(directory.path()).value(), config)}) {
    const auto second = other.appender();
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), ErrorCode::conflict);
    EXPECT_TRUE(second.error().is_lasting());
    EXPECT_THAT(second.error().text(), HasSubstr("another appender of the array is open"));
  }
  EXPECT_EQ(code_of(array.resize({7, kRows, kColumns})), ErrorCode::unavailable);
  append(first, 0, 2).value();
  first.close().value();
  Appender third = array.appender().value();
  append(third, 2, 1).value();
  third.close().value();
  EXPECT_EQ(length_in(file_store(directory.path()).value()), 3U);
}

TEST(Appender, FindsInAStoreWithoutLocksThatTheShapeWasChanged) {
  const auto store = lockless();
  create_array(store, "", shards_of(1, 4)).value();
  Appender appender = opened(store).appender().value();
  append(appender, 0, 2).value();
  appender.flush().value();
  Array other = opened(store);
  const auto values = slices(2, 1);
  other.append(StridedView<const std::uint32_t>(values.data(), {1, kRows, kColumns}).untyped()).value();
  append(appender, 9, 2).value();
  EXPECT_EQ(code_of(appender.flush()), ErrorCode::conflict);
  EXPECT_EQ(code_of(appender.close()), ErrorCode::conflict);
  EXPECT_EQ(read_all(opened(store)), slices(0, 3));
}

TEST(Appender, IsRefusedForWhatItCannotDo) {
  const auto store = memory_store();
  create_array(store, "a", shards_of(2, 8)).value();
  CreateOptions grid = shards_of(2, 0);
  grid.chunks = {};
  grid.chunk_grid = Json::parse(R"({"name": "rectilinear", "configuration": {"kind": "inline",
      "chunk_shapes": [[2, 3], 2, 5]}})")
                        .value();
  grid.shape = {5, kRows, kColumns};
  create_array(store, "grid", grid).value();
  const auto refused = [&](const std::string& path, const AppenderOptions& options, bool writable = true) {
    return open_array(store, {.path = path, .writable = writable}).value().appender(options).error();
  };
  EXPECT_EQ(refused("a", {}, false).code(), ErrorCode::invalid_argument);
  EXPECT_THAT(refused("a", {.axis = 3}).text(), HasSubstr("axis 3 of an array of 3 dimensions"));
  EXPECT_THAT(refused("a", {.technique = Technique::whole_shards}).text(), HasSubstr("these have length 8"));
  EXPECT_THAT(refused("a", {.technique = Technique::preallocated}).text(),
              HasSubstr("requires shards of uncompressed"));
  EXPECT_THAT(refused("a", {.queue_bytes = 2 * kSlice * 4 - 1}).text(),
              HasSubstr("119 bytes are less than a row of chunks, 120"));
  EXPECT_EQ(refused("grid", {}).code(), ErrorCode::unsupported);

  Appender appender = open_array(store, {.path = "a", .writable = true}).value().appender().value();
  const std::vector<std::uint16_t> narrow(kSlice);
  const std::vector<std::uint32_t> odd(kSlice + 1);
  EXPECT_EQ(code_of(appender.append(std::span(narrow))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(appender.append(std::span(odd))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(appender.append(StridedView<const std::uint32_t>(odd.data(), {kColumns, kRows}))),
            ErrorCode::invalid_argument);
  appender.close().value();
}

}  // namespace appender_test
}  // namespace sherd
