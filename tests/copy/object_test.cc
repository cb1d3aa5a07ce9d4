// The stored objects of a copy: the same bytes in any memory, and damage that is not copied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "sherd/sherd.hpp"
#include "tests/copy/copy_testing.hpp"

namespace sherd {
namespace object_test {

using namespace copy_testing;

TEST(Copy, AMovedShardHasTheBytesOfOneThatIsWritten) {
  auto source = memory_store();
  auto destination = memory_store();
  auto written = memory_store();
  const CreateOptions to{.chunks = {6, 4}, .shards = {24, 16}};
  filled(source, "", {.chunks = {6, 4}});
  filled(written, "", to);
  copy(source, destination, {.shards = to.shards}).value();
  EXPECT_EQ(tree_of(*destination), tree_of(*written));
}

TEST(Copy, BytesDoNotDependOnTheBudget) {
  auto source = memory_store();
  const CreateOptions layout{.shape = {400, 300, 100}, .dtype = DType::uint16, .chunks = {50, 50, 50}};
  const auto values = noise(*element_count(layout.shape));
  create_array(source, "", layout)
      .value()
      .write(Box{{0, 0, 0}, layout.shape}, std::span<const std::uint16_t>(values))
      .value();
  for (const ChunkOrder order : {ChunkOrder::c, ChunkOrder::f, ChunkOrder::morton}) {
    std::vector<Tree> trees;
    for (const std::uint64_t budget : {std::uint64_t{1} << 40, std::uint64_t{8} << 20}) {
      auto destination = memory_store();
      CopyOptions options{
          .chunks = Shape{30, 20, 10}, .shards = Shape{390, 300, 100}, .codecs = std::vector<Json>{"bytes"}};
      options.config.memory_budget = budget;
      options.config.chunk_order = order;
      copy(source, destination, options).value();
      trees.push_back(tree_of(*destination));
    }
    EXPECT_TRUE(trees[0] == trees[1]);
  }
}

TEST(Copy, StringsAreCopiedIntoOtherChunks) {
  auto source = memory_store();
  auto destination = memory_store();
  CreateOptions options{.shape = {10}, .dtype = DType::string, .chunks = {4}};
  const Array array = create_array(source, "", options).value();
  std::vector<std::string> texts;
  std::vector<VarBytes> values;
  for (int i = 0; i < 10; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i * 3), static_cast<char>('a' + i)));
  for (const auto& text : texts) values.push_back({text.data(), text.size()});
  const auto from = ConstAnyView::dense(reinterpret_cast<const std::byte*>(values.data()), DType::string, {10});
  array.write(Box{{0}, {10}}, from).value();
  copy(source, destination, {.chunks = Shape{3}, .shards = Shape{6}}).value();
  std::vector<VarBytes> read(10);
  VarBytesArena arena;
  const auto into = AnyView::dense(reinterpret_cast<std::byte*>(read.data()), DType::string, {10});
  open_array(destination).value().read(Box{{0}, {10}}, into, &arena).value();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(read[i].view(), texts[i]);
}

TEST(Copy, AChunkLargerThanAnyEncodingIsNotMovedIntoAShard) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}, .codecs = std::vector<Json>{"zstd:1"}});
  source->set("c/1/1", std::string(1 << 20, 'x')).value();
  const auto copied = copy(source, memory_store(), {.shards = Shape{12, 8}});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(copied.error().key(), "c/1/1");
  EXPECT_THAT(copied.error().message(), ::testing::HasSubstr("an encoded chunk"));
}

TEST(Copy, AMovedChunkOfAnotherLengthThanAChunkHasIsDamaged) {
  for (const bool sharded : {false, true}) {
    SCOPED_TRACE(sharded);
    auto source = memory_store();
    CreateOptions options{.shape = {4}, .dtype = DType::uint8, .chunks = {4}};
    options.codecs = std::vector<Json>{"bytes"};
    if (sharded) options.shards = {4};
    const Array array = create_array(source, "", options).value();
    array.write(Box{{0}, {4}}, std::span<const std::uint8_t>(std::vector<std::uint8_t>{1, 2, 3, 4})).value();
    std::string bytes = source->get("c/0").value().value();
    if (sharded) {
      bytes[bytes.size() - 12] = 3;  // the length in the index
      const auto index = std::as_bytes(std::span(bytes)).subspan(bytes.size() - 20, 16);
      const std::uint32_t checksum = crc32c(index);
      std::memcpy(&bytes[bytes.size() - 4], &checksum, sizeof checksum);
    } else {
      bytes.pop_back();
    }
    source->set("c/0", bytes).value();
    const auto copied = copy(source, memory_store(), {.shards = Shape{}});
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
    EXPECT_THAT(copied.error().text(), testing::HasSubstr("holds 3 bytes, but a chunk has 4"));
  }
}

TEST(Copy, AChunkMadeOfADamagedShardAloneIsNotTakenForEmpty) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}, .shards = {12, 8}});
  source->set("c/1/1", std::string_view("short")).value();
  const auto failed = copy(source, memory_store(), {.chunks = Shape{12, 8}, .shards = Shape{}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(failed.error().key(), "c/1/1");
}

}  // namespace object_test
}  // namespace sherd
