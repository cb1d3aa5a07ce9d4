// Damage and change in the middle of things: what one flipped bit spoils and what it leaves, shards that are cut short
// or replaced between two reads, a full write over edge shards, and a giant array that is almost empty.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

#include "base/buffer.hpp"
#include "base/endian.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/tools.hpp"
#include "tests/hostile/hostile.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::hostile {
namespace scenario_test {

using ::testing::HasSubstr;
using Elements = std::vector<std::uint16_t>;

/// A store whose objects are read in ranges, one for each chunk. Where `pins` is not set, an object that has been
/// replaced since it was opened can no longer be read, as on a server that compares tags.
std::shared_ptr<TestStore> watched_store(const std::shared_ptr<Store>& inner, bool pins) {
  auto watched = std::make_shared<TestStore>(inner);
  watched->of = Op::read;
  watched->has.max_run_bytes = 1;
  if (pins) return watched;
  watched->refuse = [inner](const Asked& asked) -> Result<void> {
    if (inner->open(asked.key).value()->generation().value() == asked.source->generation().value()) return {};
    return conflict("the object has been replaced");
  };
  return watched;
}

Config one_thread() {
  Config config;
  config.threads = 1;
  config.coalesce_gap = 0;
  config.durable = false;
  return config;
}

/// 16 inner chunks of 256 bytes, raw or with a checksum each.
Array small_shard(const std::shared_ptr<Store>& store, bool checksums) {
  CreateOptions options{.shape = {32, 64}, .dtype = DType::uint16, .chunks = {8, 16}, .shards = {32, 64}};
  options.codecs = checksums ? std::vector<Json>{"crc32c"} : std::vector<Json>{};
  options.config = one_thread();
  return create_array(store, "a", options).value();
}

const Box kAll{{0, 0}, {32, 64}};

Elements counting(std::uint16_t first) {
  Elements elements(32 * 64);
  std::iota(elements.begin(), elements.end(), first);
  return elements;
}

Result<void> write_all(const Array& array, const Elements& elements) { return array.write(kAll, std::span(elements)); }
Result<Elements> read_all(const Array& array) {
  Elements elements(32 * 64);
  auto done = array.read(kAll, std::span(elements));
  if (!done) return std::move(done).error();
  return elements;
}
Box chunk(std::uint64_t slot) { return {{slot / 4 * 8, slot % 4 * 16}, {8, 16}}; }

TEST(Damage, AFlippedBitAffectsOnlyItsChunkWhichTheErrorNames) {
  const auto store = memory_store();
  ASSERT_TRUE(write_all(small_shard(store, true), counting(1)));
  const std::string good = store->get("a/c/0/0").value().value();
  constexpr std::size_t chunk_bytes = 256 + 4;
  for (std::size_t i = 0; i < 16; ++i) {
    std::string bytes = good;
    bytes[i * chunk_bytes + i * 16] = static_cast<char>(bytes[i * chunk_bytes + i * 16] ^ 16);
    store->set("a/c/0/0", bytes).value();
    for (const auto& reading : {store, recorded_store(store, std::make_shared<Recorder>())}) {
      const Array array = open_array(reading, {.path = "a"}).value();
      std::vector<std::uint64_t> spoilt;
      for (std::uint64_t slot = 0; slot < 16; ++slot) {
        Elements elements(8 * 16);
        const auto done = array.read(chunk(slot), std::span(elements));
        if (done) {
          EXPECT_EQ(elements[0], counting(1)[slot / 4 * 8 * 64 + slot % 4 * 16]);
          continue;
        }
        spoilt.push_back(slot);
        EXPECT_EQ(done.error().code(), ErrorCode::corrupt);
        EXPECT_EQ(done.error().key(), "a/c/0/0");
        EXPECT_EQ(done.error().slot(), slot);
      }
      ASSERT_EQ(spoilt.size(), 1U) << "bit " << i;
      const auto whole = read_all(array);
      ASSERT_FALSE(whole);
      EXPECT_EQ(whole.error().slot(), spoilt[0]);
    }
  }
}

/// What elements a damaged store holds, if any; `check` reports the same, and names one slot.
std::optional<Elements> checked(const std::shared_ptr<Store>& store, std::uint64_t slot) {
  const CheckReport report = check(store, {.path = "a", .data = true, .config = one_thread()}).value();
  const auto read = read_all(open_array(store, {.path = "a"}).value());
  EXPECT_EQ(report.ok(), read.has_value());
  if (read) return *read;
  EXPECT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults.front().code, "chunk_decode");
  EXPECT_EQ(report.faults.front().key, "a/c/0/0");
  EXPECT_EQ(report.faults.front().slot, slot);
  return std::nullopt;
}

