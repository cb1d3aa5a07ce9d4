// Which object contains a chunk, and at which bytes: according to the index reader, and with how many round trips.
#include "array/locate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "array/storage.hpp"
#include "sherd/sherd.hpp"
#include "store/read_into.hpp"
#include "tests/store/round_trips.hpp"

namespace sherd {
namespace locate_test {

using testing::HasSubstr;

class Locate : public testing::Test {
 protected:
  /// Elements 1, 2, … of an array of 64 x 64, without codecs, so that the bytes of a chunk are its elements.
  Array written(CreateOptions options, const Box& box = {{0, 0}, {64, 64}}) {
    options.shape = {64, 64};
    options.dtype = DType::uint32;
    options.overwrite = true;
    if (!options.raw_codecs) options.codecs = std::vector<Json>();
    std::vector<std::uint32_t> values(*element_count(box.shape));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = value_at(box.origin[0] + i / box.shape[1], box.origin[1] + i % box.shape[1]);
    create_array(memory_, "", options).value().write(box, std::span<const std::uint32_t>(values)).value();
    const Array array = open_array(slow_).value();
    slow_->reset();
    return array;
  }
  static std::uint32_t value_at(std::uint64_t row, std::uint64_t column) {
    return static_cast<std::uint32_t>(row * 64 + column + 1);
  }
  using Objects = std::vector<std::optional<LocatedObject>>;
  static Result<Objects> locate(const Array& array, const Box& box, bool is_read_later = false) {
    const Array::State& state = array.state();
    std::vector<Shape> cells;
    (void)for_each_cell(cells_of(state.grid, box), [&](const Shape& cell) -> Result<bool> {
      cells.push_back(cell);
      return true;
    }).value();
    return locate_chunks(state, {cells, box, 0, is_read_later}, state.config());
  }
  /// Expects that the bytes of each chunk begin with the element at the origin of its box; returns how many there are.
  std::size_t expect_chunks(const Objects& objects, const Box& box, const Shape& chunk) {
    std::size_t count = 0;
    for (const auto& object : objects) {
      if (!object) continue;
      const auto source = memory_->open(object->key).value();
      EXPECT_EQ(source->generation().value(), object->generation);
      for (const LocatedChunk& each : object->chunks) {
        ++count;
        EXPECT_EQ(each.box.shape, chunk);
        for (std::size_t d = 0; d < 2; ++d) {
          EXPECT_LT(each.box.origin[d], box.origin[d] + box.shape[d]);
          EXPECT_GT(each.box.origin[d] + chunk[d], box.origin[d]);
        }
        Buffer bytes;
        read_into(*source, each.extent, bytes).value();
        std::uint32_t first = 0;
        std::memcpy(&first, bytes.data(), sizeof first);
        EXPECT_EQ(first, value_at(each.box.origin[0], each.box.origin[1])) << object->key;
      }
    }
    return count;
  }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<RoundTrips> slow_ = slow_store(memory_);
};

TEST_F(Locate, FindsTheChunksOfSixtyFourShardsInTwoRoundTrips) {
  const Array array = written({.chunks = {4, 4}, .shards = Shape{8, 8}});
  const Box all{{0, 0}, {64, 64}};
  EXPECT_EQ(expect_chunks(locate(array, all).value(), all, {4, 4}), 256U);
  EXPECT_EQ(slow_->rounds, 2U);
  slow_->reset();
  EXPECT_EQ(expect_chunks(locate(array, all).value(), all, {4, 4}), 256U);
  EXPECT_EQ(slow_->rounds, 2U) << "that confirm the versions";
  slow_->reset();
  EXPECT_EQ(expect_chunks(locate(array, all, true).value(), all, {4, 4}), 256U);
  EXPECT_EQ(slow_->rounds, 0U) << "who reads the chunks confirms the versions";
}

TEST_F(Locate, ConfirmsThatThereAreNoChunksEvenIfTheyAreReadLater) {
  const Array array = written({.chunks = {4, 4}, .shards = Shape{8, 8}});
  const Array other = open_array(memory_, {.writable = true}).value();
  const Box chunk{{0, 0}, {4, 4}};
  const std::vector<std::uint32_t> zeros(16), ones(16, 1);
  other.write(chunk, std::span(zeros)).value();
  EXPECT_EQ(expect_chunks(locate(array, chunk, true).value(), chunk, {4, 4}), 0U);
  other.write(chunk, std::span(ones)).value();
  EXPECT_EQ(expect_chunks(locate(array, chunk, true).value(), chunk, {4, 4}), 1U);
}

TEST_F(Locate, FindsOnlyChunksThatMeetTheBox) {
  const Array array = written({.chunks = {4, 4}, .shards = Shape{16, 16}});
  const Box box{{7, 14}, {2, 5}};  // of two shards, and in both of them of two rows of chunks
  EXPECT_EQ(expect_chunks(locate(array, box).value(), box, {4, 4}), 4U);
}

TEST_F(Locate, TakesOneRoundTripMoreForEachLevelOfNestedShards) {
  const auto sharding = [](const char* shape, const std::string& codecs) {
    return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": )" + std::string(shape) +
           R"(, "codecs": )" + codecs +
           R"(, "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}])";
  };
  const std::string bytes = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
  CreateOptions options{.chunks = {32, 32}, .config = {}};
  options.raw_codecs = Json::parse(sharding("[16, 16]", sharding("[4, 4]", bytes))).value();
  const Array array = written(options);
  const Box all{{0, 0}, {64, 64}};
  Config config = array.config();
  config.tail_read_bytes = 0;  // reads only what is needed
  EXPECT_EQ(expect_chunks(locate(array.with_config(config), all).value(), all, {4, 4}), 256U);
  EXPECT_EQ(slow_->rounds, 2U);
  EXPECT_EQ(slow_->requests, 8U) << "one index of each object, and those of its inner shards together";
}

