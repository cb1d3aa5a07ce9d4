// Streams of several arrays of a group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <numeric>
#include <set>
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
namespace stream_test {

using testing::AllOf;
using testing::HasSubstr;

const Config kQuick{.durable = false};

constexpr std::uint64_t kRows = 3, kColumns = 5, kStations = 4;

/// Slices [first, first + count) of each array: an element tells its array, its slice and its place.
struct Slices {
  Slices(std::uint64_t from, std::uint64_t slices)
      : count(slices), heat(slices * kRows * kColumns), air(kStations * slices), time(slices) {
    std::iota(heat.begin(), heat.end(), static_cast<float>(from * kRows * kColumns + 1));
    for (std::uint64_t station = 0; station < kStations; ++station)
      for (std::uint64_t i = 0; i < slices; ++i)
        air[station * slices + i] = static_cast<std::uint16_t>(100 * (from + i) + station + 1);
    std::iota(time.begin(), time.end(), static_cast<std::int64_t>(from + 1000));
  }
  [[nodiscard]] std::vector<ConstAnyView> views() const {
    return {StridedView<const float>(heat.data(), {count, kRows, kColumns}).untyped(),
            StridedView<const std::int64_t>(time.data(), {count}).untyped(),
            StridedView<const std::uint16_t>(air.data(), {kStations, count}).untyped()};
  }

