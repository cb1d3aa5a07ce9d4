// Few chunks of a shard that is a box of chunks are changed by adding them to it: little is written, no change is
// lost, dead bytes stay within bounds, and readers see old or new chunks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <numeric>
#include <thread>

#include "sherd/precomputed.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/amend_cost.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace volume_update_test {

using neuroglancer::create_precomputed;
using neuroglancer::VolumeInfo;
using Values = std::vector<std::uint32_t>;

/// Shards are boxes of chunks if the hash is `identity`.
VolumeInfo volume(std::uint64_t side, std::uint64_t chunk, const std::string& encoding, std::uint64_t minishard_bits,
                  const std::string& hash = "identity") {
  VolumeInfo info;
  info.data_type = DType::uint32;
  info.scales.push_back(
      {.key = "s", .size = {side, side, side}, .chunk_sizes = {{chunk, chunk, chunk}}, .resolution = {8, 8, 8}});
  info.scales[0].sharding = Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                         {"preshift_bits", 0},
                                         {"hash", hash},
                                         {"minishard_bits", minishard_bits},
                                         {"shard_bits", hash == "identity" ? 0 : 1},
                                         {"minishard_index_encoding", encoding},
                                         {"data_encoding", encoding}};
  return info;
}

Box box_of(const Array& array) { return {Shape(4, 0), array.shape()}; }

Values numbers(const Array& array) {
  Values values(*element_count(array.shape()));
  std::iota(values.begin(), values.end(), 1U);
  return values;
}

Values all_of(const Array& array) {
  Values values(*element_count(array.shape()));
  array.read(box_of(array), std::span<std::uint32_t>(values)).value();
  return values;
}

/// Writes a value into a box and says so in the model, C order.
void write(const Array& array, const Box& box, std::uint32_t value, Values& model) {
  const Values part(*element_count(box.shape), value);
  array.write(box, std::span<const std::uint32_t>(part)).value();
  const Shape shape = array.shape();
  for (std::uint64_t x = 0; x < box.shape[0]; ++x)
    for (std::uint64_t y = 0; y < box.shape[1]; ++y)
      for (std::uint64_t z = 0; z < box.shape[2]; ++z)
        model[((box.origin[0] + x) * shape[1] + box.origin[1] + y) * shape[2] + box.origin[2] + z] = value;
}

Box chunk_box(std::uint64_t side, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return {{x * side, y * side, z * side, 0}, {side, side, side, 1}};
}

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status;
}

TEST(VolumeUpdate, OfOneChunkInAShardOf64MiBWritesLessThanOne) {
  const TempDir dir;
  const auto recorder = std::make_shared<Recorder>();
  const Config config{.recorder = recorder};
  const Array array = create_precomputed(dir.path(), volume(256, 32, "raw", 6), {.config = config}).value();
  Values model = numbers(array);
  array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
  const std::string shard = dir.path() + "/s/0.shard";
  const struct stat before_all = status_of(shard);
  ASSERT_GT(before_all.st_size, off_t{64} << 20);
  const auto written = [&](const Box& box, std::uint32_t value) {
    const std::uint64_t before = recorder->stats().bytes_written;
    write(array, box, value, model);
    return recorder->stats().bytes_written - before;
  };
  EXPECT_LT(written(chunk_box(32, 3, 1, 2), 7), std::uint64_t{1} << 20);
  EXPECT_LT(written({{1, 2, 3, 0}, {5, 6, 7, 1}}, 8), std::uint64_t{1} << 20);
  EXPECT_LT(written(chunk_box(32, 0, 0, 5), 0), 4096U);  // nothing but the list of the others
  EXPECT_EQ(status_of(shard).st_ino, before_all.st_ino);
  EXPECT_EQ(all_of(array), model);
  EXPECT_EQ(all_of(open_array(dir.path()).value()), model);
  const CheckReport report = check(dir.path(), {.data = true}).value();
  EXPECT_THAT(report.faults, testing::IsEmpty());
  EXPECT_GT(report.dead_bytes, 3U * 32 * 32 * 32 * 4);
}

