// A scale may have chunks of several shapes, each a whole set of its own: read by the first, and not changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/precomputed.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd {
namespace several_chunk_shapes_test {

constexpr std::string_view kInfo = R"({"type": "image", "data_type": "uint8", "num_channels": 1, "scales": [
    {"key": "s", "size": [8, 8, 8], "resolution": [8, 8, 40], "chunk_sizes": [[4, 4, 4], [8, 8, 8]],
     "encoding": "raw"}]})";

const Box kAll{{0, 0, 0, 0}, {8, 8, 8, 1}};
const std::vector<std::uint8_t> kSevens(512, 7);

class ChunksOfSeveralShapes : public testing::Test {
 protected:
  ChunksOfSeveralShapes() {
    store_->set("info", kInfo).value();
    for (const char* x : {"0-4", "4-8"})
      for (const char* y : {"0-4", "4-8"})
        for (const char* z : {"0-4", "4-8"})
          store_->set(std::string("s/") + x + "_" + y + "_" + z, std::string(64, '\x07')).value();
    store_->set("s/0-8_0-8_0-8", std::string(512, '\x07')).value();
  }
  static std::vector<std::uint8_t> voxels(const std::shared_ptr<Store>& store) {
    std::vector<std::uint8_t> values(512);
    open_array(store).value().read(kAll, std::span<std::uint8_t>(values)).value();
    return values;
  }
  const std::shared_ptr<Store> store_ = memory_store();
};

TEST_F(ChunksOfSeveralShapes, AreReadInTheFirstShape) { EXPECT_EQ(voxels(store_), kSevens); }

TEST_F(ChunksOfSeveralShapes, CannotBeWrittenOrCreated) {
  const auto refused =
      open_array(store_, {.writable = true}).value().write(kAll, std::span<const std::uint8_t>(kSevens));
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().member(), "scales[0].chunk_sizes");
  const auto info = neuroglancer::VolumeInfo::parse(Json::parse(kInfo).value()).value();
  EXPECT_EQ(neuroglancer::create_precomputed(memory_store(), "", info).error().member(), "scales[0].chunk_sizes");
}

TEST_F(ChunksOfSeveralShapes, CauseAWarningAndAreNotForeign) {
  const auto faults = check(store_, {.data = true}).value().faults;
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "document_odd");
}

TEST_F(ChunksOfSeveralShapes, AreCopiedInTheFirstShape) {
  const auto to = memory_store();
  copy(store_, to).value();
  EXPECT_EQ(voxels(to), kSevens);
  const Json info = Json::parse(to->get("info").value().value()).value();
  EXPECT_EQ(info.find("scales")->elements()[0].find("chunk_sizes")->dump(), "[[4,4,4]]");
  EXPECT_TRUE(check(to, {.data = true}).value().faults.empty());
}

TEST(Volume, ProvenanceOfCloudVolumeIsNotForeign) {
  const auto store = memory_store();
  store->set("info", kInfo).value();
  store->set("provenance", "{}").value();
  const auto faults = check(store).value().faults;
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].key, "info");
}

}  // namespace several_chunk_shapes_test
}  // namespace sherd