  std::uint64_t count;
  std::vector<float> heat;
  std::vector<std::uint16_t> air;
  std::vector<std::int64_t> time;
};

const std::vector<AppendedArray> kArrays{{"heat"}, {"time"}, {"ground/air", 1}};

/// A group with two arrays along time, one of them in a group below, and their coordinate.
Group create_weather(const std::shared_ptr<Store>& store) {
  Group group = create_group(store, "", {}, false, kQuick).value();
  const auto create = [&](const std::string& path, CreateOptions options,
                          std::vector<std::optional<std::string>> names) {
    options.dimension_names = std::move(names);
    options.config = kQuick;
    group.create_array(path, options).value();
  };
  create("heat", {.shape = {0, kRows, kColumns}, .dtype = DType::float32, .chunks = {1, 3, 5}, .shards = {4, 3, 5}},
         {"time", "y", "x"});
  create("ground/air", {.shape = {kStations, 0}, .dtype = DType::uint16, .chunks = {4, 3}}, {"station", "time"});
  create("time", {.shape = {0}, .dtype = DType::int64, .chunks = {16}}, {"time"});
  return group;
}

Group opened(const std::shared_ptr<Store>& store, Config config = kQuick) {
  return open_group(store, {.writable = true, .config = std::move(config)}).value();
}

template <class T>
std::vector<T> read_all(const Group& group, const std::string& path) {
  const Array array = std::get<Array>(group.open(path).value());
  std::vector<T> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

/// The lengths of heat, air and time, after checking that they have their slices and no others.
std::vector<std::uint64_t> lengths_of(const std::shared_ptr<Store>& store) {
  const Group group = open_group(store).value();
  std::vector<std::uint64_t> lengths;
  for (const auto& [path, axis] : {kArrays[0], kArrays[2], kArrays[1]})
    lengths.push_back(std::get<Array>(group.open(path).value()).shape()[axis]);
  EXPECT_EQ(read_all<float>(group, "heat"), Slices(0, lengths[0]).heat);
  EXPECT_EQ(read_all<std::uint16_t>(group, "ground/air"), Slices(0, lengths[1]).air);
  EXPECT_EQ(read_all<std::int64_t>(group, "time"), Slices(0, lengths[2]).time);
  return lengths;
}

TEST(GroupAppender, AppendsAsManySlicesToEveryArray) {
  const TempDir directory;
  for (const auto& store : {memory_store(), std::shared_ptr<Store>(lockless()), file_store(directory.path()).value()}) {
    create_weather(store);
    std::uint64_t length = 0;
    for (int stream = 0; stream < 2; ++stream) {
      Appender appender = opened(store).appender(kArrays, {.queue_bytes = 1200}).value();
      EXPECT_EQ(appender.stats().length, length);
      for (const std::uint64_t count : {1, 2, 7, 0, 30, 3}) {
        appender.append(Slices(length, count).views()).value();
        length += count;
        appender.flush().value();
        ASSERT_EQ(lengths_of(store), std::vector(3, length));
      }
      appender.append(Slices(length, 2).views()).value();
      length += 2;
      appender.close().value();
      EXPECT_EQ(appender.stats().stored, 45U);
    }
    EXPECT_EQ(lengths_of(store), std::vector(3, length));
  }
}

TEST(GroupAppender, ShowsNoCoordinateThatIsLongerThanTheData) {
  const auto base = memory_store();
  create_weather(base);
  const auto store = std::make_shared<TestStore>(base);
  store->of = Op::commit;
  std::atomic<int> shown{0};
  store->after = [&](const Asked& asked) {
    if (!asked.key.ends_with("zarr.json")) return;
    const auto lengths = lengths_of(base);
    EXPECT_GE(lengths[0], lengths[2]);
    EXPECT_GE(lengths[1], lengths[2]);
    ++shown;
  };
  Appender appender = opened(store).appender(kArrays, {.queue_bytes = 1200}).value();
  for (std::uint64_t i = 0; i < 60; ++i) {
    appender.append(Slices(i, 1).views()).value();
    if (i % 7 == 0) appender.flush().value();
  }
  appender.close().value();
  EXPECT_GE(shown, 27);
  EXPECT_EQ(lengths_of(base), std::vector<std::uint64_t>(3, 60));
}

TEST(GroupAppender, ShowsOneLengthToReadersOfConsolidatedMetadata) {
  const auto base = memory_store();
  create_weather(base).consolidate().value();
  const auto store = std::make_shared<TestStore>(base);
  store->of = Op::commit;
  std::vector<std::uint64_t> seen;
  store->after = [&](const Asked& asked) {
    if (asked.key != "zarr.json") return;
    const Json root = Json::parse(base->get("zarr.json").value().value()).value();
    const Json* nodes = root.find("consolidated_metadata")->find("metadata");
    std::vector<std::uint64_t> lengths;
    for (const auto& [path, axis] : kArrays)
      lengths.push_back(*nodes->find(path)->find("shape")->elements()[axis].as_uint());
    EXPECT_THAT(lengths, testing::Each(lengths.front()));
    if (seen.empty() || seen.back() != lengths.front()) seen.push_back(lengths.front());
  };
  Appender appender = opened(store).appender(kArrays, {.auto_flush = false}).value();
  for (const std::uint64_t first : {0, 5, 10}) {
    appender.append(Slices(first, 5).views()).value();
    appender.flush().value();
  }
  EXPECT_THAT(seen, testing::ElementsAre(5, 10, 15));
  appender.close().value();
}

TEST(GroupAppender, AlsoFlushesRowsOfShardsOfTheLargestSlices) {
  const auto base = memory_store();
  create_weather(base);
  {
    Appender appender = opened(base).appender(kArrays).value();
    appender.append(Slices(0, 11).views()).value();
    while (appender.stats().length < 8) std::this_thread::yield();
    EXPECT_EQ(lengths_of(base), std::vector<std::uint64_t>(3, 8));
    appender.close().value();
  }
  Appender appender = opened(base).appender(kArrays, {.auto_flush = false}).value();
  appender.append(Slices(11, 30).views()).value();
  appender.close().value();
  EXPECT_EQ(appender.stats().flushes, 1U);
  EXPECT_EQ(lengths_of(base), std::vector<std::uint64_t>(3, 41));
}

TEST(GroupAppender, OfAKilledProcessIsContinuedWithEverySliceThatWasShown) {
  std::set<std::vector<std::uint64_t>> left;
  for (int number = 0;; ++number) {
    const TempDir directory;
    create_weather(file_store(directory.path()).value());
    const int status = in_child([&] {
      const auto store = std::make_shared<TestStore>(file_store(directory.path()).value());
      store->of = Op::commits;
      store->after = [left = std::make_shared<std::atomic<int>>(number)](const Asked&) {
        if ((*left)-- == 0) ::kill(::getpid(), SIGKILL);
      };
      Appender appender =
          opened(store, {.threads = 1, .durable = false}).appender(kArrays, {.auto_flush = false}).value();
      for (const std::uint64_t first : {0, 6}) {
        appender.append(Slices(first, 6).views()).value();
        appender.flush().value();
      }
    });
    const auto store = file_store(directory.path()).value();
    const auto before = lengths_of(store);
    ASSERT_GE(before[0], before[2]);
    ASSERT_GE(before[1], before[2]);
    left.insert(before);
    Appender next = opened(store).appender(kArrays).value();
    const std::uint64_t length = next.stats().length;
    ASSERT_EQ(length, *std::ranges::max_element(before));
    ASSERT_EQ(lengths_of(store), std::vector(3, length));
    next.append(Slices(length, 5).views()).value();
    next.close().value();
    ASSERT_EQ(lengths_of(store), std::vector(3, length + 5));
    if (!WIFSIGNALED(status)) break;
  }
  EXPECT_THAT(left,
              testing::UnorderedElementsAre(std::vector<std::uint64_t>{0, 0, 0}, std::vector<std::uint64_t>{6, 0, 0},
                                            std::vector<std::uint64_t>{6, 6, 0}, std::vector<std::uint64_t>{6, 6, 6},
                                            std::vector<std::uint64_t>{12, 6, 6}, std::vector<std::uint64_t>{12, 12, 6},
                                            std::vector<std::uint64_t>{12, 12, 12}));
}

TEST(GroupAppender, FailsAtAnyRequestWithoutLosingWhatWasFlushed) {
  for (int number = 0;; ++number) {
    const auto base = memory_store();
    create_weather(base);
    const auto store = std::make_shared<TestStore>(base);
    store->fail_from(number, Op::most);
    std::uint64_t flushed = 0;
    bool failed = true;
    if (auto group = open_group(store, {.writable = true, .config = {.threads = 1, .durable = false}}))
      if (auto appender = group->appender(kArrays, {.queue_bytes = 1200})) {
        for (std::uint64_t i = 0; i < 20; i += 5)
          if (appender->append(Slices(i, 5).views()) && appender->flush()) flushed = i + 5;
        failed = !appender->close();
      }
    const auto lengths = lengths_of(base);
    ASSERT_GE(lengths[2], flushed);
    ASSERT_GE(std::min(lengths[0], lengths[1]), lengths[2]);
    Appender next = opened(base).appender(kArrays).value();
    const std::uint64_t length = next.stats().length;
    next.append(Slices(length, 4).views()).value();
    next.close().value();
    ASSERT_EQ(lengths_of(base), std::vector(3, length + 4));
    if (!failed) {
      EXPECT_GT(number, 40);
      break;
    }
  }
}

TEST(GroupAppender, ExtendsShorterArraysWithTheFillValue) {
  const auto store = memory_store();
  Group group = create_weather(store);
  std::get<Array>(group.open("heat").value()).resize({2, kRows, kColumns}).value();
  Appender appender = group.appender(kArrays).value();
  EXPECT_EQ(appender.stats().length, 2U);
  EXPECT_EQ(read_all<std::int64_t>(group, "time"), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(appender.stats().appended, 0U);
  appender.append(Slices(2, 1).views()).value();
  appender.close().value();
  EXPECT_EQ(read_all<std::int64_t>(group, "time"), (std::vector<std::int64_t>{0, 0, 1002}));
}

TEST(GroupAppender, DividesOneQueueAmongItsArrays) {
  const auto store = memory_store();
  create_weather(store);
  // A slice has 60 + 8 + 8 bytes; the coordinate has room for a chunk, which is more than other arrays have.
  Appender appender = opened(store).appender(kArrays, {.queue_bytes = 800, .auto_flush = false}).value();
  EXPECT_EQ(appender.stats().queue_bytes, 8 * 60 + 16 * 8 + 9 * 8U);
  EXPECT_GT(appender.estimate_memory(), appender.stats().queue_bytes);
  {
    const LockHolder holder(store, "heat/c/0/0/0");
    const auto refused = appender.append(Slices(0, 20).views(), 0.01);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
    EXPECT_THAT(refused.error().text(), HasSubstr("queue of the appender is full: 8 of 20 slices"));
    EXPECT_EQ(appender.stats().appended, 8U);
    EXPECT_LE(appender.stats().queued_bytes, 800U);
  }
  appender.append(Slices(8, 3).views()).value();
  appender.close().value();
  EXPECT_EQ(lengths_of(store), std::vector<std::uint64_t>(3, 11));
}

TEST(GroupAppender, StoresCoordinatesByTheirOwnTechnique) {
  const auto store = memory_store();
  Group group = create_group(store, "").value();
  CreateOptions raw{.shape = {0, 4}, .dtype = DType::uint16, .chunks = {1, 4}, .shards = {8, 4}};
  raw.codecs = {Json("bytes")};
  group.create_array("frames", raw).value();
  group.create_array("seconds", {.shape = {0}, .dtype = DType::float64, .chunks = {64}}).value();
  Appender appender = group.appender({{"seconds"}, {"frames"}}, {.technique = Technique::preallocated}).value();
  const std::vector<std::uint16_t> frame(4, 7);
  for (int i = 0; i < 5; ++i) {
    const double now = i;
    appender
        .append({StridedView<const double>(&now, {}).untyped(),
                 StridedView<const std::uint16_t>(frame.data(), {4}).untyped()})
        .value();
    appender.flush().value();
  }
  EXPECT_EQ(read_all<double>(group, "seconds"), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(read_all<std::uint16_t>(group, "frames"), std::vector<std::uint16_t>(20, 7));
}

TEST(GroupAppender, IsRefusedForWhatItCannotDo) {
  const auto store = memory_store();
  Group group = create_weather(store);
  const auto refused = [&](const std::vector<AppendedArray>& arrays, const AppenderOptions& options = {}) {
    return opened(store, {.durable = false, .lock_timeout = 0}).appender(arrays, options).error();
  };
  EXPECT_EQ(refused({}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({{"wind"}}).code(), ErrorCode::not_found);
  EXPECT_THAT(refused({{"ground"}}).text(), HasSubstr("'ground' is a group"));
  EXPECT_THAT(refused({{"heat"}, {"/heat"}}).text(), HasSubstr("'/heat' is listed twice"));
  EXPECT_THAT(refused({{"heat"}, {"ground/air", 0}}).text(),
              HasSubstr("axis 0 of 'ground/air' is the dimension 'station', that of other arrays is 'time'"));
  EXPECT_THAT(refused({{"heat", 3}, {"time"}}).text(), HasSubstr("'heat': axis 3 of an array of 3 dimensions"));
  EXPECT_THAT(refused(kArrays, {.technique = Technique::whole_shards}).text(),
              AllOf(HasSubstr("'heat'"), HasSubstr("these have length 4")));
  EXPECT_THAT(refused(kArrays, {.queue_bytes = 211}).text(),
              HasSubstr("211 bytes are less than a row of chunks of each array, 212"));
  EXPECT_EQ(open_group(store).value().appender(kArrays).error().code(), ErrorCode::invalid_argument);
  Appender one = std::get<Array>(group.open("heat").value()).appender().value();
  EXPECT_EQ(refused(kArrays).code(), ErrorCode::conflict);
  one.close().value();

  Appender appender = group.appender(kArrays).value();
  const Slices three(0, 3);
  auto views = three.views();
  const auto wrong = [&](const std::vector<ConstAnyView>& slices) {
    auto appended = appender.append(slices);
    return appended ? std::string() : appended.error().text();
  };
  EXPECT_THAT(wrong({views[0], views[1]}), HasSubstr("slices of 2 arrays cannot be appended to 3"));
  EXPECT_THAT(wrong({views[0], views[1], Slices(0, 2).views()[2]}),
              HasSubstr("there are 2 slices of 'ground/air', but 3 of 'heat'"));
  EXPECT_THAT(wrong({views[1], views[0], views[2]}), HasSubstr("'heat'"));
  EXPECT_THAT(wrong({views[0]}), HasSubstr("slices of 1 arrays"));
  EXPECT_EQ(code_of(appender.append(views[0])), ErrorCode::invalid_argument);
  appender.append(views).value();
  appender.close().value();
  EXPECT_EQ(lengths_of(store), std::vector<std::uint64_t>(3, 3));
}

}  // namespace stream_test
}  // namespace sherd
