// Datasets that are damaged, incomplete or hostile: everything readable is read, and the rest is reported by name.
#include "tests/netcdf/damaged_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::damaged_testing {
namespace damaged_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(OneBadVariable, OfATypeThatNetcdfLacksIsLeftOut) {
  expect_only_good({{"bad/.zarray", zarray("[2]", "<c16")}}, "complex128");
  expect_only_good({{"bad/.zarray", zarray("[2]", "<f16")}}, "dtype");
  expect_only_good({{"bad/.zarray", zarray("[2]", "|O")}}, "filters");
}

TEST(OneBadVariable, OfTimesInAStepThatNetcdfHasNoUnitForIsLeftOut) {
  expect_only_good({{"bad/.zarray", zarray("[2]", "<M8[10s]")}}, "datetime64 in steps of 10s");
  expect_only_good({{"bad/.zarray", zarray("[2]", "<m8[ps]")}}, "timedelta64 in steps of 1ps");
  expect_only_good({{"bad/.zarray", zarray("[2]", "<m8")}}, "timedelta64 without a unit of time");
}

TEST(OneBadVariable, OfRawBytesIsLeftOutAndNotCutAtTheFirstZeroAsText) {
  expect_only_good({{"bad/.zarray", zarray("[2]", "|V4")}, {"bad/0", std::string("\1\0\2\0\xff\xfe\x61\x62", 8)}},
                   "r32");
  auto store = memory_store();
  const sherd::CreateOptions raw{.shape = {2}, .dtype = DType::raw(32).value()};
  create_group(store, "").value().create_array("raw", raw).value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_FALSE(dataset.root().variable("raw"));
  EXPECT_THAT(dataset.warnings(), testing::ElementsAre(HasSubstr("r32")));
}

TEST(OneBadVariable, OfATypeThatNetcdfLacksIsListedAsAnotherArray) {
  const Dataset dataset = open_texts({kGroup,
                                      {".zattrs", R"({"title": "t", "_nczarr_attr": {}})"},
                                      {"z/.zarray", zarray("[2]", "<c16")},
                                      {"z/.zattrs", R"({"unit": "m"})"},
                                      {"v/.zarray", zarray("[2]", "<i4")}})
                              .value();
  ASSERT_EQ(dataset.root().variables().size(), 1U);
  ASSERT_EQ(dataset.root().other_arrays().size(), 1U);
  const Array& array = dataset.root().other_arrays().front();
  EXPECT_EQ(array.path(), "z");
  EXPECT_EQ(array.dtype(), DType::complex128);
  EXPECT_EQ(dataset.root().stored_attributes().find("title")->text(), "t");
  EXPECT_NE(dataset.root().stored_attributes().find("_nczarr_attr"), nullptr);
}

TEST(OneBadVariable, WithADamagedDocumentIsLeftOut) {
  expect_only_good({{"bad/.zarray", "{"}}, "left out");
  expect_only_good({{"bad/.zarray", "[]"}}, "JSON object");
  expect_only_good({{"bad/.zarray", std::string(400000, '[')}}, "json_depth");
  expect_only_good({{"bad/.zarray", zarray("[2]", "<i4")}, {"bad/.zattrs", "[1]"}}, "must be an object");
  expect_only_good({{"bad/.zarray", R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": 0,
                                       "compressor": null, "filters": null})"}},
                   "order");
  expect_only_good({{"bad/.zarray", R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value":
                                       "x", "order": "C", "compressor": null, "filters": null})"}},
                   "fill_value");
}

TEST(ConsolidatedMetadata, AreNotUsedIfTheCallerSaysSo) {
  const auto store = store_of({kGroup, kGood});
  open_group(store, {.writable = true}).value().consolidate().value();
  store->set("late/.zarray", zarray("[3]", "<i4")).value();
  EXPECT_FALSE(Dataset::open(store).value().root().variable("late"));
  EXPECT_TRUE(Dataset::open(store, {.consolidated = false}).value().root().variable("late"));
}

TEST(OneBadVariable, IsUnreadIfItIsDamagedOrGoneButNotIfNetcdfLacksItsType) {
  const Dataset dataset = open_texts({{".zgroup", R"({"zarr_format": 2, "_nczarr_superblock": {}, "_nczarr_group":
                                  {"dimensions": {}, "arrays": ["good", "bad", "gone", "complex"], "groups": ["g"]}})"},
                                      kGood,
                                      {"bad/.zarray", "{"},
                                      {"complex/.zarray", zarray("[2]", "<c16")},
                                      {"g/.zgroup", R"({"zarr_format": 2})"},
                                      {"g/half/.zarray", zarray("[2]", "<f16")}})
                              .value();
  std::vector<std::pair<std::string, ErrorCode>> unread;
  for (const Unread& each : dataset.unread()) unread.emplace_back(each.path, each.error.code());
  EXPECT_THAT(unread, testing::UnorderedElementsAre(std::pair("/bad", ErrorCode::corrupt),
                                                    std::pair("/gone", ErrorCode::corrupt),
                                                    std::pair("/g/half", ErrorCode::unsupported)));
  EXPECT_EQ(dataset.root().other_arrays().size(), 1U);
}

