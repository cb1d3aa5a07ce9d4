// What an array promises in addition to reading back what was written: resizing, appending, sparse storage, snapshots
// for readers, bounded growth of updated shards, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <limits>
#include <numeric>
#include <optional>

#include "sherd/sherd.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace array_test {

std::vector<std::uint16_t> counting(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  return values;
}

std::vector<std::uint16_t> all_of(const Array& array) {
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

Array small(std::shared_ptr<Store> store, Shape shape = {20, 20}) {
  CreateOptions options{.shape = std::move(shape), .dtype = DType::uint16, .chunks = {4, 4}, .shards = {12, 12}};
  options.fill_value = Json(std::uint64_t{9});
  return create_array(std::move(store), "", options).value();
}

TEST(Array, ShowsFillValuesAfterShrinkingAndGrowing) {
  Array array = small(memory_store());
  const auto values = counting(400);
  array.write(Box{{0, 0}, {20, 20}}, std::span(values)).value();
  array.resize({7, 15}).value();
  array.resize({20, 20}).value();
  const auto now = all_of(array);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(now[i], i / 20 < 7 && i % 20 < 15 ? values[i] : 9) << i;
}

TEST(Array, ShrinkingErasesObjectsThatLieOutside) {
  Array array = small(memory_store());
  array.write(Box{{0, 0}, {20, 20}}, std::span<const std::uint16_t>(counting(400))).value();
  EXPECT_EQ(array.stored().value().objects, 4U);
  array.resize({12, 12}).value();
  EXPECT_EQ(array.stored().value().objects, 1U);
  EXPECT_EQ(array.nchunks_initialized().value(), 9U);
}

TEST(Array, IgnoresChunkKeysWhoseCoordinatesOverflow) {
  const auto store = memory_store();
  Array array = small(store);
  array.write(Box{{0, 0}, {20, 20}}, std::span<const std::uint16_t>(counting(400))).value();
  const auto chunks = array.nchunks_initialized().value();
  // Multiplied by the length of a shard these are 0, and so are their ends.
  for (const char* key : {"c/4611686018427387904/0", "c/0/18446744073709551615", "c/7/7"})
    store->set(key, std::string_view("no chunk")).value();
  EXPECT_EQ(array.nchunks_initialized().value(), chunks);
  array.resize({3, 3}).value();
  array.resize({20, 20}).value();
  const auto now = all_of(array);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(now[i], i / 20 < 3 && i % 20 < 3 ? counting(400)[i] : 9) << i;
}

TEST(Array, ShrinkingUsesTheStoredShapeNotThatOfTheHandle) {
  const auto store = memory_store();
  const Array first = small(store, {4, 20});
  Array handle = open_array(store, {.writable = true}).value();
  Array other = open_array(store, {.writable = true}).value();
  other.resize({20, 20}).value();
  other.write(Box{{0, 0}, {20, 20}}, std::span<const std::uint16_t>(counting(400))).value();
  ASSERT_EQ(handle.shape(), (Shape{4, 20}));
  handle.resize({6, 20}).value();  // larger for the handle, smaller for the store
  handle.resize({20, 20}).value();
  const auto now = all_of(handle);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(now[i], i < 120 ? counting(400)[i] : 9) << i;
}

TEST(Array, AppendingWhatDoesNotFitLeavesTheShape) {
  Array array = small(memory_store());
  const std::vector<float> floats(3 * 20);
  const std::vector<std::uint16_t> numbers(3 * 20);
  const Shape endless{std::numeric_limits<std::uint64_t>::max() - 3, 20};
  EXPECT_EQ(array.append(StridedView<const float>(floats.data(), {3, 20}).untyped()).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(array.append(StridedView<const std::uint16_t>(numbers.data(), {20, 3}).untyped()).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(array.append(ConstAnyView{std::as_bytes(std::span(numbers)).data(), DType::uint16, endless, {0, 0}})
                .error()
                .code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(array.append(StridedView<const std::uint16_t>(numbers.data(), {3, 20}).untyped(), 2).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(array.shape(), (Shape{20, 20}));
}

TEST(Array, AppendingThatFailsToWriteShrinksBack) {
  const auto store = std::make_shared<TestStore>(memory_store());
  Array array = small(store, {20, 20});
  const auto values = counting(400);
  array.write(Box{{0, 0}, {20, 20}}, std::span(values)).value();
  store->fail_at("c/2/0", Op::commits);
  const auto appended = array.append(StridedView<const std::uint16_t>(values.data(), {20, 20}).untyped());
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code(), ErrorCode::io);
  EXPECT_EQ(array.shape(), (Shape{20, 20}));
  EXPECT_EQ(open_array(store).value().shape(), (Shape{20, 20}));
  EXPECT_EQ(all_of(array), values);
}

TEST(Array, AppendingThatIsInterruptedShrinksBack) {
  const auto store = memory_store();
  const auto values = counting(400);
  small(store, {20, 20}).write(Box{{0, 0}, {20, 20}}, std::span(values)).value();
  for (int polls = 0;; ++polls) {
    int left = polls;
    Array array =
        open_array(store, {.writable = true, .config = {.threads = 1, .interrupted = [&] { return left-- <= 0; }}})
            .value();
    const auto appended = array.append(StridedView<const std::uint16_t>(values.data(), {20, 20}).untyped());
    if (appended) {
      EXPECT_GT(polls, 0) << "nothing was ever interrupted";
      break;
    }
    EXPECT_EQ(appended.error().code(), ErrorCode::unavailable);
    EXPECT_EQ(open_array(store).value().shape(), (Shape{20, 20})) << "after " << polls << " polls";
    EXPECT_EQ(all_of(open_array(store).value()), values);
  }
}

TEST(Array, ACopyOfADestroyedHandleKeepsItsVariableLengthFillValue) {
  CreateOptions options{.shape = {6}, .dtype = DType::string, .chunks = {2}, .shards = {4}};
  const std::string text(100, 'x');
  options.fill_value = Json(text);
  std::optional<Array> array = create_array(memory_store(), "", options).value();
  array->resize({8}).value();
  const Array kept = array->with_config({});
  array.reset();
  std::vector<VarBytes> values(8);
  VarBytesArena arena;
  kept.read(Box{{0}, {8}}, AnyView{reinterpret_cast<std::byte*>(values.data()), DType::string, {8}, {sizeof(VarBytes)}},
            &arena)
      .value();
  for (const VarBytes& value : values) EXPECT_EQ(value.view(), text);
}

TEST(Array, AppendGrowsTheArrayAndReturnsWhere) {
  Array array = small(memory_store(), {0, 20});
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::vector<std::uint16_t> row(3 * 20, static_cast<std::uint16_t>(i + 1));
    const auto origin = array.append(StridedView<const std::uint16_t>(row.data(), {3, 20}).untyped()).value();
    EXPECT_EQ(origin, (Shape{i * 3, 0}));
  }
  EXPECT_EQ(array.shape(), (Shape{15, 20}));
  const auto now = all_of(array);
  for (std::size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i], i / 60 + 1);
}

TEST(Array, ChunksEqualToTheFillValueAreNotStored) {
  const auto store = memory_store();
  Array array = small(store);
  array.write(Box{{0, 0}, {20, 20}}, std::span<const std::uint16_t>(std::vector<std::uint16_t>(400, 9))).value();
  EXPECT_EQ(array.stored().value().objects, 0U);
  array.write(Box{{0, 0}, {1, 1}}, std::span<const std::uint16_t>(std::vector<std::uint16_t>{5})).value();
  EXPECT_EQ(array.nchunks_initialized().value(), 1U);
  array.write(Box{{0, 0}, {1, 1}}, std::span<const std::uint16_t>(std::vector<std::uint16_t>{9})).value();
  EXPECT_EQ(array.stored().value().objects, 0U);
}

TEST(Array, NegativeZeroIsNotTheFillValueZero) {
  CreateOptions options{.shape = {4}, .dtype = DType::float32, .chunks = {4}};
  const Array array = create_array(memory_store(), "", options).value();
  const std::vector<float> values{-0.0F, -0.0F, -0.0F, -0.0F};
  array.write(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_EQ(array.stored().value().objects, 1U);
  std::vector<float> now(4);
  array.read(Box{{0}, {4}}, std::span(now)).value();
  EXPECT_TRUE(std::signbit(now[0]));
}

TEST(Array, AnUpdateKeepsUntouchedChunksAtTheirOffsets) {
  const auto store = memory_store();
  const Array array = small(store, {12, 12});
  array.write(Box{{0, 0}, {12, 12}}, std::span<const std::uint16_t>(counting(144))).value();
  const std::string before = *store->get("c/0/0").value();
  array.write(Box{{4, 4}, {4, 4}}, std::span<const std::uint16_t>(std::vector<std::uint16_t>(16, 3))).value();
  const std::string after = *store->get("c/0/0").value();
  // A reader with the old index finds every old chunk, and even the old index, where it was.
  EXPECT_EQ(after.substr(0, before.size()), before);
}

TEST(Array, RepeatedUpdatesDoNotGrowAShardWithoutBound) {
  const Array array = small(memory_store(), {12, 12});
  array.write(Box{{0, 0}, {12, 12}}, std::span<const std::uint16_t>(counting(144))).value();
  const std::uint64_t first = array.stored().value().bytes;
  for (std::uint16_t i = 0; i < 200; ++i) {
    const std::vector<std::uint16_t> values(16, i);
    array.write(Box{{4, 4}, {4, 4}}, std::span(values)).value();
  }
  EXPECT_LT(array.stored().value().bytes, 3 * first);
  EXPECT_EQ(all_of(array)[5 * 12 + 5], 199);
}

TEST(Array, TheBytesOfAShardDoNotDependOnThreads) {
  std::string bytes[2];
  for (const unsigned threads : {1U, 4U}) {
    const auto store = memory_store();
    CreateOptions options{.shape = {256, 256}, .dtype = DType::uint16, .chunks = {8, 8}, .shards = {256, 256}};
    options.config.threads = threads;
    const Array array = create_array(store, "", options).value();
    array.write(Box{{0, 0}, {256, 256}}, std::span<const std::uint16_t>(counting(65536))).value();
    bytes[threads == 1 ? 0 : 1] = *store->get("c/0/0").value();
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Array, AMissingChunkIsAnErrorIfRequested) {
  Config config = small(memory_store()).config();
  config.missing_is_error = true;
  const Array array = small(memory_store()).with_config(config);
  std::vector<std::uint16_t> value(1);
  EXPECT_EQ(array.read(Box{{0, 0}, {1, 1}}, std::span(value)).error().code(), ErrorCode::not_found);
}

TEST(Array, RefusesSelectionsAndViewsThatDoNotFit) {
  const Array array = small(memory_store());
  std::vector<std::uint16_t> values(400);
  std::vector<float> floats(400);
  EXPECT_EQ(array.read(Box{{0, 1}, {20, 20}}, std::span(values)).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(array.read(Box{{0}, {20}}, std::span(values)).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(array.read(Box{{0, 0}, {20, 20}}, std::span(floats)).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(array.read(Box{{0, 0}, {2, 20}}, std::span(values)).error().code(), ErrorCode::invalid_argument);
}

TEST(Array, TheBeginningOfAChunkIsReadAndItsChecksumVerified) {
  const auto store = memory_store();
  CreateOptions options{.shape = {4}, .dtype = DType::uint16, .chunks = {4}};
  options.codecs = {*Json::parse(R"({"name": "zstd", "configuration": {"level": 1, "checksum": true}})")};
  const Array array = create_array(store, "", options).value();
  array.write(Box{{0}, {4}}, std::span<const std::uint16_t>(counting(4))).value();
  std::vector<std::uint16_t> one(1);
  array.read(Box{{0}, {1}}, std::span(one)).value();
  EXPECT_EQ(one[0], 1);

  const auto source = store->open("c/0").value();
  std::vector<std::byte> chunk(source->size().value());
  const RangeRead range{0, std::span(chunk)};
  source->read(std::span(&range, 1)).value();
  chunk.back() ^= std::byte{1};
  const auto writer = store->write("c/0").value();
  writer->write(0, chunk).value();
  writer->commit().value();
  EXPECT_EQ(array.read(Box{{0}, {1}}, std::span(one)).error().code(), ErrorCode::corrupt);
}

constexpr std::string_view kBloscOfManyBlocks =
    R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 128}})";

TEST(Array, BoxesOfBloscChunksAreReadFromTheBlocksThatHoldThem) {
  for (const std::string_view around :
       {R"([{"name": "bytes", "configuration": {"endian": "little"}}, BLOSC])",
        R"([{"name": "bytes", "configuration": {"endian": "big"}}, BLOSC, {"name": "crc32c"}])",
        R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            {"name": "bytes", "configuration": {"endian": "big"}}, BLOSC])"}) {
    std::string text(around);
    text.replace(text.find("BLOSC"), 5, kBloscOfManyBlocks);
    CreateOptions options{.shape = {9, 10, 11}, .dtype = DType::uint16, .chunks = {9, 10, 11}};
    const Json codecs = Json::parse(text).value();
    options.codecs.emplace(codecs.elements().begin(), codecs.elements().end());
    const Array array = create_array(memory_store(), "", options).value();
    const auto all = counting(9 * 10 * 11);
    array.write(Box{{0, 0, 0}, {9, 10, 11}}, std::span<const std::uint16_t>(all)).value();
    for (std::uint64_t z = 0; z < 9; ++z) {
      for (std::uint64_t x = 0; x < 11; ++x) {
        std::vector<std::uint16_t> line(10), plane(110);
        array.read(Box{{z, 0, x}, {1, 10, 1}}, std::span(line)).value();
        for (std::size_t y = 0; y < 10; ++y) ASSERT_EQ(line[y], all[(z * 10 + y) * 11 + x]) << text;
        array.read(Box{{z, 0, 0}, {1, 10, 11}}, std::span(plane)).value();
        ASSERT_TRUE(std::ranges::equal(plane, std::span(all).subspan(z * 110, 110))) << text;
      }
    }
  }
}

TEST(Array, DamageOfABloscBlockMattersToTheBoxesThatNeedItAlone) {
  const auto store = memory_store();
  CreateOptions options{.shape = {1024}, .dtype = DType::uint16, .chunks = {1024}};
  options.codecs = {*Json::parse(kBloscOfManyBlocks)};
  const Array array = create_array(store, "", options).value();
  const auto all = counting(1024);
  array.write(Box{{0}, {1024}}, std::span<const std::uint16_t>(all)).value();
  const auto source = store->open("c/0").value();
  std::vector<std::byte> chunk(source->size().value());
  const RangeRead range{0, std::span(chunk)};
  source->read(std::span(&range, 1)).value();
  std::fill(chunk.begin() + 16 + 4 * 15, chunk.begin() + 16 + 4 * 16, std::byte{0xff});  // where the last block begins
  const auto writer = store->write("c/0").value();
  writer->write(0, chunk).value();
  writer->commit().value();
  std::vector<std::uint16_t> some(960), rest(1);
  array.read(Box{{0}, {960}}, std::span(some)).value();
  EXPECT_TRUE(std::ranges::equal(some, std::span(all).first(960)));
  EXPECT_EQ(array.read(Box{{1023}, {1}}, std::span(rest)).error().code(), ErrorCode::corrupt);
}

TEST(Array, AnInterruptedCallEndsAsUnavailable) {
  CreateOptions options{.shape = {1 << 20}, .dtype = DType::uint16, .chunks = {16}};
  options.config.interrupted = [] { return true; };
  options.config.threads = 1;
  const Array array = create_array(memory_store(), "", options).value();
  std::vector<std::uint16_t> values(1 << 20);
  const auto read = array.read(Box{{0}, {1 << 20}}, std::span(values));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unavailable);
}

TEST(Array, FillingMissingChunksCanBeInterrupted) {
  CreateOptions options{.shape = {1 << 26}, .dtype = DType::uint8, .chunks = {1 << 16}, .shards = {1 << 26}};
  int polls = 0;
  options.config.interrupted = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));  // it is polled at least every 20 ms
    return ++polls > 1;
  };
  options.config.threads = 1;
  const Array array = create_array(memory_store(), "", options).value();
  std::vector<std::uint8_t> values(1 << 26, 7);
  const auto read = array.read(Box{{0}, {1 << 26}}, std::span(values));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(values.back(), 7) << "what follows is left alone";
}

