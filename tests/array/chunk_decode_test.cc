// Encoded chunks and shards in memory: which elements are decoded, where they go, and what damage is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "array/array_state.hpp"
#include "array/chunk_reader.hpp"
#include "sherd/sherd.hpp"

namespace sherd {
namespace chunk_decode_test {

using testing::HasSubstr;

/// A chunk or shard of an array of uint16 whose elements are their numbers, and a reader for it.
class DecodedChunk {
 public:
  explicit DecodedChunk(CreateOptions options, std::uint64_t first = 1)
      : store_(memory_store()),
        array_([&] {
          options.dtype = DType::uint16;
          options.fill_value = Json(7);
          return create_array(store_, "", options).value();
        }()),
        shape_(options.shape) {
    std::vector<std::uint16_t> values(*element_count(shape_));
    std::iota(values.begin(), values.end(), static_cast<std::uint16_t>(first));
    if (first != 0) write(Box{Shape(shape_.size(), 0), shape_}, values);
  }

  void write(const Box& box, const std::vector<std::uint16_t>& values) {
    array_.write(box, std::span<const std::uint16_t>(values)).value();
    std::string key = "c";
    for (std::size_t d = 0; d < shape_.size(); ++d) key += "/0";
    bytes_ = store_->get(key).value().value();
  }

  /// The elements of boxes, one after the other, or an error. Each box is dense in memory, or every second element is.
  Result<std::vector<std::uint16_t>> read(const std::vector<Box>& boxes, std::size_t step = 1) {
    std::uint64_t count = 0;
    for (const Box& box : boxes) count += *element_count(box.shape);
    std::vector<std::uint16_t> values(count * step, kUntouched);
    Piece piece{array_.state().layout, shape_};
    std::uint64_t at = 0;
    for (const Box& box : boxes) {
      ReadPart part;
      for (std::size_t d = 0; d < box.shape.size(); ++d)
        part.region.axes.push_back({.start = static_cast<std::int64_t>(box.origin[d]), .count = box.shape[d]});
      part.target.data = reinterpret_cast<std::byte*>(values.data() + at * step);
      part.target.strides = chunk_strides(box.shape, sizeof(std::uint16_t) * step);
      piece.parts.push_back(std::move(part));
      at += *element_count(box.shape);
    }
    Cache cache(0);
    ReadBudget budget(config.memory_budget);
    const ChunkReader reader(config, StoreTraits{}, cache, budget, nullptr);
    auto done = reader.from_memory(std::as_bytes(std::span(bytes_)), piece);
    if (!done) return std::move(done).error();
    return values;
  }
  [[nodiscard]] std::vector<std::uint16_t> expected(const std::vector<Box>& boxes) const {
    std::vector<std::uint16_t> all;
    for (const Box& box : boxes) {
      std::vector<std::uint16_t> some(*element_count(box.shape));
      array_.read(box, std::span(some)).value();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  [[nodiscard]] Box whole() const { return {Shape(shape_.size(), 0), shape_}; }

  static constexpr std::uint16_t kUntouched = 0xffff;
  std::string bytes_;
  Config config;

 private:
  const std::shared_ptr<Store> store_;
  const Array array_;
  const Shape shape_;
};

Json json(const char* text) { return Json::parse(text).value(); }

CreateOptions one_chunk(const Shape& shape, const std::string& list) {
  CreateOptions options{.shape = shape, .chunks = shape};
  if (!list.empty()) options.raw_codecs = Json::parse(list).value();
  return options;
}

constexpr const char* kLittle = R"({"name": "bytes", "configuration": {"endian": "little"}})";
constexpr const char* kBig = R"({"name": "bytes", "configuration": {"endian": "big"}})";
constexpr const char* kGzip = R"({"name": "gzip", "configuration": {"level": 1}})";
constexpr const char* kZstd = R"({"name": "zstd", "configuration": {"level": 1, "checksum": false}})";
constexpr const char* kChecked = R"({"name": "zstd", "configuration": {"level": 1, "checksum": true}})";
constexpr const char* kBlosc = R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1,
    "shuffle": "noshuffle", "typesize": 2, "blocksize": 4096}})";
constexpr const char* kTransposed = R"({"name": "transpose", "configuration": {"order": [1, 0]}})";

std::string list_of(const std::vector<const char*>& all) {
  std::string list;
  for (const char* each : all) list += (list.empty() ? "[" : ",") + std::string(each);
  return list + "]";
}

// Small chunks are decoded as a whole or up to the last byte that is needed, chunks above 1 MiB in blocks.
TEST(ChunkDecode, FindsTheSameElementsInEveryEncoding) {
  for (const Shape& shape : {Shape{40, 50}, Shape{800, 1000}})
    for (const auto& chain : std::vector<std::vector<const char*>>{{kLittle},
                                                                   {kBig},
                                                                   {kLittle, kGzip},
                                                                   {kBig, kZstd},
                                                                   {kLittle, kChecked},
                                                                   {kLittle, kBlosc},
                                                                   {kTransposed, kLittle},
                                                                   {kTransposed, kLittle, kZstd},
                                                                   {kLittle, R"("crc32c")"}}) {
      DecodedChunk chunk(one_chunk(shape, list_of(chain)));
      const Shape last{shape[0] - 1, shape[1] - 1};
      for (const std::vector<Box>& boxes : std::vector<std::vector<Box>>{{chunk.whole()},
                                                                         {{{0, 0}, {1, 1}}},
                                                                         {{last, {1, 1}}},
                                                                         {{{3, 5}, {7, 9}}},
                                                                         {{{0, 0}, {2, 2}}, {{1, 1}, {2, 2}}},
                                                                         {chunk.whole(), {{1, 2}, {3, 4}}},
                                                                         {chunk.whole(), chunk.whole()}}) {
        EXPECT_EQ(chunk.read(boxes).value(), chunk.expected(boxes)) << list_of(chain);
      }
    }
}

TEST(ChunkDecode, WritesOnlyWhatIsRequested) {
  for (const char* codec : {kLittle, kGzip}) {
    DecodedChunk chunk(one_chunk({4, 6}, codec == kLittle ? list_of({kLittle}) : list_of({kLittle, kGzip})));
    const std::vector<std::uint16_t> values = chunk.read({{{1, 2}, {2, 3}}}, 2).value();
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], i % 2 == 0 ? 1 + 6 * (1 + i / 6) + 2 + i / 2 % 3 : DecodedChunk::kUntouched) << i;
  }
}

