// Hierarchies in a store that cannot list: consolidated metadata replaces lists, and chunks are asked for by
// key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/unlisted.hpp"

namespace sherd {
namespace unlisted_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// g with the array x and the group h, which has the array y, in each format with consolidated metadata.
class Unlisted : public testing::TestWithParam<const char*> {
 protected:
  Unlisted() {
    create_group(memory_, "", {}, false, {}, GetParam()).value();
    create("g/x");
    create("g/h/y");
  }
  void create(const std::string& path) {
    std::vector<std::uint8_t> values(64);
    std::iota(values.begin(), values.end(), std::uint8_t{1});
    const Array array = create_array(memory_, path, {.shape = {8, 8}, .dtype = DType::uint8, .chunks = {2, 4}}).value();
    array.write(Box{{0, 0}, {8, 4}}, std::span<const std::uint8_t>(values).first(32)).value();
  }
  void consolidate(const std::string& path = "") { writable(memory_, path).consolidate().value(); }
  std::vector<std::uint8_t> elements(const Array& array) {
    std::vector<std::uint8_t> values(64);
    array.read(Box{{0, 0}, {8, 8}}, std::span(values)).value();
    return values;
  }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<Store> store_ = unlisted(memory_);
};
INSTANTIATE_TEST_SUITE_P(Formats, Unlisted, testing::Values("zarr3", "zarr2"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Unlisted, GroupsHaveTheMembersOfTheConsolidatedMetadata) {
  consolidate();
  const Group root = open_group(store_).value();
  EXPECT_THAT(root.members().value(), ElementsAre(Pair("g", NodeType::group)));
  const Group group = std::get<Group>(root.open("g").value());
  EXPECT_THAT(group.members().value(), ElementsAre(Pair("h", NodeType::group), Pair("x", NodeType::array)));
  const Group inner = std::get<Group>(group.open("h").value());
  EXPECT_THAT(inner.members().value(), ElementsAre(Pair("y", NodeType::array)));
  const Array listed = open_array(memory_, {.path = "g/h/y"}).value();
  EXPECT_EQ(elements(std::get<Array>(inner.open("y").value())), elements(listed));
}

TEST_P(Unlisted, NodesAreOpenedFromTheConsolidatedMetadata) {
  consolidate();
  auto recorder = std::make_shared<Recorder>();
  const Group root = open_group(store_, {.config = {.recorder = recorder}}).value();
  recorder->start();
  const Group group = std::get<Group>(root.open("g").value());
  const Array array = std::get<Array>(root.open("g/x").value());
  EXPECT_EQ(array.shape(), (Shape{8, 8}));
  std::vector<std::string> opened;
  group
      .open_all(std::vector<std::string>{"x", "h"},
                [&](std::size_t, Result<Node> node) -> Result<void> {
                  opened.emplace_back(std::holds_alternative<Array>(node.value()) ? "array" : "group");
                  return {};
                })
      .value();
  EXPECT_THAT(opened, ElementsAre("array", "group"));
  EXPECT_TRUE(recorder->stop().empty()) << "its document was read already";
}

TEST_P(Unlisted, NoNodeIsCreated) {
  const CreateOptions options{.shape = {1}, .dtype = DType::uint8};
  EXPECT_EQ(create_group(store_, "g/new").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(create_array(store_, "g/new", options).error().code(), ErrorCode::unsupported);
  EXPECT_FALSE(open(memory_, {.path = "g/new"}));
}

TEST_P(Unlisted, AGroupIsDescribedByItsParent) {
  consolidate();
  EXPECT_THAT(open_group(store_, {.path = "g"}).value().members().value(),
              ElementsAre(Pair("h", NodeType::group), Pair("x", NodeType::array)));
  EXPECT_THAT(open_group(prefixed_store(store_, "g/h/")).value().members().value(),
              ElementsAre(Pair("y", NodeType::array)))
      << "also above the root of its store";
}

TEST_P(Unlisted, WithoutConsolidatedMetadataThereIsNoListButNodesCanBeOpened) {
  const Group root = open_group(store_).value();
  const auto members = root.members();
  ASSERT_FALSE(members);
  EXPECT_EQ(members.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(members.error().message(), HasSubstr("cannot list its objects"));
  EXPECT_THAT(members.error().message(), HasSubstr("open members by their paths"));
  EXPECT_TRUE(root.open("g/h/y"));
}

TEST_P(Unlisted, ACopyAsksForEachChunk) {
  consolidate();
  for (const auto& store : {store_, denying_lists(memory_)}) {
    const auto copied = memory_store();
    sherd::copy(store, copied, {}).value();
    EXPECT_EQ(elements(open_array(copied, {.path = "g/x"}).value()),
              elements(open_array(memory_, {.path = "g/x"}).value()));
    EXPECT_TRUE(check(copied, {.data = true}).value().faults.empty());
    EXPECT_EQ(open_array(copied, {.path = "g/h/y"}).value().stored().value().objects, 4U);
    EXPECT_EQ(open_array(store, {.path = "g/h/y"}).value().stored().value().objects, 4U);
    EXPECT_EQ(open_array(store, {.path = "g/h/y"}).value().nchunks_initialized().value(), 4U);
  }
}

// Some writers of Zarr v2 nest directories and do not record that in `.zarray`.
TEST(UnlistedZarr2, ChunksOfAMemberAreFoundIfItsSeparatorIsMissing) {
  const auto memory = memory_store();
  create_group(memory, "", {}, false, {}, "zarr2").value();
  const Array made = create_array(memory, "x", {.shape = {4, 4}, .dtype = DType::uint8, .chunks = {2, 2}}).value();
  std::vector<std::uint8_t> values(16);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  made.write(Box{{0, 0}, {4, 4}}, std::span<const std::uint8_t>(values)).value();
  ASSERT_TRUE(memory->get("x/0/0").value());
  Json document = Json::parse(memory->get("x/.zarray").value().value()).value();
  document.erase("dimension_separator");
  memory->set("x/.zarray", document.dump()).value();
  open_group(memory, {.writable = true}).value().consolidate().value();
  for (const auto& store : {unlisted(memory), denying_lists(memory)}) {
    std::vector<std::uint8_t> read(16);
    const Array array = std::get<Array>(open_group(store).value().open("x").value());
    array.read(Box{{0, 0}, {4, 4}}, std::span(read)).value();
    EXPECT_EQ(read, values);
  }
}

TEST_P(Unlisted, ACheckSaysThatItNeedsAList) {
  const auto report = check(store_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(report.error().message(), HasSubstr("check a copy"));
}

TEST_P(Unlisted, AnArrayThatShrinksLosesItsChunks) {
  Array array = open_array(store_, {.path = "g/x", .writable = true}).value();
  array.resize({4, 8}).value();
  array.resize({8, 8}).value();
  std::vector<std::uint8_t> values(32);
  array.read(Box{{4, 0}, {4, 8}}, std::span(values)).value();
  EXPECT_THAT(values, testing::Each(0));
  EXPECT_EQ(array.stored().value().objects, 2U);
}

TEST_P(Unlisted, ErasingANodeIsRefusedAndChangesNothing) {
  Group group = open_group(store_, {.path = "g", .writable = true}).value();
  const auto erased = group.erase("x");
  ASSERT_FALSE(erased);
  EXPECT_EQ(erased.error().code(), ErrorCode::unsupported);
  EXPECT_TRUE(group.contains("x").value());
}

}  // namespace unlisted_test
}  // namespace sherd