TEST(OneBadVariable, ThatCannotBeReadIsAnErrorAndIsNotLeftOut) {
  const auto store = std::make_shared<TestStore>(
      store_of({kGroup, {"bad/.zarray", zarray("[2]", "<i4")}, {"good/.zarray", zarray("[2]", "<i4")}}));
  store->fail_at("bad/.zarray", Op::read);
  const auto dataset = Dataset::open(store);
  ASSERT_FALSE(dataset);
  EXPECT_EQ(dataset.error().code(), ErrorCode::io);
  EXPECT_EQ(dataset.error().key(), "bad/.zarray");
}

TEST(OtherTypes, AreShownAsThoseOfNetcdf) {
  const Dataset dataset = open_texts({kGroup,
                                      {"b/.zarray", zarray("[2]", "|b1")},
                                      {"b/0", std::string("\1\0", 2)},
                                      {"h/.zarray", zarray("[2]", "<f2")},
                                      {"h/0", std::string("\0\x3c\0\xc0", 4)},
                                      {"u/.zarray", zarray("[1]", "<U3")},
                                      {"u/0", std::string("\xe9\0\0\0a\0\0\0\0\0\0\0", 12)},
                                      {"t/.zarray", zarray("[1]", "<M8[D]")},
                                      {"t/0", std::string("\1\0\0\0\0\0\0\0", 8)},
                                      {"d/.zarray", zarray("[1]", ">m8[ms]")},
                                      {"d/0", std::string("\0\0\0\0\0\0\0\2", 8)}})
                              .value();
  const Group root = dataset.root();
  EXPECT_EQ(root.variable("b")->read().value(), Values(std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(root.variable("h")->read().value(), Values(std::vector<float>{1, -2}));
  EXPECT_EQ(root.variable("u")->read().value(), Values(std::vector<std::string>{"éa"}));
  EXPECT_EQ(root.variable("t")->read().value(), Values(std::vector<std::int64_t>{1}));
  EXPECT_EQ(*root.variable("t")->attribute("units"), Values("days since 1970-01-01"));
  EXPECT_EQ(root.variable("d")->read().value(), Values(std::vector<std::int64_t>{2}));
  EXPECT_EQ(*root.variable("d")->attribute("units"), Values("milliseconds"));
}

TEST(OtherTypes, OfTimesHaveNaTAsTheirFillValue) {
  const std::string nat("\0\0\0\0\0\0\0\x80", 8);
  const Dataset dataset = open_texts({kGroup,
                                      {"t/.zarray", zarray("[2]", "<M8[ns]")},
                                      {"t/0", std::string("\1\0\0\0\0\0\0\0", 8) + nat},
                                      {"d/.zarray", zarray("[2]", "<m8[D]")},
                                      {"d/.zattrs", R"({"_FillValue": 7, "units": "days of rain"})"},
                                      {"d/0", nat + nat}})
                              .value();
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  const Variable times = *dataset.root().variable("t");
  EXPECT_EQ(times.read().value(), Values(std::vector<std::int64_t>{1, kNever}));
  EXPECT_EQ(*times.attribute("_FillValue"), Values(std::vector<std::int64_t>{kNever}));
  EXPECT_THAT(text_of(dataset), HasSubstr(" t = 1, _ ;"));
  // What is stored counts more.
  const Variable durations = *dataset.root().variable("d");
  EXPECT_EQ(*durations.attribute("_FillValue"), Values(std::vector<std::int64_t>{7}));
  EXPECT_EQ(*durations.attribute("units"), Values("days of rain"));
  EXPECT_EQ(durations.attributes().size(), 2U);
}

TEST(GroupLists, ThatDisagreeWithTheStoreAreAWarning) {
  const Dataset dataset =
      open_texts(listing(R"({"dims": {}, "vars": ["gone"], "groups": ["also", "x/y", ".."]})")).value();
  EXPECT_TRUE(dataset.root().variable("good"));
  EXPECT_THAT(dataset.warnings(), Contains(HasSubstr("/gone: is listed")));
  EXPECT_THAT(dataset.warnings(), Contains(HasSubstr("/also: is listed")));
  EXPECT_THAT(dataset.warnings(), Contains(HasSubstr("/good: is not listed")));
  EXPECT_THAT(dataset.warnings(), Contains(HasSubstr("'x/y', which cannot be the name")));
}

TEST(GroupLists, OfAnotherFormAreIgnored) {
  for (const char* note : {R"({"dims": []})", R"({"vars": 7})", R"({"vars": [1]})", R"({"groups": "x"})"}) {
    const auto dataset = open_texts(listing(note));
    ASSERT_TRUE(dataset.has_value()) << note;
    EXPECT_TRUE(dataset->root().variable("good")) << note;
    EXPECT_THAT(dataset->warnings(), Contains(HasSubstr("unknown form")));
  }
  const Dataset dataset =
      open_texts(listing(R"({"dims": {"x": -1, "y": "z", "w": {"size": 1e99}}, "vars": ["good"]})")).value();
  EXPECT_TRUE(dataset.root().dimension("x") == std::nullopt);
  EXPECT_EQ(dataset.warnings().size(), 3U);
}

TEST(AttributeTypes, OfAnotherFormAreInferred) {
  const auto with = [](const std::string& types) {
    return open_texts({kGroup,
                       {".zgroup", R"({"zarr_format": 2, "_nczarr_group": {}})"},
                       {".zattrs", R"({"a": 300, "_nczarr_attr": {"types": )" + types + "}}"}})
        .value();
  };
  for (const char* types : {R"({"a": "|i1"})", R"({"a": "nonsense"})", R"({"a": 7})", "[]", "7", "null"})
    EXPECT_EQ(*with(types).root().attribute("a"), Values(std::vector<std::int32_t>{300})) << types;
  EXPECT_THAT(with(R"({"a": "|i1"})").warnings(), ElementsAre(HasSubstr("'a' does not have the type")));
}

TEST(Groups, NestedBeyondTheLimitAreLeftOut) {
  Texts texts{kGroup, kGood};
  std::string path;
  for (int i = 0; i < 200; ++i) {
    path += "g/";
    texts.emplace_back(path + ".zgroup", kGroup.second);
  }
  const auto dataset = open_texts(texts);
  ASSERT_TRUE(dataset.has_value()) << dataset.error().text();
  EXPECT_TRUE(dataset->root().variable("good"));
  EXPECT_TRUE(dataset->root().group(path.substr(0, 2 * 128)));
  EXPECT_FALSE(dataset->root().group(path.substr(0, 2 * 129)));
  EXPECT_THAT(dataset->warnings(), ElementsAre(HasSubstr("more than 128 deep")));
}

TEST(Root, WithoutANodeIsNotFoundAndWithADamagedOneIsCorrupt) {
  EXPECT_EQ(open_texts({}).error().code(), ErrorCode::not_found);
  EXPECT_EQ(open_texts({{"readme.txt", "x"}}).error().code(), ErrorCode::not_found);
  for (const Texts& texts : {Texts{{".zgroup", "{"}}, Texts{{"zarr.json", "[]"}}, Texts{kGroup, {".zattrs", "7"}}}) {
    const auto dataset = open_texts(texts);
    EXPECT_EQ(dataset.error().code(), ErrorCode::corrupt);
    EXPECT_FALSE(dataset.error().text().empty());
  }
}

TEST(Consolidated, MetadataThatAreDamagedAreIgnored) {
  const Dataset dataset = open_texts({kGroup, kGood, {".zmetadata", "{"}}).value();
  EXPECT_TRUE(dataset.root().variable("good"));
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr(".zmetadata is ignored")));
}