TEST(Damage, NoFlippedBitChangesElementsInTheDefaultCodecs) {
  const auto store = memory_store();
  CreateOptions options{.shape = {32, 64}, .dtype = DType::uint16, .chunks = {32, 32}, .shards = {32, 64}};
  options.config = one_thread();
  Elements noisy(32 * 64);
  std::minstd_rand random(1);
  for (auto& element : noisy) element = static_cast<std::uint16_t>(1000 + random() % 16 * (random() % 2));
  ASSERT_TRUE(write_all(create_array(store, "a", options).value(), noisy));
  const std::string good = store->get("a/c/0/0").value().value();
  constexpr std::size_t index_bytes = 2 * 16 + 4;
  std::size_t found = 0, harmless = 0;
  for (std::size_t bit = 0; bit < (good.size() - index_bytes) * 8; bit += 5) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    store->set("a/c/0/0", bytes).value();
    const std::uint64_t second = load_little<std::uint64_t>(as_bytes(good).last(index_bytes).subspan(16).data());
    const auto left = checked(store, bit / 8 < second ? 0 : 1);
    ASSERT_TRUE(!left || *left == noisy) << "bit " << bit;
    ++(left ? harmless : found);
  }
  // Bits that zstd's format leaves without a meaning are not damage.
  EXPECT_GT(found, 50 * harmless);
}

TEST(Damage, AFlippedBitInTheIndexIsDetected) {
  const auto store = memory_store();
  ASSERT_TRUE(write_all(small_shard(store, false), counting(1)));
  const std::string good = store->get("a/c/0/0").value().value();
  for (std::size_t bit = (good.size() - 16 * 16 - 4) * 8; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    store->set("a/c/0/0", bytes).value();
    const auto read = read_all(open_array(store, {.path = "a"}).value());
    ASSERT_FALSE(read) << bit;
    ASSERT_EQ(read.error().code(), ErrorCode::corrupt);
    ASSERT_THAT(read.error().text(), HasSubstr("'a/c/0/0': shard index: crc32c"));
  }
}

TEST(Damage, ATruncatedShardIsCorruptWhereverItIsCut) {
  const auto store = memory_store();
  ASSERT_TRUE(write_all(small_shard(store, false), counting(1)));
  const std::string good = store->get("a/c/0/0").value().value();
  for (std::size_t size = 0; size < good.size(); size += 7) {
    store->set("a/c/0/0", std::string_view(good).substr(0, size)).value();
    for (const auto& reading : {store, recorded_store(store, std::make_shared<Recorder>())}) {
      const auto read = read_all(open_array(reading, {.path = "a"}).value());
      ASSERT_FALSE(read) << size;
      ASSERT_EQ(read.error().code(), ErrorCode::corrupt);
      ASSERT_EQ(read.error().key(), "a/c/0/0");
    }
  }
}

