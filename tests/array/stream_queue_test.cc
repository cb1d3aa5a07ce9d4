// Streams of elements of variable length: what they show, and by what their queue is bounded.
#include "array/stream_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/lock_holder.hpp"

namespace sherd {
namespace stream_queue_test {

using testing::HasSubstr;

/// The text of row `i`: of 0 to 37 bytes, and sometimes longer.
std::string text_of(std::uint64_t i) {
  return std::to_string(i) + std::string(i * 7 % 37, static_cast<char>('a' + i % 26)) +
         std::string(i % 50 == 9 ? 900 : 0, '.');
}

/// Two texts for each slice.
struct Texts {
  Texts(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 2 * first; i < 2 * (first + count); ++i) texts.push_back(text_of(i));
    for (const std::string& text : texts) elements.push_back({text.data(), text.size()});
  }
  [[nodiscard]] ConstAnyView view(const DType& dtype = DType::string) const {
    return ConstAnyView::dense(reinterpret_cast<const std::byte*>(elements.data()), dtype, {elements.size() / 2, 2});
  }
  std::vector<std::string> texts;
  std::vector<VarBytes> elements;
};

std::vector<std::string> read_texts(const Array& array) {
  std::vector<VarBytes> elements(*element_count(array.shape()));
  VarBytesArena arena;
  array
      .read(Box{Shape(array.ndim(), 0), array.shape()},
            AnyView::dense(reinterpret_cast<std::byte*>(elements.data()), array.dtype(), array.shape()), &arena)
      .value();
  std::vector<std::string> texts;
  for (const VarBytes& element : elements) texts.emplace_back(element.view());
  return texts;
}

struct Kind {
  const char* name;
  std::uint64_t chunk, shard;
  Technique technique = Technique::automatic;
  DType dtype = DType::string;
  std::uint64_t queue_bytes = 1024;
  const char* format = "zarr3";
};

class StreamOfTexts : public testing::TestWithParam<Kind> {};

TEST_P(StreamOfTexts, ShowsEveryTextOfAFlush) {
  const Kind& kind = GetParam();
  const auto store = memory_store();
  CreateOptions options{.shape = {0, 2}, .dtype = kind.dtype, .chunks = {kind.chunk, 2}, .format = kind.format};
  if (kind.shard != 0) options.shards = {kind.shard, 2};
  Array array = create_array(store, "", options).value();
  std::uint64_t length = 0;
  for (int stream = 0; stream < 2; ++stream) {
    Appender appender = array.appender({.technique = kind.technique, .queue_bytes = kind.queue_bytes}).value();
    for (const std::uint64_t count : {1, 3, 70, 0, 16, 2, 100}) {
      {
        const Texts texts(length, count);  // is gone before it is stored
        appender.append(texts.view(kind.dtype)).value();
      }
      length += count;
      if (count % 2 == 0) {
        appender.flush().value();
        ASSERT_EQ(read_texts(open_array(store).value()), Texts(0, length).texts);
      }
    }
    appender.close().value();
    EXPECT_EQ(appender.stats().queued_bytes, 0U);
  }
  EXPECT_EQ(read_texts(open_array(store).value()), Texts(0, length).texts);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, StreamOfTexts,
    testing::Values(Kind{"Chunks", 4, 0}, Kind{"Bytes", 4, 0, Technique::append, DType::bytes},
                    Kind{"Shards", 2, 16, Technique::append}, Kind{"SliceBySlice", 1, 0, Technique::whole_shards},
                    Kind{"InOrderOfArrival", 2, 16, Technique::arrival},
                    Kind{"QueuesLargerThanAShard", 2, 8, Technique::append, DType::string, 1 << 20},
                    Kind{"ZarrVersion2", 4, 0, Technique::append, DType::string, 1024, "zarr2"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(StreamOfTexts, BoundsItsQueueByTheBytesOfTheTexts) {
  const auto store = memory_store();
  Array array = create_array(store, "", {.shape = {0, 2}, .dtype = DType::string, .chunks = {4, 2}}).value();
  Appender appender = array.appender({.queue_bytes = 4096}).value();
  EXPECT_EQ(appender.stats().queue_bytes, 4096U);
  {
    const LockHolder holder(store, "c/0/0");
    const std::string text(600, 'x');
    const std::vector<VarBytes> elements(20, VarBytes{text.data(), text.size()});
    const auto refused = appender.append(
        ConstAnyView::dense(reinterpret_cast<const std::byte*>(elements.data()), DType::string, {10, 2}), 0);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("queue of the appender is full: 1 of 10 slices"));
    EXPECT_EQ(appender.stats().queued_bytes, 2 * (600 + 16U));
  }
  const Texts texts(0, 30);
  appender.append(texts.view()).value();
  appender.close().value();
  const auto stored = read_texts(array);
  ASSERT_EQ(stored.size(), 62U);
  EXPECT_EQ(stored[1], std::string(600, 'x'));
  EXPECT_EQ(std::vector(stored.begin() + 2, stored.end()), texts.texts);
}

TEST(StreamOfTexts, AcceptsATextThatIsLongerThanTheQueue) {
  const auto store = memory_store();
  Array array = create_array(store, "", {.shape = {0}, .dtype = DType::bytes, .chunks = {4}}).value();
  Appender appender = array.appender({.queue_bytes = 256}).value();
  for (const std::size_t size : {3, 100'000, 5, 70'000}) {
    const std::string text(size, 'y');
    const VarBytes element{text.data(), text.size()};
    appender.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(&element), DType::bytes, {})).value();
  }
  appender.close().value();
  std::vector<std::size_t> sizes;
  for (const std::string& text : read_texts(array)) sizes.push_back(text.size());
  EXPECT_THAT(sizes, testing::ElementsAre(3, 100'000, 5, 70'000));
}

TEST(StreamOfTexts, OfTechniqueThreeIsRefusedByName) {
  Array array =
      create_array(memory_store(), "", {.shape = {0}, .dtype = DType::string, .chunks = {4}, .shards = {8}}).value();
  EXPECT_THAT(array.appender({.technique = Technique::preallocated}).error().text(),
              HasSubstr("3 requires elements of fixed size, not string"));
}

TEST(StreamOfTexts, IsAmongTheArraysOfAGroup) {
  const auto store = memory_store();
  Group group = create_group(store, "").value();
  group.create_array("note", {.shape = {0, 2}, .dtype = DType::string, .chunks = {4, 2}}).value();
  group.create_array("value", {.shape = {0}, .dtype = DType::int32, .chunks = {8}}).value();
  Appender appender = group.appender({{"value"}, {"note"}}, {.queue_bytes = 2048}).value();
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto value = static_cast<std::int32_t>(i);
    appender.append({StridedView<const std::int32_t>(&value, {}).untyped(), Texts(i, 1).view()}).value();
    if (i % 9 == 0) appender.flush().value();
  }
  appender.close().value();
  EXPECT_EQ(read_texts(std::get<Array>(group.open("note").value())), Texts(0, 50).texts);
  std::vector<std::int32_t> values(50);
  std::iota(values.begin(), values.end(), 0);
  std::vector<std::int32_t> stored(50);
  std::get<Array>(group.open("value").value()).read(Box{{0}, {50}}, std::span(stored)).value();
  EXPECT_EQ(stored, values);
}

}  // namespace stream_queue_test
}  // namespace sherd
