#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace generate_test {

TEST(CdlStrings, AreAsLongAsTheLongestUnlessAnAttributeSaysOtherwise) {
  const std::string longest(1000, 'a');
  EXPECT_EQ(data_of("string v(y) ;", "\"" + longest + "\", \"b\""), "\"" + longest + "\", \"b\"");
  const std::string limited = with("string v(y) ; v:_nczarr_maxstrlen = 4 ;", "v = \"größe\", \"four\" ;");
  EXPECT_EQ(Cdl::parse(limited).error().code(), ErrorCode::invalid_argument);
  const auto cdl = Cdl::parse(limited, {.long_texts = LongTexts::cut_characters}).value();
  EXPECT_EQ(cdl.warnings(), std::vector<std::string>{"/v: 1 text is longer than 4 bytes (_nczarr_maxstrlen) and cut to "
                                                     "that"});
  EXPECT_EQ(data_of("string v(y) ; v:_nczarr_maxstrlen = 3 ;", "\"größe\", \"four\"",
                    {.long_texts = LongTexts::cut_characters}),
            "\"gr\", \"fou\"");
}

TEST(CdlStrings, AreLimitedByTheRootWhereTheVariableHasNoLimit) {
  const auto text = [](const std::string& own) {
    return with("string v(y) ; " + own + " :_nczarr_default_maxstrlen = 3 ;", "v = \"größe\", \"four\" ;");
  };
  const auto refused = Cdl::parse(text(""));
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().text().find("the 3 of _nczarr_default_maxstrlen"), std::string::npos);
  const auto cut = Cdl::parse(text(""), {.long_texts = LongTexts::cut_characters}).value();
  EXPECT_EQ(cut.warnings(), std::vector<std::string>{"/v: 2 texts are longer than 3 bytes (_nczarr_default_maxstrlen) "
                                                     "and cut to that"});
  EXPECT_TRUE(Cdl::parse(text("v:_nczarr_maxstrlen = 7 ;")));
}

TEST(HostileCdl, CostsNoMoreThanItsLength) {
  // A few values in a huge variable are written where they are, and nothing else is.
  EXPECT_EQ(dataset_of("netcdf x { dimensions: x = 4000000000000, y = 5 ; variables: int v(x, y) ; data: v = 1, 2 ; }")
                .root()
                .variable("v")
                ->read(Box{{0, 0}, {1, 3}})
                .value(),
            Values(std::vector<std::int32_t>{1, 2, -2147483647}));
  EXPECT_EQ(
      dataset_of(
          "netcdf x { dimensions: x = 3, y = 4000000000000 ; variables: char v(x, y) ; data: v = \"a\", \"b\" ; }")
          .root()
          .variable("v")
          ->read(Box{{1, 0}, {1, 2}})
          .value(),
      Values(std::string("b\0", 2)));
  const std::string filled =
      "netcdf x { dimensions: x = 4000000000000 ; variables: string v(x) ; v:_FillValue = \"a\" ; }";
  EXPECT_EQ(Cdl::parse(filled).error().code(), ErrorCode::unsupported);
  std::string deep = "netcdf x {";
  for (int i = 0; i < 100000; ++i) deep += "group: g {";
  EXPECT_EQ(Cdl::parse(deep).error().code(), ErrorCode::unsupported);
  const std::string braces(100000, '{');
  EXPECT_FALSE(Cdl::parse(with("int v(t, u) ;", "v = " + braces)));
  EXPECT_FALSE(Cdl::parse(with("char v(t, u) ;", "v = " + braces)));
  std::string wide = "netcdf x { dimensions: x = 1 ; variables: int v(x";
  for (int i = 0; i < 40; ++i) wide += ", x";
  EXPECT_EQ(Cdl::parse(wide + ") ; }").error().code(), ErrorCode::unsupported);
  EXPECT_FALSE(Cdl::parse(std::string(100000, '\\')));
  EXPECT_FALSE(Cdl::parse(std::string("netcdf x { :a = \"\0\" ; \0 }", 26)));
}

TEST(GeneratedDatasets, RefuseWhatTheirFormatCannotStore) {
  const auto fault_of = [](const std::string& text, const NewDataset& options) {
    const auto done = Cdl::parse(text).value().check(options);
    return done.has_value() ? "" : done.error().text();
  };
  const std::string checksum = with("int v(x) ; v:_Fletcher32 = \"true\" ; v:_DeflateLevel = 1 ;");
  EXPECT_TRUE(fault_of(checksum, {}).starts_with("line 5, column 5: 'v' has _Fletcher32 and compression"));
  EXPECT_EQ(fault_of(checksum, {.format = "zarr3"}), "");
  const std::string texts = with("string v(x) ; v:_nczarr_maxstrlen = 2000000000 ;", "v = \"a\" ;");
  EXPECT_TRUE(fault_of(texts, {}).starts_with("line 5, column 8: all strings of a variable in Zarr v2 are as long"));
  EXPECT_EQ(fault_of(texts, {.format = "zarr3"}), "");
}

TEST(GeneratedDatasets, RefuseShardsOfWhatTheTextDoesNotHave) {
  const Cdl cdl = Cdl::parse(with("int v(x) ;")).value();
  const auto fault_of = [&](const ShardLengths& shards) {
    const auto done = cdl.check({.format = "zarr3", .shards = shards});
    return done.has_value() ? "" : done.error().text();
  };
  EXPECT_EQ(fault_of({.variables = {{"w", {4}}}}), "shards: the text has no variable 'w'");
  EXPECT_EQ(fault_of({.dimensions = {{"z", 4}}}), "shards: the text has no dimension 'z'");
  EXPECT_EQ(fault_of({.variables = {{"/v", {4}}}, .dimensions = {{"x", 4}}}), "");
}

TEST(Discarded, DatasetsLeaveNothing) {
  const auto store = memory_store();
  auto writer = Writer::create(store, {}).value();
  Cdl::parse(with("int v(x) ;", "v = 1, 2 ;\ngroup: g { variables: int w ; }")).value().write(writer).value();
  writer.discard().value();
  EXPECT_FALSE(Dataset::open(store));
  EXPECT_TRUE(store->get("v/.zarray").value() == std::nullopt);
}

TEST(WrittenCdl, IsTheSameInZarr3) {
  const std::string text = with("int v(t, x) ; string s(y) ; char c(y, x) ;",
                                "v = 1, 2, 3, 4, 5 ; s = \"one\", \"two\" ; c = \"ab\", \"c\" ;");
  EXPECT_EQ(round_trip(text, {}, "zarr3"), round_trip(text));
}

}  // namespace generate_test
}  // namespace sherd::netcdf
