// Two processes that create, erase or overwrite nodes at one path, or one above the other: of two documents that
// exclude each other one remains, and a node that was reported as created is below groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "sherd/sherd.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace two_creators_test {

using testing::Contains;
using testing::Not;

CreateOptions tiny(Json attributes = Json::Object{}) {
  return {.shape = {1}, .dtype = DType::uint8, .chunks = {1}, .attributes = std::move(attributes)};
}

Json attributes_of(const std::shared_ptr<Store>& store, const std::string& path) {
  return std::visit([](const auto& node) { return node.attributes(); }, open(store, {.path = path}).value());
}

/// In formats whose arrays and groups have different documents.
class ArrayAndGroup : public testing::TestWithParam<std::string> {
 protected:
  ArrayAndGroup() {
    create_group(store_, "", {}, false, {}, GetParam()).value();
    hooked_->of = Op::lock;
    hooked_->keys = [](const std::string& key) { return key.starts_with(".sherd-new-"); };
  }
  const std::shared_ptr<Store> store_ = memory_store();
  const std::shared_ptr<TestStore> hooked_ = std::make_shared<TestStore>(store_);
};
INSTANTIATE_TEST_SUITE_P(Formats, ArrayAndGroup, testing::Values("zarr2", "draft2022"),
                         [](const auto& format) { return format.param; });

TEST_P(ArrayAndGroup, AnArrayIsNotCreatedWhereAGroupWasMadeSinceItLooked) {
  hooked_->at(0, [&] { create_array(store_, "p/c", tiny()).value(); });
  const auto refused = create_array(hooked_, "p", tiny(Json::Object{{"v", 1}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(open_array(store_, {.path = "p/c"}));
  EXPECT_EQ(attributes_of(store_, "p"), Json(Json::Object{}));
}

TEST_P(ArrayAndGroup, AGroupIsNotMadeWhereAnArrayWasCreatedSinceItLooked) {
  hooked_->at(0, [&] { create_array(store_, "p", tiny(Json::Object{{"v", 1}})).value(); });
  const auto refused = create_array(hooked_, "p/c", tiny());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(open_array(store_, {.path = "p"}));
  EXPECT_EQ(attributes_of(store_, "p"), Json(Json::Object{{"v", 1}}));
  EXPECT_THAT(keys_of(*store_), Not(Contains("p/.zgroup")));
}

}  // namespace two_creators_test
}  // namespace sherd