TEST(ChunkDecode, RefusesRawChunksOfAnotherLength) {
  DecodedChunk chunk(one_chunk({4, 6}, list_of({kLittle})));
  chunk.bytes_.pop_back();
  for (const Box& box : {chunk.whole(), Box{{0, 0}, {1, 1}}}) {
    const auto read = chunk.read({box});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  }
}

// Damage behind the last byte that is needed is only found if a checksum covers all.
TEST(ChunkDecode, StopsAtTheLastByteThatIsNeededWithoutAChecksum) {
  const auto first = std::vector<Box>{{{0, 0}, {1, 8}}};
  for (const auto& [codec, finds] : {std::pair(kZstd, false), {kChecked, true}}) {
    for (const Shape& shape : {Shape{300, 500}, Shape{1500, 1000}}) {
      DecodedChunk chunk(one_chunk(shape, list_of({kLittle, codec})));
      const auto expected = chunk.expected(first);
      chunk.bytes_.back() ^= 1;
      const auto read = chunk.read(first);
      EXPECT_EQ(read.has_value(), !finds) << codec;
      if (read) {
        EXPECT_EQ(*read, expected);
      }
      chunk.bytes_.resize(chunk.bytes_.size() / 2);
      EXPECT_FALSE(chunk.read({chunk.whole()}));
    }
  }
}

TEST(ChunkDecode, RefusesAChunkThatDecodesToFewerBytes) {
  DecodedChunk small(one_chunk({4, 6}, list_of({kLittle, kZstd})));
  DecodedChunk chunk(one_chunk({400, 600}, list_of({kLittle, kZstd})));
  chunk.bytes_ = small.bytes_;
  for (const Box& box : {chunk.whole(), Box{{0, 0}, {1, 100}}}) {
    const auto read = chunk.read({box});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  }
}

CreateOptions one_shard(const std::string& around = "") {
  CreateOptions options{.shape = {8, 8}};
  options.chunk_grid = json(R"({"name": "regular", "configuration": {"chunk_shape": [8, 8]}})");
  options.raw_codecs = Json::parse("[" + (around.empty() ? "" : around + ",") +
                                   R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4],
      "codecs": [)" + kLittle + "," +
                                   kZstd + R"(], "index_codecs": [)" + kLittle + R"(, "crc32c"]}}])")
                           .value();
  return options;
}

TEST(ChunkDecode, FillsTheMissingChunksOfAShard) {
  for (const char* around : {"", kTransposed}) {
    DecodedChunk shard(one_shard(around), 0);
    shard.write({{4, 4}, {4, 4}}, std::vector<std::uint16_t>(16, 3));
    EXPECT_EQ(shard.read({{{3, 3}, {2, 2}}}).value(), (std::vector<std::uint16_t>{7, 7, 7, 3}));
    shard.config.missing_is_error = true;
    EXPECT_EQ(shard.read({{{4, 4}, {2, 2}}}).value(), std::vector<std::uint16_t>(4, 3));
    const auto missing = shard.read({{{3, 3}, {2, 2}}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
    EXPECT_THAT(missing.error().text(), HasSubstr("slot 0"));
  }
}

TEST(ChunkDecode, ReadsShardsInsideOtherCodecs) {
  for (const char* around : {"", kTransposed}) {
    CreateOptions options = one_shard(around);
    options.raw_codecs->push_back(json(kGzip));
    DecodedChunk shard(options);
    for (const std::vector<Box>& boxes :
         std::vector<std::vector<Box>>{{shard.whole()}, {{{2, 3}, {4, 2}}}, {{{0, 0}, {1, 8}}, {{7, 0}, {1, 8}}}})
      EXPECT_EQ(shard.read(boxes).value(), shard.expected(boxes)) << around;
    shard.bytes_.resize(shard.bytes_.size() / 2);
    EXPECT_EQ(shard.read({{{0, 0}, {1, 1}}}).error().code(), ErrorCode::corrupt);
  }
}

TEST(ChunkDecode, NamesTheSlotOfADamagedChunk) {
  DecodedChunk shard(one_shard());
  std::uint64_t offset = 0;  // of the chunk in slot 2
  std::memcpy(&offset, shard.bytes_.data() + shard.bytes_.size() - 4 - 2 * 16, sizeof offset);
  shard.bytes_[offset] ^= 1;
  EXPECT_TRUE(shard.read({{{0, 0}, {4, 8}}}));
  EXPECT_THAT(shard.read({shard.whole()}).error().text(), HasSubstr("slot 2"));
}

}  // namespace chunk_decode_test
}  // namespace sherd