/// Replaces the shard before the `number`-th read of a read whose index is cached, by one whose chunks are elsewhere.
void replace_at(std::uint64_t number, bool pins, CacheMode cache) {
  SCOPED_TRACE("before read " + std::to_string(number) + (pins ? ", pinned" : ", not pinned"));
  const auto inner = memory_store();
  const Array writer = small_shard(inner, true);
  ASSERT_TRUE(write_all(writer, counting(1)));
  const auto watched = watched_store(inner, pins);
  Config config = one_thread();
  config.cache = cache;
  const Array array = open_array(watched, {.path = "a", .config = config}).value();
  std::uint16_t one = 0;
  ASSERT_TRUE(array.read(Box{{0, 0}, {1, 1}}, std::span(&one, 1))) << "warms the cache";
  Elements later = counting(5000);
  std::fill_n(later.begin(), 64 * 8, std::uint16_t{0});  // four chunks go, so all others move
  bool replaced = false;
  watched->at(number, [&] {
    write_all(writer, later).value();
    replaced = true;
  });
  std::vector<Selection::Axis> axes{Range{.start = 0, .count = 16, .step = 2}, Range{.start = 0, .count = 64}};
  Elements elements(16 * 64);
  const auto done = array.read(Selection::orthogonal(axes), std::span(elements));
  ASSERT_TRUE(done) << done.error().text();
  const auto rows_of = [](const Elements& all) {
    Elements rows;
    for (std::size_t y = 0; y < 32; y += 2)
      rows.insert(rows.end(), all.begin() + static_cast<std::ptrdiff_t>(y * 64),
                  all.begin() + static_cast<std::ptrdiff_t>(y * 64 + 64));
    return rows;
  };
  EXPECT_TRUE(elements == rows_of(counting(1)) || elements == rows_of(later)) << "a mixture of two versions";
  EXPECT_TRUE(replaced);
  EXPECT_EQ(read_all(array).value(), later);
}

TEST(Change, AShardReplacedWhileItIsReadIsTheOldOneOrTheNewOne) {
  for (const bool pins : {true, false})
    for (const CacheMode cache : {CacheMode::index, CacheMode::chunks})
      for (std::uint64_t number = 0; number < 15; ++number) replace_at(number, pins, cache);
}

TEST(Change, AFileThatIsCutShortWhileItIsReadIsCorrupt) {
  for (const std::uint64_t left : {0, 100, 4000}) {
    const TempDir directory;
    const auto inner = file_store(directory.path(), one_thread()).value();
    ASSERT_TRUE(write_all(small_shard(inner, true), counting(1)));
    const auto watched = watched_store(inner, true);
    const Array array = open_array(watched, {.path = "a", .config = one_thread()}).value();
    watched->at(1, [&] { std::filesystem::resize_file(directory / "a/c/0/0", left); });
    Elements elements(8 * 16);
    const auto done = array.read(chunk(15), std::span(elements));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), ErrorCode::corrupt) << done.error().text();
    EXPECT_EQ(done.error().key(), "a/c/0/0");
  }
}

using MakeArray = std::function<Array(const std::shared_ptr<Store>&)>;

/// 8 x 8 x 8 bytes in 2 x 2 x 2 chunks of one shard.
Array draft_shard(const std::shared_ptr<Store>& store) {
  CreateOptions options{
      .shape = {8, 8, 8}, .dtype = DType::uint8, .chunks = {4, 4, 4}, .shards = {8, 8, 8}, .format = "draft2022"};
  options.codecs = std::vector<Json>{"bytes"};
  return create_array(store, "a", options).value();
}
Array volume_shard(const std::shared_ptr<Store>& store) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint8;
  info.scales.push_back({.key = "s", .size = {8, 8, 8}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}});
  info.scales[0].sharding = Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                         {"preshift_bits", 0},
                                         {"hash", "identity"},
                                         {"minishard_bits", 1},
                                         {"shard_bits", 0}};
  return neuroglancer::create_precomputed(store, "a", info).value();
}