TEST_F(Locate, LeavesOutWhatIsMissing) {
  const Box corner{{0, 0}, {4, 6}};
  for (const Shape& shards : {Shape{8, 8}, Shape()}) {
    const Array array = written({.chunks = {4, 4}, .shards = shards}, corner);
    const Box box{{0, 0}, {8, 16}};
    const Objects objects = locate(array, box).value();
    EXPECT_EQ(objects.size(), shards.empty() ? 8U : 2U);
    EXPECT_EQ(expect_chunks(objects, box, {4, 4}), 2U);
    EXPECT_FALSE(objects.back());
  }
}

TEST_F(Locate, NamesTheDamagedObject) {
  const Array array = written({.chunks = {4, 4}, .shards = Shape{8, 8}});
  memory_->set("c/0/1", std::string_view("short")).value();
  const auto damaged = locate(array, {{0, 0}, {64, 64}});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(damaged.error().key(), "c/0/1");
}

TEST_F(Locate, FindsTheNewVersionOfAnObject) {
  const Array array = written({.chunks = {4, 4}, .shards = Shape{8, 8}});
  const Box box{{0, 0}, {8, 8}};
  EXPECT_EQ(expect_chunks(locate(array, box).value(), box, {4, 4}), 4U);
  std::vector<std::uint32_t> zeros(16);
  open_array(memory_, {.writable = true})
      .value()
      .write(Box{{0, 0}, {4, 4}}, std::span<const std::uint32_t>(zeros))
      .value();
  EXPECT_EQ(expect_chunks(locate(array, box).value(), box, {4, 4}), 3U);
}

TEST_F(Locate, EncodedChunksArePutUnderTheirKeys) {
  const Array array = written({.chunks = {32, 64}});
  const Array::State& state = array.state();
  std::vector<std::uint32_t> values(32 * 64);
  std::iota(values.begin(), values.end(), 7U);
  const std::string first = state.key({0, 0}), second = state.key({1, 0});
  const std::vector<EncodedChunk> chunks{{first, std::as_bytes(std::span(values))},
                                         {second, std::as_bytes(std::span(values))}};
  open_array(memory_, {.writable = true}).value().state().storage->put(chunks).value();
  std::vector<std::uint32_t> found(32 * 64);
  for (const std::uint64_t row : {0, 32}) {
    array.read(Box{{row, 0}, {32, 64}}, std::span(found)).value();
    EXPECT_EQ(found, values) << row;
  }
}

}  // namespace locate_test
}  // namespace sherd