TEST(Format, OfAnAttributeIsNeverRunAsItIs) {
  const auto printed = [](const std::string& format) {
    return text_of(open_texts({kGroup,
                               {"v/.zarray", zarray("[1]", "<i4")},
                               {"v/0", std::string("\7\0\0\0", 4)},
                               {"v/.zattrs", R"({"C_format": ")" + format + "\"}"}})
                       .value());
  };
  EXPECT_THAT(printed("%04d"), HasSubstr(" v = 0007 ;"));
  for (const char* format : {"%n", "%s", "%d%d", "%", "%*d", "%999999d", "%.999999d", "%8.3f", "%d%n", "plain"})
    EXPECT_THAT(printed(format), HasSubstr(" v = 7 ;")) << format;
}

TEST(AttributesOfOthers, AreHiddenByName) {
  for (const char* name : {"_Netcdf4Coordinates", "_Netcdf4Dimid", "CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST",
                           "_nc3_strict", "_NCZARR_ATTR"}) {
    const Dataset dataset =
        open_texts({kGroup, {".zattrs", R"({"keep": 1, ")" + std::string(name) + R"(": 2})"}}).value();
    ASSERT_EQ(dataset.root().attributes().size(), 1U) << name;
    EXPECT_EQ(dataset.root().attributes()[0].name, "keep") << name;
  }
}

}  // namespace damaged_test
}  // namespace sherd::netcdf::damaged_testing
