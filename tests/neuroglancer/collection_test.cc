// Collections are made, replaced and described by their info.
#include "tests/neuroglancer/typed_objects_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::neuroglancer::typed_objects_testing {
namespace collection_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Collection, OfLegacyMeshesNeedsNoInfo) {
  const auto store = memory_store();
  EXPECT_EQ(Collection::open(store).error().code(), ErrorCode::not_found);
  store->set("3:0", R"({"fragments": []})").value();
  EXPECT_TRUE(std::holds_alternative<LegacyMeshInfo>(Collection::open(store).value().info()));
}

TEST(Collection, OfSegmentPropertiesIsItsInfo) {
  const auto store = memory_store();
  SegmentProperties properties;
  properties.ids = {1, 18446744073709551615U};
  properties.properties.push_back({.id = "name", .texts = {"a", "b"}});
  Collection::create(store, properties).value();
  const Collection collection = Collection::open(store, {.writable = true}).value();
  EXPECT_EQ(std::get<SegmentProperties>(collection.info()), properties);
  EXPECT_THAT(ids_of(collection), ElementsAre(1, 18446744073709551615U));
  EXPECT_EQ(collection.erase(1).error().code(), ErrorCode::invalid_argument);
}

TEST(Collection, ReplacesAnotherOnlyIfRequested) {
  const auto store = memory_store();
  Collection::create(store, skeleton_info(false), {.path = "c"}).value();
  store->set("c/17", "old").value();
  EXPECT_EQ(Collection::create(store, LegacyMeshInfo{}, {.path = "c"}).error().code(), ErrorCode::conflict);
  Collection::create(store, LegacyMeshInfo{}, {.path = "c", .overwrite = true}).value();
  EXPECT_EQ(store->get("c/17").value(), std::nullopt);
}

TEST(Collection, IsNotCreatedOverForeignFiles) {
  const auto store = memory_store();
  store->set("home/thesis/a.txt", "years").value();
  EXPECT_THAT(
      refusal(Collection::create(store, LegacyMeshInfo{}, {.path = "home", .overwrite = true}), ErrorCode::conflict),
      HasSubstr("not a collection"));
  EXPECT_EQ(store->get("home/thesis/a.txt").value(), "years");
}

TEST(Collection, WithADamagedInfoIsCorruptAndNamesTheMember) {
  const auto store = memory_store();
  store->set("info", R"({"@type": "neuroglancer_skeletons", "vertex_attributes": 7})").value();
  const Error error = Collection::open(store).error();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_EQ(error.member(), "vertex_attributes");
  EXPECT_EQ(error.key(), "info");
  AnnotationInfo outside = annotation_info(false);
  outside.spatial[1].index.key = "../../x";
  EXPECT_THAT(refusal(Collection::create(store, outside, {.path = "a"}), ErrorCode::invalid_argument),
              HasSubstr("spatial[1]"));
  AnnotationInfo large = annotation_info(true);
  large.spatial[1].grid_shape = {std::uint64_t{1} << 33U, std::uint64_t{1} << 33U};
  EXPECT_THAT(refusal(Collection::create(store, large, {.path = "a"}), ErrorCode::unsupported), HasSubstr("66 bits"));
}

}  // namespace collection_test
}  // namespace sherd::neuroglancer::typed_objects_testing
