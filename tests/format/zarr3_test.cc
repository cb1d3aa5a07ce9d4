// The documents of Zarr v3: which bytes are one, what a group has, the names of nodes, and consolidated metadata.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/registry.hpp"
#include "node/format.hpp"
#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"
#include "tests/format/zarr3_testing.hpp"

namespace sherd {
namespace zarr3_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Zarr3Documents, BytesThatAreNotAJsonObjectAreCorrupt) {
  const std::string texts[] = {"",
                               "\xef\xbb\xbf",
                               "\xef\xbb\xbf{}",
                               "{\"a\": \"\xff\"}",
                               R"({"a": "\ud800"})",
                               "[]",
                               "3",
                               R"({"shape": [1], "shape": [1]})",
                               R"({"shape": [1], "sh\u0061pe": [1]})",
                               std::string(good_array) + " x",
                               R"({"a": NaN})",
                               R"({"a": Infinity})",
                               "{"};
  for (const std::string& text : texts) {
    const auto node = open_text(text);
    ASSERT_FALSE(node) << text;
    EXPECT_EQ(node.error().code(), ErrorCode::corrupt) << text << ": " << node.error().text();
    EXPECT_EQ(node.error().key(), "a/zarr.json") << text;
  }
}

TEST(Zarr3Documents, NumbersThatJsonLacksAreReadInAttributesAndStay) {
  const std::string attributes = R"({"a": NaN, "b": [Infinity, "-Infinity", -Infinity], "c\"NaN": "x"})";
  auto store = memory_store();
  store->set("zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": )" + attributes + "}").value();
  std::string array_text = changed(R"({"attributes": "@"})");
  array_text.replace(array_text.find("\"@\""), 3, attributes);
  store->set("a/zarr.json", array_text).value();
  Group group = open_group(store, {.writable = true}).value();
  EXPECT_EQ(group.members().value().size(), 1U);
  EXPECT_EQ(group.attributes().dump(), R"({"a":"NaN","b":["Infinity","-Infinity","-Infinity"],"c\"NaN":"x"})");
  group.update_attributes(Json::Object{{"d", 1}}).value();
  group.consolidate().value();
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  array.update_attributes(Json::Object{{"d", 1}}).value();
  array.resize({3, 3}).value();
  for (const std::string key : {"zarr.json", "a/zarr.json"}) {
    const std::string text = *store->get(key).value();
    EXPECT_NE(text.find(R"("a": NaN)"), text.npos) << text;
    EXPECT_NE(text.find(R"("-Infinity")"), text.npos) << text;
  }
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 2U) << "of the group, and of the array";
  EXPECT_EQ(report.faults[0].code, "document_odd");
  EXPECT_EQ(report.faults[1].code, "document_odd");
}

TEST(Zarr3Documents, LimitsAreNamedInTheError) {
  const auto expect_limit = [](const std::string& text, const Config& config, std::string_view limit) {
    const auto node = open_text(text, config);
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code(), ErrorCode::unsupported) << node.error().text();
    EXPECT_NE(node.error().message().find(limit), std::string::npos) << node.error().text();
    EXPECT_EQ(node.error().key(), "a/zarr.json");
  };
  Config small;
  small.limits.metadata_bytes = 100;
  expect_limit(std::string(good_array), small, "metadata_bytes");
  expect_limit(std::string(1000000, '['), {}, "json_depth");
  small = {};
  small.limits.json_values = 20;
  expect_limit(std::string(good_array), small, "json_values = 20");
  const Shape many(100000, 1);
  Json document = parsed(good_array);
  document.set("shape", Json::numbers(many));
  expect_limit(document.dump(), {}, "dimensions");
}

struct GroupRow {
  std::string_view text;
  std::optional<ErrorCode> code;
  std::string_view member;
};

TEST(Zarr3Documents, GroupsHoldAttributesAndConsolidatedMetadataOnly) {
  const GroupRow rows[] = {
      {R"({"zarr_format": 3, "node_type": "group"})", {}, ""},
      {R"({"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}})", {}, ""},
      {R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": null})", {}, ""},
      {R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "elsewhere", "must_understand": true}})",
       {},
       ""},
      {R"({"zarr_format": 3, "node_type": "group", "extra": {"must_understand": false}})", {}, ""},
      {R"({"zarr_format": 3, "node_type": "group", "extra": {}})", ErrorCode::unsupported, "extra"},
      {R"({"zarr_format": 3, "node_type": "group", "shape": [1]})", ErrorCode::unsupported, "shape"},
      {R"({"zarr_format": 3, "node_type": "group", "attributes": 1})", ErrorCode::corrupt, "attributes"},
      {R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": []})", ErrorCode::corrupt,
       "consolidated_metadata"},
      {R"({"zarr_format": 3, "node_type": "array"})", ErrorCode::corrupt, "shape"},
  };
  for (const GroupRow& row : rows) {
    const auto node = open_text(row.text);
    ASSERT_EQ(node.has_value(), !row.code.has_value()) << row.text;
    if (node) {
      EXPECT_TRUE(std::holds_alternative<Group>(*node)) << row.text;
    } else {
      EXPECT_EQ(node.error().code(), *row.code) << node.error().text();
      EXPECT_EQ(node.error().member(), row.member) << node.error().text();
    }
  }
}