TEST(Array, StringsLiveAsLongAsTheirArena) {
  CreateOptions options{.shape = {10, 10}, .dtype = DType::string, .chunks = {2, 5}, .shards = {4, 10}};
  options.fill_value = Json("none");
  for (const CacheMode cache : {CacheMode::index, CacheMode::shard, CacheMode::chunks}) {
    options.config.cache = cache;
    const Array array = create_array(recorded_store(memory_store(), std::make_shared<Recorder>()), "", options).value();
    std::vector<std::string> texts;
    for (int i = 0; i < 30; ++i) texts.push_back(std::string(static_cast<std::size_t>(i), 'x') + "é");
    std::vector<VarBytes> elements;
    for (const auto& text : texts) elements.push_back({text.data(), text.size()});
    array
        .write(Box{{1, 2}, {5, 6}},
               ConstAnyView::dense(reinterpret_cast<const std::byte*>(elements.data()), DType::string, {5, 6}))
        .value();
    for (int again = 0; again < 2; ++again) {
      std::vector<VarBytes> read(100);
      VarBytesArena arena;
      array
          .read(Box{{0, 0}, {10, 10}},
                AnyView::dense(reinterpret_cast<std::byte*>(read.data()), DType::string, {10, 10}), &arena)
          .value();
      for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t row = i / 10;
        const std::size_t column = i % 10;
        const bool written = row >= 1 && row < 6 && column >= 2 && column < 8;
        EXPECT_EQ(read[i].view(), written ? texts[(row - 1) * 6 + column - 2] : "none") << i;
      }
    }
  }
}

}  // namespace array_test
}  // namespace sherd
