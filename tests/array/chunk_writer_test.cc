// Chunks without a compressor are written in blocks, never held whole: what is stored must be what the codec says,
// for any block that an element falls into.
#include <gtest/gtest.h>

#include <cstring>

#include "sherd/sherd.hpp"

namespace sherd {
namespace chunk_writer_test {

// Two by two chunks of 1.5 MiB; the last of either dimension reach beyond the array.
constexpr std::uint64_t kRows = 900, kColumns = 1900, kChunkRows = 768, kChunkColumns = 1024;
constexpr std::uint16_t kFill = 0x0102;
const Box kAll{{0, 0}, {kRows, kColumns}};

std::uint16_t element(std::uint64_t row, std::uint64_t column) {
  return static_cast<std::uint16_t>(7 + row * 131 + column);
}

std::vector<std::uint16_t> elements() {
  std::vector<std::uint16_t> values(kRows * kColumns);
  for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = element(i / kColumns, i % kColumns);
  return values;
}

CreateOptions raw(std::string_view codecs = R"([{"name": "bytes", "configuration": {"endian": "little"}}])") {
  CreateOptions options{.shape = {kRows, kColumns}, .dtype = DType::uint16, .chunks = {kChunkRows, kChunkColumns}};
  const Json list = Json::parse(codecs).value();
  options.codecs.emplace(list.elements().begin(), list.elements().end());
  options.fill_value = Json(std::uint64_t{kFill});
  return options;
}

// The chunk's elements in C order, as they are to be stored.
std::vector<std::uint16_t> chunk(std::uint64_t row, std::uint64_t column) {
  std::vector<std::uint16_t> values;
  for (std::uint64_t r = row * kChunkRows; r < (row + 1) * kChunkRows; ++r)
    for (std::uint64_t c = column * kChunkColumns; c < (column + 1) * kChunkColumns; ++c)
      values.push_back(r < kRows && c < kColumns ? element(r, c) : kFill);
  return values;
}

std::vector<std::uint16_t> stored(Store& store, const std::string& key) {
  const std::string bytes = store.get(key).value().value();
  std::vector<std::uint16_t> values(bytes.size() / 2);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(RawChunks, HoldTheElementsAndFillValuesBeyondTheArray) {
  const auto store = memory_store();
  const Array array = create_array(store, "", raw()).value();
  array.write(kAll, std::span<const std::uint16_t>(elements())).value();
  for (const std::uint64_t row : {0U, 1U})
    for (const std::uint64_t column : {0U, 1U})
      EXPECT_TRUE(stored(*store, "c/" + std::to_string(row) + "/" + std::to_string(column)) == chunk(row, column))
          << row << column;
}

TEST(RawChunks, AreTransposedAndSwappedBlockByBlock) {
  const auto store = memory_store();
  const Array array = create_array(store, "", raw(R"([{"name": "transpose", "configuration": {"order": [1, 0]}},
                                                      {"name": "bytes", "configuration": {"endian": "big"}}])"))
                          .value();
  array.write(kAll, std::span<const std::uint16_t>(elements())).value();
  const auto natural = chunk(1, 1);
  std::vector<std::uint16_t> expected;
  for (std::uint64_t c = 0; c < kChunkColumns; ++c)
    for (std::uint64_t r = 0; r < kChunkRows; ++r) {
      const std::uint16_t value = natural[r * kChunkColumns + c];
      expected.push_back(static_cast<std::uint16_t>(value << 8 | value >> 8));
    }
  EXPECT_TRUE(stored(*store, "c/1/1") == expected);
  std::vector<std::uint16_t> read(kRows * kColumns);
  array.read(kAll, std::span(read)).value();
  EXPECT_TRUE(read == elements());
}

TEST(RawChunks, OfFillValuesOnlyAreNotStoredUnlessAskedFor) {
  const auto store = memory_store();
  const std::vector<std::uint16_t> fill(kRows * kColumns, kFill);
  Array array = create_array(store, "", raw()).value();
  array.write(kAll, std::span<const std::uint16_t>(elements())).value();
  array.write(kAll, std::span(fill)).value();
  EXPECT_EQ(array.stored().value().objects, 0U);
  std::vector<std::uint16_t> last = fill;
  last[kChunkColumns - 1 + (kChunkRows - 1) * kColumns] = 1;  // the first chunk's last element
  array.write(kAll, std::span<const std::uint16_t>(last)).value();
  EXPECT_EQ(array.stored().value().objects, 1U);
  EXPECT_EQ(stored(*store, "c/0/0").back(), 1);
  Config config;
  config.write_empty_chunks = true;
  array.with_config(config).write(kAll, std::span(fill)).value();
  EXPECT_EQ(array.stored().value().objects, 4U);
}

}  // namespace chunk_writer_test
}  // namespace sherd
