// A shard that another process replaces in the middle of a read: between the index and the data, between two runs of
// data, with nothing or everything in the cache. The read returns the old values or the new ones, never a mixture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace replaced_shard_test {

using Values = std::vector<std::uint16_t>;

enum class How : std::uint8_t { sherd, rename, in_place, erased };

struct Setting {
  How how;
  CacheMode cache;
  bool warm;
  bool compressed;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const auto how : {How::sherd, How::rename, How::in_place, How::erased})
    for (const auto cache : {CacheMode::index, CacheMode::shard, CacheMode::chunks})
      for (const bool warm : {false, true})
        for (const bool compressed : {false, true}) all.push_back({how, cache, warm, compressed});
  return all;
}

std::string name_of(const testing::TestParamInfo<Setting>& setting) {
  const char* how[] = {"BySherd", "ByRename", "InPlace", "ByNothing"};
  const char* cache[] = {"IndexCache", "ShardCache", "ChunkCache"};
  return std::string(how[static_cast<int>(setting.param.how)]) + cache[static_cast<int>(setting.param.cache)] +
         (setting.param.warm ? "Warm" : "Cold") + (setting.param.compressed ? "Zstd" : "Raw");
}

class ReplacedShard : public testing::TestWithParam<Setting> {
 protected:
  ReplacedShard() {
    create(directory_ / "new", 2, ChunkOrder::f);  // other chunks at the same offsets
  }

  /// The old shard, and a handle that has read nothing of it.
  void begin() {
    create(directory_ / "old", 1, ChunkOrder::c);
    store_ = std::make_shared<TestStore>(file_store(directory_ / "old").value());
    store_->of = Op::read;
    store_->keys = [](const std::string& key) { return !key.ends_with("zarr.json"); };
    Config config;
    config.cache = GetParam().cache;
    config.coalesce_gap = 0;
    config.threads = 1;
    array_.emplace(open_array(store_, {.config = config}).value());
  }

  /// Elements encode their version and their position: 1000 times the one and the other.
  static std::uint16_t element(std::uint16_t version, std::size_t row, std::size_t column) {
    return static_cast<std::uint16_t>(version * 1000 + row * 16 + column);
  }
  static void create(const std::string& directory, std::uint16_t version, ChunkOrder order) {
    CreateOptions options{.shape = {16, 16}, .dtype = DType::uint16, .chunks = {4, 4}, .shards = {16, 16}};
    options.codecs = GetParam().compressed ? std::vector<Json>{Json("zstd:1")} : std::vector<Json>{Json("bytes")};
    options.config.chunk_order = order;
    options.overwrite = true;
    Values values;
    for (std::size_t i = 0; i < 256; ++i) values.push_back(element(version, i / 16, i % 16));
    create_array(directory, options)
        .value()
        .write(Box{{0, 0}, {16, 16}}, std::span<const std::uint16_t>(values))
        .value();
  }

  /// Another process replaces the old shard with the new one.
  void replace() {
    namespace fs = std::filesystem;
    const pid_t child = ::fork();
    if (child == 0) {
      const fs::path from = directory_ / "new/c/0/0", to = directory_ / "old/c/0/0", copy = directory_ / "copy";
      std::ifstream in(from, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      switch (GetParam().how) {
        case How::sherd:
          file_store(directory_ / "old").value()->set("c/0/0", bytes).value();
          break;
        case How::rename:
          fs::copy_file(from, copy);
          fs::rename(copy, to);
          break;
        case How::in_place:
          std::ofstream(to, std::ios::binary | std::ios::trunc) << bytes;
          break;
        case How::erased:
          fs::remove(to);
          break;
      }
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
  }

  /// The version of all elements of the box, or -1; missing elements are of version 0.
  int read_version() {
    Values values(std::size_t{16} * 2);
    // Two rows of inner chunks that are not adjacent: several runs in any order.
    const auto selection = Selection::parse("1:15:13,:", array_->shape()).value();
    array_->read(selection, std::span(values)).value();
    const int version = values[0] / 1000;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto expected = version == 0 ? 0 : element(static_cast<std::uint16_t>(version), i < 16 ? 1 : 14, i % 16);
      if (values[i] != expected) return -1;
    }
    return version;
  }

  const TempDir directory_;
  std::shared_ptr<TestStore> store_;
  std::optional<Array> array_;
};
INSTANTIATE_TEST_SUITE_P(Read, ReplacedShard, testing::ValuesIn(settings()), name_of);

TEST_P(ReplacedShard, IsReadInItsOldOrNewVersion) {
  int interrupted = 0;
  for (int reads_before = 0; reads_before < 12; ++reads_before) {
    SCOPED_TRACE(reads_before);
    begin();
    if (GetParam().warm) {
      EXPECT_EQ(read_version(), 1);
    }
    store_->at(reads_before, [this] { replace(); });
    const int version = read_version();
    const bool happened = store_->has_acted();
    store_->cancel();
    const int replaced = GetParam().how == How::erased ? 0 : 2;
    EXPECT_THAT(version, testing::AnyOf(1, happened ? replaced : 1));
    EXPECT_EQ(read_version(), happened ? replaced : 1);
    interrupted += happened;
    if (!happened) break;
  }
  // With all of it in the cache no read can be interrupted.
  const bool nothing_to_read = GetParam().warm && GetParam().cache != CacheMode::index;
  EXPECT_GE(interrupted, nothing_to_read ? 0 : GetParam().cache == CacheMode::shard ? 1 : 2);
}

}  // namespace replaced_shard_test
}  // namespace sherd
