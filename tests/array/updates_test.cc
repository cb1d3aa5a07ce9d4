// Parts of stored shards that are changed: by appending, in place or by rewriting, as files of the disk, and what a
// writer that was killed between two steps has left.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace updates_test {

namespace fs = std::filesystem;
using Values = std::vector<std::uint16_t>;

constexpr std::uint64_t kSide = 64, kChunk = 8, kSlots = 64;
constexpr std::uint64_t kIndexBytes = 16 * kSlots + 4;

struct How {
  std::string name;
  IndexLocation location = IndexLocation::end;
  Update update = Update::automatic;
  std::string codec = "zstd:1";
};

class UpdatedShard : public testing::TestWithParam<How> {
 protected:
  void SetUp() override {
    make();
    if (const Appending appending = file_store(where_).value()->open("c/0/0").value()->appending();
        appending.alignment == 0)
      GTEST_SKIP() << appending.obstacle;
  }

  void make(const Slack& slack = {}) {
    CreateOptions options{
        .shape = {kSide, kSide}, .dtype = DType::uint16, .chunks = {kChunk, kChunk}, .shards = {kSide, kSide}};
    options.codecs = {Json(GetParam().codec)};
    options.index_location = GetParam().location;
    options.overwrite = true;
    options.config.slack = slack;
    expected_.assign(kSide * kSide, 1);
    create_array(where_, options).value().write(whole(), std::span<const std::uint16_t>(expected_)).value();
  }

  static Box whole() { return {{0, 0}, {kSide, kSide}}; }
  [[nodiscard]] Array open() const {
    Config config;
    config.update = GetParam().update;
    config.max_unused = 100;
    config.recorder = recorder_;
    return open_array(where_, {.writable = true, .config = config}).value();
  }
  void write(const Box& box, std::uint16_t value) {
    const Values values(element_count(box.shape).value(), value);
    open().write(box, std::span<const std::uint16_t>(values)).value();
    for (std::uint64_t row = box.origin[0]; row < box.origin[0] + box.shape[0]; ++row)
      for (std::uint64_t column = box.origin[1]; column < box.origin[1] + box.shape[1]; ++column)
        expected_[row * kSide + column] = value;
  }
  [[nodiscard]] Values read() const {
    Values values(kSide * kSide);
    open().read(whole(), std::span(values)).value();
    return values;
  }
  [[nodiscard]] std::string shard() const { return where_ + "/c/0/0"; }
  [[nodiscard]] ino_t inode() const {
    struct stat status{};
    EXPECT_EQ(::stat(shard().c_str(), &status), 0);
    return status.st_ino;
  }
  [[nodiscard]] std::size_t faults() const { return check(where_, {.data = true}).value().faults.size(); }

  const TempDir directory_{TempDir::Where::disk};
  const std::string where_ = directory_ / "a";
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  Values expected_;
};

std::string name_of(const testing::TestParamInfo<How>& how) { return how.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Files, UpdatedShard,
    testing::Values(How{.name = "Appended"}, How{.name = "AppendedRaw", .codec = "bytes"},
                    How{.name = "AppendedBehindTheIndex", .location = IndexLocation::start, .update = Update::append},
                    How{.name = "InPlace", .update = Update::in_place, .codec = "bytes"},
                    How{.name = "InPlaceOrAppended", .update = Update::in_place},
                    How{.name = "InPlaceBehindTheIndex", .location = IndexLocation::start, .update = Update::in_place}),
    name_of);

TEST_P(UpdatedShard, StaysTheSameFileAndHasTheNewElements) {
  const ino_t before = inode();
  std::uint16_t value = 2;
  for (const Box& box :
       {Box{{0, 0}, {8, 8}}, Box{{3, 5}, {20, 2}}, Box{{60, 60}, {4, 4}}, Box{{0, 0}, {64, 8}}, Box{{9, 9}, {1, 1}}}) {
    write(box, value++);
    ASSERT_EQ(read(), expected_);
    EXPECT_EQ(faults(), 0U);
  }
  write({{0, 0}, {64, 60}}, 0);
  EXPECT_EQ(read(), expected_) << "erased chunks";
  EXPECT_EQ(faults(), 0U);
  EXPECT_EQ(inode(), before);
  auto updates = recorder_->updates();
  const bool is_in_place = GetParam().update == Update::in_place;
  if (is_in_place) {
    EXPECT_GE(updates["in_place"], 1U);
  }
  EXPECT_EQ(updates[is_in_place ? "append: not all of it fits in place" : "append"] + updates["in_place"], 6U);
}

TEST_P(UpdatedShard, IsReadAfterItWasCutBackToWhatPrecededAnAppend) {
  if (GetParam().location == IndexLocation::start || GetParam().update == Update::in_place) return;
  const auto size = fs::file_size(shard());
  const Values before = expected_;
  write({{3, 5}, {20, 2}}, 7);
  ASSERT_GT(fs::file_size(shard()), size);
  fs::resize_file(shard(), size);
  EXPECT_EQ(read(), before);
}