// Under another sharding the same shard holds chunks that are not its own; rewriting it would lose them.
TEST(VolumeUpdate, OfAShardWithChunksOfAnotherShardingIsRefused) {
  const auto store = memory_store();
  VolumeInfo info = volume(16, 8, "raw", 0);
  info.scales[0].size = {16, 16, 8};
  const auto sharded = [&](std::uint64_t preshift, std::uint64_t bits) {
    info.scales[0].sharding.set("preshift_bits", preshift);
    info.scales[0].sharding.set("shard_bits", bits);
    return info.print().value().dump();
  };
  sharded(1, 1);
  const Array array = create_precomputed(store, "", info).value();
  const Values model = numbers(array);
  array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
  const std::string right = store->get("info").value().value();
  store->set("info", sharded(0, 2)).value();
  const std::uint32_t value = 1;
  const auto refused = open_array(store, {.writable = true})
                           .value()
                           .write(Box{{0, 0, 0, 0}, {1, 1, 1, 1}}, std::span<const std::uint32_t>(&value, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("is the sharding the right one?"));
  store->set("info", right).value();
  EXPECT_EQ(all_of(open_array(store).value()), model);
}

TEST(VolumeUpdate, OfMostOfAShardRewritesIt) {
  const TempDir dir;
  const Array array = create_precomputed(dir.path(), volume(32, 8, "gzip", 2)).value();
  Values model = numbers(array);
  array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
  const ino_t before = status_of(dir.path() + "/s/0.shard").st_ino;
  write(array, {{0, 0, 0, 0}, {32, 32, 24, 1}}, 9, model);
  EXPECT_EQ(all_of(array), model);
  EXPECT_NE(status_of(dir.path() + "/s/0.shard").st_ino, before);
}

TEST(VolumeUpdate, IsWrittenOnceOrAmendedByCostAndSetting) {
  struct Case {
    AmendCost cost;
    Update update;
    unsigned written, amended;
  };
  for (const Case& each :
       {Case{AmendCost::at_once, Update::automatic, 0, 1}, Case{AmendCost::on_server, Update::automatic, 0, 1},
        Case{AmendCost::copy, Update::automatic, 1, 0}, Case{AmendCost::copy, Update::append, 0, 1},
        Case{AmendCost::at_once, Update::rewrite, 1, 0}}) {
    const auto store = amended_at(each.cost);
    create_precomputed(store, "", volume(32, 8, "gzip", 2)).value();
    Config config;
    config.update = each.update;
    const Array array = open_array(store, {.writable = true, .config = config}).value();
    Values model = numbers(array);
    array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
    store->forget();
    write(array, chunk_box(8, 1, 2, 3), 7, model);
    EXPECT_EQ(written(*store), each.written);
    EXPECT_EQ(amended(*store), each.amended);
    EXPECT_EQ(all_of(open_array(store).value()), model);
  }
}

TEST(VolumeUpdate, WithFillValuesOfMissingChunksStoresNothing) {
  const auto store = amended_at(AmendCost::at_once);
  const Array array = create_precomputed(store, "", volume(32, 8, "raw", 2)).value();
  Values model(*element_count(array.shape()), 0);
  write(array, chunk_box(8, 0, 0, 0), 5, model);
  store->forget();
  write(array, chunk_box(8, 1, 1, 1), 0, model);
  EXPECT_EQ(written(*store) + amended(*store), 0U);
  EXPECT_EQ(all_of(array), model);
}

TEST(VolumeUpdate, WithFillValuesOfEveryStoredChunkErasesTheShard) {
  for (const AmendCost cost : {AmendCost::at_once, AmendCost::copy}) {
    const auto store = amended_at(cost);
    Config config;
    config.max_unused = 1;
    const Array array = create_precomputed(store, "", volume(32, 8, "raw", 2), {.config = config}).value();
    Values model(*element_count(array.shape()), 0);
    write(array, chunk_box(8, 0, 0, 0), 5, model);
    ASSERT_NE(store->open("s/0.shard").value(), nullptr);
    write(array, chunk_box(8, 0, 0, 0), 0, model);
    EXPECT_EQ(store->open("s/0.shard").value(), nullptr);
    EXPECT_EQ(all_of(array), model);
  }
}

TEST(VolumeUpdate, InPlaceOverwritesChunksOfTheSameLength) {
  for (const char* const hash : {"identity", "murmurhash3_x86_128"}) {
    const TempDir dir;
    const auto bytes = [&dir] {
      std::uintmax_t sum = 0;
      for (const auto& file : std::filesystem::directory_iterator(dir.path() + "/s")) sum += file.file_size();
      return sum;
    };
    Config config;
    config.update = Update::in_place;
    const Array array = create_precomputed(dir.path(), volume(32, 8, "raw", 2, hash), {.config = config}).value();
    Values model = numbers(array);
    array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
    const std::uintmax_t before = bytes();
    write(array, chunk_box(8, 1, 2, 3), 7, model);
    write(array, {{3, 4, 5, 0}, {9, 9, 9, 1}}, 8, model);
    EXPECT_EQ(bytes(), before) << hash;
    EXPECT_EQ(all_of(open_array(dir.path()).value()), model);
    EXPECT_THAT(check(dir.path()).value().faults, testing::IsEmpty());
  }
}

struct How {
  std::string name, encoding;
  Update update = Update::automatic;
  std::string hash = "identity";
};

void PrintTo(const How& how, std::ostream* to) { *to << how.name; }

class UpdatedVolume : public testing::TestWithParam<How> {};

TEST_P(UpdatedVolume, AgreesWithAModelAndBoundsDeadBytes) {
  const TempDir dir;
  const How& how = GetParam();
  Config config;
  config.update = how.update;
  const Array array =
      create_precomputed(dir.path(), volume(32, 8, how.encoding, 2, how.hash), {.config = config}).value();
  Values model(*element_count(array.shape()), 0);
  std::uint64_t random = 1;
  const auto below = [&random](std::uint64_t bound) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33U) % bound;
  };
  for (std::uint32_t round = 1; round < 300; ++round) {
    Box box{{below(32), below(32), below(32), 0}, {1, 1, 1, 1}};
    for (std::size_t d = 0; d < 3; ++d) box.shape[d] = 1 + below(std::min<std::uint64_t>(14, 32 - box.origin[d]));
    write(array, box, round % 7 == 0 ? 0 : round, model);
    if (round % 50 == 0) {
      ASSERT_EQ(all_of(array), model) << round;
    }
    const CheckReport report = check(dir.path()).value();
    ASSERT_THAT(report.faults, testing::IsEmpty()) << round;
    // One change may come on top of the permitted amount.
    ASSERT_LT(report.dead_bytes, report.live_bytes + 64 * 8 * 8 * 8 * 4) << round;
  }
  EXPECT_EQ(all_of(open_array(dir.path()).value()), model);
}

