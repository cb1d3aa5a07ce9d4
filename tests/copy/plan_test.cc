// The plan of a copy: which nodes and documents it will have, before anything is written.
#include "copy/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/location.hpp"
#include "sherd/sherd.hpp"

namespace sherd {
namespace plan_test {

using testing::ElementsAre;

class Plan : public testing::Test {
 protected:
  Plan() {
    create_group(from_, "", Json(Json::Object{{"a", 1}})).value();
    create_group(from_, "g").value();
    create_array(from_, "g/x", {.shape = {8, 4}, .dtype = DType::uint16, .chunks = {4, 4}}).value();
    create_array(from_, "y", {.shape = {3}, .dtype = DType::uint8, .chunks = {3}}).value();
  }
  [[nodiscard]] Result<TreePlan> plan(const CopyOptions& options = {}, const std::string& format = "") const {
    return plan_tree(new_location(from_, options.source_path, "zarr3", {}).value(),
                     new_location(to_, options.destination_path, format, {}).value(), options);
  }
  static std::vector<std::string> paths_of(const TreePlan& plan) {
    std::vector<std::string> paths;
    for (const NodeCopy& node : plan.nodes) paths.push_back(node.path);
    return paths;
  }

  const std::shared_ptr<Store> from_ = memory_store(), to_ = memory_store();
};

TEST_F(Plan, HasGroupsBeforeTheirMembers) {
  const TreePlan all = plan().value();
  EXPECT_THAT(paths_of(all), ElementsAre("", "g", "g/x", "y"));
  EXPECT_TRUE(all.warnings.empty());
  EXPECT_TRUE(all.referred.empty());
}

TEST_F(Plan, OfAPartBeginsAtItsRoot) {
  EXPECT_THAT(paths_of(plan({.source_path = "g"}).value()), ElementsAre("", "x"));
  EXPECT_THAT(paths_of(plan({.source_path = "g/x"}).value()), ElementsAre(""));
}

TEST_F(Plan, WritesNothing) {
  plan({}, "zarr2").value();
  EXPECT_TRUE(to_->list("", [](const std::string&, std::uint64_t) { return false; }).value());
}

TEST_F(Plan, HasTheDocumentsOfTheDestinationsFormat) {
  const NodeLocation destination = new_location(to_, "d", "zarr2", {}).value();
  const TreePlan all = plan({.destination_path = "d"}, "zarr2").value();
  std::vector<std::string> keys;
  for (const NodeCopy& node : all.nodes)
    for (const Document& document : documents_of(node, destination)) keys.push_back(document.key);
  EXPECT_THAT(keys, testing::IsSupersetOf({"d/.zgroup", "d/g/.zgroup", "d/g/x/.zarray", "d/y/.zarray"}));
  EXPECT_EQ(location_below(destination, "g/x").path, "d/g/x");
  EXPECT_EQ(location_below(destination, "").path, "d");
}

TEST_F(Plan, OfAMissingSourceNamesIt) {
  const CopyOptions missing{.source_path = "gone"};
  for (const CopyOptions& options : {missing, CopyOptions{.source_path = "gone", .select = "0"},
                                     CopyOptions{.source_path = "gone", .pyramid = Pyramid{}}}) {
    const Error error = plan(options).error();
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(error.text().find("gone"), std::string::npos) << error.text();
  }
}

TEST_F(Plan, LeavesOutAMemberThatWasErasedMeanwhile) {
  from_->erase("g/x/zarr.json").value();
  EXPECT_THAT(paths_of(plan().value()), ElementsAre("", "g", "y"));
}

}  // namespace plan_test
}  // namespace sherd
