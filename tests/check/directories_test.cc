// check() of files with a directory at the key of a chunk or a shard, which no reader mistakes for a missing chunk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sherd/collection.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace directories_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

auto unreadable(const std::string& key) {
  return AllOf(Field("code", &Fault::code, "unreadable"), Field("key", &Fault::key, key));
}

Json sharding(const std::string& hash) {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 0},
                      {"hash", hash},
                      {"minishard_bits", 0},
                      {"shard_bits", 1}};
}

struct Layout {
  std::string name;
  std::function<Array(const std::string& url)> make;
  std::string chunk;  ///< key of one
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

Array array_of(const std::string& url, const std::string& format, const Shape& shards) {
  return create_array(url,
                      {.shape = {8, 8}, .dtype = DType::uint8, .chunks = {4, 4}, .shards = shards, .format = format})
      .value();
}

Array volume_of(const std::string& url, const Json& how) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint8;
  info.scales.push_back(
      {.key = "s", .size = {8, 8, 8}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}, .sharding = how});
  return neuroglancer::create_precomputed(url, info).value();
}

class DirectoryAtTheKeyOfAChunk : public testing::TestWithParam<Layout> {};

TEST_P(DirectoryAtTheKeyOfAChunk, IsReported) {
  const TempDir dir;
  const std::string url = dir / "array";
  const Array array = GetParam().make(url);
  const Box all{Shape(array.shape().size(), 0), array.shape()};
  const std::vector<std::uint8_t> values(element_count(array.shape()).value(), 7);
  array.write(all, std::span(values)).value();
  ASSERT_THAT(check(url).value().faults, IsEmpty());
  const std::string& chunk = GetParam().chunk;
  ASSERT_TRUE(std::filesystem::remove(url + "/" + chunk));
  std::filesystem::create_directory(url + "/" + chunk);
  std::vector<std::uint8_t> read(values.size());
  EXPECT_FALSE(array.read(all, std::span(read)));
  EXPECT_THAT(check(url).value().faults, ElementsAre(unreadable(chunk)));
  file_store(url).value()->set(chunk + "/x", "").value();
  EXPECT_THAT(check(url).value().faults, Contains(unreadable(chunk)));
}

INSTANTIATE_TEST_SUITE_P(
    Format, DirectoryAtTheKeyOfAChunk,
    testing::Values(
        Layout{"Zarr", [](const auto& url) { return array_of(url, "zarr3", {}); }, "c/0/1"},
        Layout{"ShardedZarr", [](const auto& url) { return array_of(url, "zarr3", {8, 4}); }, "c/0/1"},
        Layout{"Draft", [](const auto& url) { return array_of(url, "draft2022", {}); }, "data/root/c0/1"},
        Layout{"Volume", [](const auto& url) { return volume_of(url, {}); }, "s/0-4_4-8_0-4"},
        Layout{"BoxedVolume", [](const auto& url) { return volume_of(url, sharding("identity")); }, "s/0.shard"},
        Layout{"HashedVolume", [](const auto& url) { return volume_of(url, sharding("murmurhash3_x86_128")); },
               "s/1.shard"}),
    [](const auto& of) { return of.param.name; });

TEST(Directory, AtTheKeyOfAShardIsReportedByListings) {
  const TempDir dir;
  const std::string url = dir / "skeletons";
  neuroglancer::SkeletonInfo info;
  info.sharding = sharding("identity");
  const auto skeletons = neuroglancer::Collection::create(url, info).value();
  for (const std::uint64_t id : {2, 3}) skeletons.write_skeleton(id, {}).value();
  ASSERT_THAT(check(url).value().faults, IsEmpty());
  std::filesystem::remove(url + "/1.shard");
  std::filesystem::create_directory(url + "/1.shard");
  EXPECT_THAT(check(url).value().faults, ElementsAre(unreadable("1.shard")));
  const auto ids = neuroglancer::ShardedStore::open(url, {}, {.writable = true}).value();
  const auto listed = ids.list([](std::uint64_t, std::uint64_t) { return true; });
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().key(), "1.shard");
  EXPECT_EQ(ids.compact().error().key(), "1.shard");
}

TEST(Directory, NamedLikeAChunkIsIgnoredInStoresWithoutDirectories) {
  const auto store = memory_store();
  const Array array = create_array(store, "", {.shape = {8, 8}, .dtype = DType::uint8, .chunks = {4, 4}}).value();
  const std::vector<std::uint8_t> values(64, 7);
  array.write(Box{{0, 0}, {8, 8}}, std::span(values)).value();
  store->set("c/0/1/x", "").value();
  EXPECT_THAT(check(store).value().faults, ElementsAre(Field("key", &Fault::key, "c/0/1/x")));
  store->erase("c/0/1").value();
  EXPECT_THAT(check(store).value().faults, ElementsAre(Field("key", &Fault::key, "c/0/1/x")));
}

}  // namespace directories_test
}  // namespace sherd