/// Cuts the shard short before the `number`-th read that reading its last chunk takes.
void expect_corrupt_when_cut(const MakeArray& make, const std::string& key, std::uint64_t number) {
  SCOPED_TRACE(key + ", before read " + std::to_string(number));
  const TempDir directory;
  const auto inner = file_store(directory.path(), one_thread()).value();
  const Array made = make(inner);
  std::vector<std::uint8_t> ones(512, 1);
  ASSERT_TRUE(made.write(Box{Shape(made.ndim(), 0), made.shape()}, std::span<const std::uint8_t>(ones)));
  const auto watched = watched_store(inner, true);
  const Array array = open_array(watched, {.path = "a", .config = one_thread()}).value();
  bool cut = false;
  watched->at(number, [&] {
    std::filesystem::resize_file(directory / key, 40);
    cut = true;
  });
  Box last{{4, 4, 4}, {4, 4, 4}};
  last.origin.resize(made.ndim());
  last.shape.resize(made.ndim(), 1);
  const auto done = array.read(last, std::span(ones).first(64));
  EXPECT_TRUE(cut);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::corrupt) << done.error().text();
  EXPECT_EQ(done.error().key(), key);
}

TEST(Change, AShardOfAnyFormatThatIsCutShortWhileItIsReadIsCorrupt) {
  for (const std::uint64_t number : {0, 1}) expect_corrupt_when_cut(draft_shard, "data/root/a/c0/0/0", number);
  // The list of the minishard comes between the index and the chunk.
  for (const std::uint64_t number : {0, 1, 2}) expect_corrupt_when_cut(volume_shard, "a/s/0.shard", number);
}

TEST(EdgeShards, AFullWriteReadsNothing) {
  const auto recorder = std::make_shared<Recorder>();
  CreateOptions options{.shape = {997, 13}, .dtype = DType::uint16, .chunks = {10, 10}, .shards = {100, 100}};
  options.config.recorder = recorder;
  const Array array = create_array(memory_store(), "a", options).value();
  Elements elements(997 * 13);
  std::iota(elements.begin(), elements.end(), std::uint16_t{1});
  const Box all{{0, 0}, {997, 13}};
  for (int time = 0; time < 2; ++time) {
    recorder->start();
    ASSERT_TRUE(array.write(all, std::span<const std::uint16_t>(elements)));
    for (const auto& request : recorder->stop()) EXPECT_EQ(request.op, "put") << request.key;
    EXPECT_EQ(recorder->chunks_decoded, 0U);
  }
  Elements back(elements.size());
  ASSERT_TRUE(array.read(all, std::span(back)));
  EXPECT_EQ(back, elements);
  EXPECT_EQ(array.nchunks_initialized().value(), 100U * 2U);
}

std::string live_in_the_giants_corner(const std::string& directory) {
  Config config;
  config.durable = false;
  CreateOptions options{
      .shape = {25000, 18000, 6000}, .dtype = DType::uint8, .chunks = {64, 64, 64}, .shards = {2048, 2048, 2048}};
  options.config = config;
  const Box corner{{24960, 17984, 5952}, {40, 16, 48}};
  std::vector<std::uint8_t> values(*element_count(corner.shape));
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  create_array(directory, options).value().write(corner, std::span<const std::uint8_t>(values)).value();
  const Array array = open_array(directory, {.config = config}).value();
  std::uint8_t last = 0;
  array.read(Box{{24999, 17999, 5999}, {1, 1, 1}}, std::span(&last, 1)).value();
  std::uint8_t missing = 9;
  array.read(Box{{0, 0, 0}, {1, 1, 1}}, std::span(&missing, 1)).value();
  std::string failure;
  if (last != values.back()) failure += "the last voxel is " + std::to_string(last) + "; ";
  if (missing != 0) failure += "the first voxel is not 0; ";
  if (array.nchunks_initialized().value() != 1) failure += "not one chunk; ";
  return failure;
}

TEST(SparseGiant, OneCornerOfTrillionsOfVoxelsTakesLittleMemory) {
  const TempDir directory;
  EXPECT_EQ(run_apart(0, [&] { return live_in_the_giants_corner(directory / "giant"); }), "");
  EXPECT_LT(std::filesystem::file_size(directory / "giant/c/12/8/2"), 2U << 20);
}

}  // namespace scenario_test
}  // namespace sherd::hostile