TEST_P(UpdatedShard, IsReadWithTheCopyOfAnIndexThatIsTorn) {
  if (GetParam().location != IndexLocation::start) return;
  write({{3, 5}, {20, 2}}, 7);
  write({{3, 5}, {20, 3}}, 8);
  {
    std::fstream file(shard(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16).write("0123456789abcdef", 16);
  }
  EXPECT_EQ(read(), expected_);
  EXPECT_EQ(faults(), 1U) << "other readers do not know the copy";
  write({{40, 40}, {3, 3}}, 9);
  EXPECT_EQ(read(), expected_);
  EXPECT_EQ(faults(), 0U) << "the next update writes the index again";
}

TEST_P(UpdatedShard, HasNoCopyOfATornIndexWhereChunksAre) {
  if (GetParam().location != IndexLocation::start) return;
  {
    std::fstream file(shard(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16).write("0123456789abcdef", 16);
  }
  Values values(kSide * kSide);
  EXPECT_EQ(open().read(whole(), std::span(values)).error().code(), ErrorCode::corrupt);
}

TEST_P(UpdatedShard, OverwritesItsLastChunkAndAppendsTheNextInOneCall) {
  fs::remove(shard());
  expected_.assign(kSide * kSide, 0);
  write({{0, 0}, {kChunk, kChunk}}, 7);
  write({{0, 0}, {kChunk, 2 * kChunk}}, 8);
  EXPECT_EQ(read(), expected_);
  EXPECT_EQ(faults(), 0U);
}

TEST_P(UpdatedShard, WithSlackHasRoomForLongerChunks) {
  if (GetParam().location != IndexLocation::start || GetParam().update != Update::in_place) return;
  make({.bytes = 200});
  const auto size = fs::file_size(shard());
  Values noise(64);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint16_t>(i * 7919);
  open().write(Box{{56, 56}, {8, 8}}, std::span<const std::uint16_t>(noise)).value();
  EXPECT_EQ(fs::file_size(shard()), size + kIndexBytes) << "only a copy of the index is appended";
  for (std::size_t i = 0; i < noise.size(); ++i) expected_[(56 + i / 8) * kSide + 56 + i % 8] = noise[i];
  EXPECT_EQ(read(), expected_);
  EXPECT_EQ(faults(), 0U);
}

// Nothing is put behind the last chunk, so nothing may be written there for its slack.
TEST(AShardWithSlack, KeepsItsLastChunkWhenAnotherIsErased) {
  for (const Update update : {Update::automatic, Update::rewrite, Update::append, Update::in_place}) {
    CreateOptions options{.shape = {8}, .dtype = DType::uint8, .chunks = {2}, .shards = {8}};
    options.codecs = std::vector<Json>{};
    options.index_location = IndexLocation::start;
    options.config.update = update;
    options.config.slack.bytes = 100;
    options.config.max_unused = 0;
    const Array array = create_array(memory_store(), "", options).value();
    std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
    array.write(Box{{0}, {8}}, std::span<const std::uint8_t>(values)).value();
    const std::vector<std::uint8_t> nothing{0, 0};
    array.write(Box{{4}, {2}}, std::span(nothing)).value();
    array.read(Box{{0}, {8}}, std::span(values)).value();
    EXPECT_THAT(values, testing::ElementsAre(1, 2, 3, 4, 0, 0, 7, 8));
  }
}

// An inner shard is limited to twice the size of its chunks, so its dead bytes must not remain.
TEST(AShardInAShard, StaysWritable) {
  const Json bytes = Json::parse(R"({"name": "bytes", "configuration": {"endian": "little"}})").value();
  const Json index = Json::Array{bytes, Json::Object{{"name", "crc32c"}}};
  const auto sharding = [&](std::uint64_t rows, std::uint64_t columns, const Json& inside) {
    const Json chunk = Json::Array{rows, columns};
    const Json::Object how{{"chunk_shape", chunk}, {"codecs", Json::Array{inside}}, {"index_codecs", index}};
    return Json(Json::Object{{"name", "sharding_indexed"}, {"configuration", how}});
  };
  CreateOptions options{.shape = {512, 512}, .dtype = DType::uint16, .chunks = {512, 512}};
  options.codecs = std::vector<Json>{sharding(256, 512, sharding(128, 256, bytes))};
  const Array array = create_array(memory_store(), "", options).value();
  std::vector<std::uint16_t> expected(512 * 512, 0);
  std::uint16_t number = 0;
  // Two of the four chunks of the first inner shard, then all of them, and then the second inner shard.
  for (const std::uint64_t row : {0, 0, 127, 127, 500}) {
    const std::vector<std::uint16_t> four(4, ++number);
    const auto written = array.write(Box{{row, 255}, {2, 2}}, std::span(four));
    ASSERT_TRUE(written) << "write " << number << ": " << written.error().text();
    for (const std::uint64_t at : {row * 512 + 255, row * 512 + 767}) expected[at] = expected[at + 1] = number;
  }
  std::vector<std::uint16_t> values(expected.size());
  array.read(Box{{0, 0}, {512, 512}}, std::span(values)).value();
  EXPECT_TRUE(values == expected);
}

}  // namespace updates_test
}  // namespace sherd