const Format& zarr3() { return *find_format("zarr3"); }
const Consolidation& consolidation() { return *capability<Consolidation>(zarr3()); }

TEST(Zarr3Documents, OfADraftBelongToAnotherFormat) {
  const auto store = memory_store();
  store->set("zarr.json", changed(R"({"zarr_format": "https://purl.org/zarr/spec/core/3.0"})")).value();
  EXPECT_FALSE(zarr3().open(*store, "", {}).value());
  store->set("zarr.json", changed(R"({"zarr_format": "3"})")).value();
  EXPECT_EQ(zarr3().open(*store, "", {}).error().code(), ErrorCode::corrupt);
}

TEST(Zarr3Documents, NameMembersThatReadersMayIgnore) {
  const Json document = parsed(changed(R"({"x": {"must_understand": false}, "y": {"must_understand": true},
    "consolidated_metadata": {"must_understand": false}, "z": {"must_understand": 0}})"));
  EXPECT_THAT(zarr3().ignored_members(document), ElementsAre("x"));
}

TEST(Zarr3Names, OfNodesAreThoseThatTheSpecificationAllows) {
  for (const std::string_view name : {"a", "c", ".a", "a.b", "...a", "_", "_a", "ü", "zarr", "a b"})
    EXPECT_TRUE(zarr3().check_name(name)) << name;
  const std::pair<std::string_view, std::string_view> rows[] = {{"", "cannot be empty"},
                                                                {"a/b", "contains '/'"},
                                                                {{"a\0b", 3}, "NUL byte"},
                                                                {".", "dots only"},
                                                                {"...", "dots only"},
                                                                {"__a", "begin with '__'"},
                                                                {"zarr.json", "metadata documents"},
                                                                {"a\xff", "not valid UTF-8"}};
  for (const auto& [name, reason] : rows) {
    const auto checked = zarr3().check_name(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(checked.error().text(), HasSubstr(reason));
  }
}

TEST(Zarr3Entries, AreTakenOutOfAGroupAsTheyWerePutIn) {
  const Json group = zarr3().group_document(parsed(R"({"k": 1})")).value(), array = parsed(good_array);
  Json nested = group;
  nested.set("consolidated_metadata", parsed(R"({"kind": "inline", "metadata": {}})"));
  Json with = consolidation().with_entries(group, {{"b", nested}, {"b/a", array}}).value();
  EXPECT_EQ(with.find("consolidated_metadata")->find("must_understand")->dump(), "false");
  EXPECT_EQ(with.find("consolidated_metadata")->find("kind")->text(), "inline");
  EXPECT_TRUE(zarr3().lower(with, {}));
  const auto entries = consolidation().take_entries(with);
  ASSERT_TRUE(entries);
  EXPECT_THAT(*entries, ElementsAre(Pair("b", group), Pair("b/a", array))) << "a copy has no entries of its own";
  EXPECT_EQ(with, group);
}

TEST(Zarr3Entries, AreSortedAndThoseAtImpossiblePathsAreLeftOut) {
  Json group = zarr3().group_document({}).value();
  group.set(
      "consolidated_metadata",
      parsed(R"({"kind": "inline", "metadata": {"b": {}, "a": {}, "": {}, "a//b": {}, "../a": {}, "a/__x": {}}})"));
  EXPECT_THAT(*consolidation().take_entries(group), ElementsAre(Pair("a", testing::_), Pair("b", testing::_)));
}

TEST(Zarr3Entries, OfAnotherKindStayInTheGroup) {
  for (const char* other : {R"(null)", R"({})", R"({"kind": "elsewhere", "metadata": {}})",
                            R"({"kind": "inline", "metadata": []})", R"({"kind": 1, "metadata": {}})"}) {
    Json group = zarr3().group_document({}).value();
    group.set("consolidated_metadata", parsed(other));
    const Json before = group;
    EXPECT_FALSE(consolidation().take_entries(group)) << other;
    EXPECT_EQ(group, before);
  }
}

}  // namespace zarr3_test
}  // namespace sherd