INSTANTIATE_TEST_SUITE_P(Settings, UpdatedVolume,
                         testing::Values(How{"Raw", "raw"}, How{"Gzip", "gzip"},
                                         How{"RawInPlace", "raw", Update::in_place},
                                         How{"RawHashedInPlace", "raw", Update::in_place, "murmurhash3_x86_128"},
                                         How{"GzipHashedInPlace", "gzip", Update::in_place, "murmurhash3_x86_128"}),
                         [](const auto& test) { return test.param.name; });

TEST(VolumeUpdate, ByProcessesAtOnceLosesNothing) {
  const TempDir dir;
  const Array array = create_precomputed(dir.path(), volume(32, 8, "gzip", 2)).value();
  Values model = numbers(array);
  array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
  std::vector<pid_t> children;
  for (std::uint64_t x = 0; x < 4; ++x) {
    const pid_t child = fork();
    if (child == 0) {
      const auto mine = open_array(dir.path(), {.writable = true});
      bool good = mine.has_value();
      for (std::uint64_t i = 0; good && i < 16; ++i) {
        const Values part(8 * 8 * 8, static_cast<std::uint32_t>(1000 + x));
        good = mine->write(chunk_box(8, x, i / 4, i % 4), std::span<const std::uint32_t>(part)).has_value();
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Values found = all_of(open_array(dir.path()).value());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 1000 + i / (8 * 32 * 32)) << i;
}

TEST(VolumeUpdate, IsAtomicForReaders) {
  const TempDir dir;
  const Array array = create_precomputed(dir.path(), volume(16, 8, "raw", 1)).value();
  Values model(*element_count(array.shape()), 1);
  array.write(box_of(array), std::span<const std::uint32_t>(model)).value();
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    const Array mine = open_array(dir.path(), {.writable = true}).value();
    for (std::uint32_t value = 2; value < 60; ++value) write(mine, chunk_box(8, 1, 0, 1), value, model);
    ends = true;
  });
  const Array mine = open_array(dir.path()).value();
  std::uint32_t last = 1;
  while (!ends) {
    Values part(8 * 8 * 8);
    const auto read = mine.read(chunk_box(8, 1, 0, 1), std::span<std::uint32_t>(part));
    EXPECT_TRUE(read) << read.error().text();
    if (!read) break;
    EXPECT_EQ(Values(part.size(), part.front()), part);
    EXPECT_GE(part.front(), last);
    last = part.front();
  }
  writer.join();
  EXPECT_EQ(all_of(mine), model);
}

}  // namespace volume_update_test
}  // namespace sherd
