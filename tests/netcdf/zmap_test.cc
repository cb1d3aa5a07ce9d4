// The objects of a dataset by the keys of netcdf-c's zmap: its rules for keys, its search, its distinct result codes.
#include "sherd/netcdf_zmap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/buffer.hpp"
#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::netcdf {
namespace zmap_test {

using testing::ElementsAre;
using testing::IsEmpty;

/// As S3 has it.
std::shared_ptr<Store> with_short_keys() {
  const auto store = std::make_shared<TestStore>(memory_store());
  store->has.max_key_bytes = 1024;
  return store;
}

std::vector<std::string> keys_in(Store& store) {
  std::vector<std::string> keys;
  store.list("", [&](const std::string& key, std::uint64_t) { return keys.push_back(key), true; }).value();
  return keys;
}

class ZmapOfStore : public testing::TestWithParam<const char*> {
 protected:
  ZmapOfStore() {
    const std::string kind = GetParam();
    store_ = kind == "files" ? file_store(directory_.path()).value() : memory_store();
    if (kind == "delayed") store_ = delayed_store(store_, std::chrono::microseconds(1), 4);
    for (const char* key : {".zgroup", "data1/0", "meta1/.zarray", "meta1/inner/x"}) store_->set(key, key).value();
  }

  TempDir directory_;
  std::shared_ptr<Store> store_;
};
INSTANTIATE_TEST_SUITE_P(Stores, ZmapOfStore, testing::Values("memory", "files", "delayed"));

TEST_P(ZmapOfStore, SearchReturnsTheNextSegmentsOfKeysWithObjects) {
  const Zmap map(store_);
  EXPECT_THAT(map.search("/").value(), ElementsAre(".zgroup", "data1", "meta1"));
  EXPECT_THAT(map.search("/meta1").value(), ElementsAre(".zarray", "inner"));
  EXPECT_THAT(map.search("/meta1/inner").value(), ElementsAre("x"));
  EXPECT_THAT(map.search("/none").value(), IsEmpty());
  EXPECT_THAT(map.search("/meta").value(), IsEmpty());
}

TEST_P(ZmapOfStore, AnswersAreDistinguishable) {
  Zmap map(store_);
  EXPECT_EQ(map.look("/meta1/.zarray").value().status, ZmapStatus::found);
  EXPECT_EQ(map.look("/meta1/.zarray").value().size, 13U);
  EXPECT_EQ(map.look("/").value().status, ZmapStatus::empty);
  EXPECT_EQ(map.look("/meta1").value().status, ZmapStatus::empty);
  EXPECT_EQ(map.look("/meta1/none").value().status, ZmapStatus::no_object);
  EXPECT_EQ(map.write("/meta1", as_bytes("x")).value(), ZmapStatus::object);
  EXPECT_EQ(map.write("/data1/0/below", as_bytes("x")).value(), ZmapStatus::object);
  EXPECT_EQ(map.write("/data1/0", as_bytes("x"), false).value(), ZmapStatus::object);
  EXPECT_EQ(keys_in(*store_).size(), 4U);
  EXPECT_EQ(store_->get("data1/0").value(), "data1/0");
  EXPECT_EQ(map.write("/data1/0", as_bytes("new")).value(), ZmapStatus::found);
  EXPECT_EQ(store_->get("data1/0").value(), "new");
}

TEST_P(ZmapOfStore, ReadsARange) {
  const Zmap map(store_);
  std::string text(4, '\0');
  const auto to = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(map.read("/meta1/.zarray", 7, to).value(), ZmapStatus::found);
  EXPECT_EQ(text, "zarr");
  EXPECT_EQ(map.read("/meta1/.zarray", 10, to).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(map.read("/meta1/.zarray", ~std::uint64_t{0}, to).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(map.read("/meta1", 0, to).value(), ZmapStatus::empty);
  EXPECT_EQ(map.read("/none", 0, to).value(), ZmapStatus::no_object);
}

TEST_P(ZmapOfStore, WalksDepthFirstAndSorted) {
  std::vector<std::string> keys;
  const Zmap map(store_);
  map.walk("/", [&](const std::string& key, std::uint64_t) { return keys.push_back(key), true; }).value();
  EXPECT_THAT(keys, ElementsAre("/.zgroup", "/data1/0", "/meta1/.zarray", "/meta1/inner/x"));
}

TEST(Zmap, SearchLeavesOutEmptyDirectories) {
  const TempDir directory;
  std::filesystem::create_directories(directory / "empty/inner");
  const auto store = file_store(directory.path()).value();
  store->set("a/0", "x").value();
  EXPECT_THAT(Zmap(store).search("/").value(), ElementsAre("a"));
}

TEST(Zmap, InvalidKeysAreRefused) {
  const auto store = memory_store();
  Zmap map(store);
  for (const char* key : {"", "x", "/x/", "//x", "/x//y", "/..", "/a\tb", "/\xff", "/\x7f"}) {
    EXPECT_EQ(map.look(key).error().code(), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(map.search(key).error().code(), ErrorCode::invalid_argument) << key;
    EXPECT_EQ(map.write(key, as_bytes("x")).error().code(), ErrorCode::invalid_argument) << key;
  }
  EXPECT_EQ(map.write("/", as_bytes("x")).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(map.write("/größe/x y", as_bytes("x")).value(), ZmapStatus::found);
}

TEST(Zmap, StatusesHaveTheNamesAndNumbersOfNetcdfC) {
  for (const auto& [status, name, number] :
       {std::tuple(ZmapStatus::found, "NC_NOERR", 0), std::tuple(ZmapStatus::empty, "NC_EEMPTY", -139),
        std::tuple(ZmapStatus::object, "NC_EOBJECT", -140), std::tuple(ZmapStatus::no_object, "NC_ENOOBJECT", -141)}) {
    EXPECT_EQ(to_string(status), name);
    EXPECT_EQ(static_cast<int>(status), number) << name;
  }
}

TEST(Zmap, OfNothingIsNotFound) {
  const TempDir directory;
  EXPECT_EQ(Zmap::open(directory / "none").error().code(), ErrorCode::not_found);
  EXPECT_EQ(Zmap::open(directory.path() + "#mode=nczarr,s3").error().code(), ErrorCode::invalid_argument);
}

std::string path_of(std::size_t groups) {
  std::string path;
  for (std::size_t i = 0; i < groups; ++i) path += (path.empty() ? "" : "/") + std::string(100, 'g');
  return path;
}

// 1024 bytes are the longest key of S3 (appendix C).
TEST(LongKeys, AreRefusedBeforeAnythingIsWritten) {
  const auto store = with_short_keys();
  EXPECT_EQ(Zmap(store).write("/" + path_of(11), as_bytes("x")).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(create_group(store, path_of(11)).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(create_array(store, path_of(11), {.shape = {4}, .dtype = DType::int32}).error().code(),
            ErrorCode::unsupported);
  // The document fits, and the keys of chunks do not.
  sherd::CreateOptions options{.shape = Shape(4, 1000000), .dtype = DType::int32, .chunks = Shape(4, 1)};
  const std::string almost = path_of(10) + "/" + std::string(2, 'a');
  EXPECT_EQ(create_array(store, almost, options).error().code(), ErrorCode::unsupported);
  EXPECT_THAT(keys_in(*store), IsEmpty());
  EXPECT_TRUE(create_group(store, path_of(9)).has_value());
}

TEST(LongKeys, AreRefusedWhereANetcdfGroupIsDefined) {
  const auto store = with_short_keys();
  Writer writer = Writer::create(store).value();
  std::string path;
  for (int i = 0; i < 10; ++i) writer.define_group(path += "/" + std::string(99, 'g')).value();
  const auto refused = writer.define_group(path + "/" + std::string(99, 'g'));
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("1024"));
  writer.define_dimension("/", "x", 4).value();
  EXPECT_EQ(writer.define_variable(path, {.name = std::string(30, 'v'), .dimensions = {"x"}}).error().code(),
            ErrorCode::unsupported);
  writer.sync().value();
  EXPECT_TRUE(Dataset::open(store).value().warnings().empty());
}

}  // namespace zmap_test
}  // namespace sherd::netcdf
