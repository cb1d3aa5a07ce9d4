// Names that netCDF does not allow, or that no store can hold: refused when they are defined, and not listed.
#include "netcdf/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_copy.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace names_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kRefused[] = {"",
                                " lead",
                                "trail ",
                                "!x",
                                "-x",
                                "+x",
                                "@x",
                                ".x",
                                "%d",
                                "\\",
                                "a\x7f",
                                "a\n",
                                "a/b",
                                "a\xff",
                                "a\tb",
                                "a\x01",
                                std::string(257, 'v'),
                                std::string("a\0b", 3)};

TEST(NamesOfNetcdf, AreThoseOfNetcdfC) {
  for (const std::string& name : kRefused) EXPECT_TRUE(fault_of_name(name)) << name;
  for (const std::string& name : {std::string("x"), std::string("_x"), std::string("9x"), std::string("größe"),
                                  std::string("é"), std::string("a b"), std::string("a@b!(-)"), std::string(256, 'v')})
    EXPECT_FALSE(fault_of_name(name)) << name;
}

class Names : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, Names, testing::Values("zarr2", "zarr3"));

TEST_P(Names, ThatAreNotAllowedAreRefusedWhenDefinedAndLoseNothing) {
  for (const bool pure : {false, true}) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = GetParam(), .mode = {.pure = pure}}).value();
    writer.set_attribute("/", {"title", std::string("kept")}).value();
    writer.define_dimension("/", "x", 2).value();
    writer.define_group("/g").value();
    writer.define_variable("/g", {.name = "v", .dimensions = {"x"}}).value();
    const auto refused = [](const auto& result, const std::string& name) {
      ASSERT_FALSE(result) << name;
      EXPECT_EQ(result.error().code(), ErrorCode::invalid_argument);
      EXPECT_THAT(result.error().text(), HasSubstr("'" + shown_name(name) + "'"));
    };
    for (const std::string& name : kRefused) {
      const Attribute attribute{name, std::string("text")};
      refused(writer.define_variable("/g", {.name = name, .dimensions = {"x"}}), name);
      refused(writer.define_dimension("/", name, 3), name);
      refused(writer.set_attribute("/", attribute), name);
      refused(writer.set_attribute("/g/v", attribute), name);
      refused(writer.define_group("/h", {attribute}), name);
      refused(writer.define_variable("/", {.name = "w", .attributes = {attribute}}), name);
      refused(writer.rename_variable("/g/v", name), name);
      refused(writer.rename_group("/g", name), name);
      refused(writer.rename_dimension("x", name), name);
      refused(writer.rename_attribute("/", "title", name), name);
      if (!name.empty() && name.find('/') == name.npos) refused(writer.define_group("/" + name), name);
    }
    writer.define_variable("/", {.name = "after", .dimensions = {"x"}}).value();
    writer.sync().value();
    const Dataset dataset = Dataset::open(store, {.mode = {.pure = pure}}).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_EQ(dataset.root().attributes().size(), 1U);
    EXPECT_TRUE(dataset.root().variable("g/v"));
    EXPECT_TRUE(dataset.root().variable("after"));
  }
}

TEST_P(Names, OfDocumentsAreRefusedForVariablesAndGroups) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.format = GetParam()}).value();
  for (const std::string name : {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"}) {
    const auto variable = writer.define_variable("/", {.name = name});
    ASSERT_FALSE(variable);
    EXPECT_THAT(variable.error().text(), HasSubstr("'" + name + "'"));
    EXPECT_FALSE(writer.define_group("/" + name));
  }
  writer.define_variable("/", {.name = "info"}).value();
  writer.sync().value();
  EXPECT_TRUE(Dataset::open(store).value().root().variable("info"));
}

TEST_P(Names, ThatAreTooLongForAStoreAreRefusedAndTheLongestAreStored) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.format = GetParam()}).value();
  const std::string longest(243, 'v'), longer(256, 'w');
  writer.define_dimension("/", longer, 2).value();
  writer.define_group("/" + longest).value();
  writer
      .define_variable("/" + longest,
                       {.name = longest, .dimensions = {longer}, .attributes = {{longer, std::string("a")}}})
      .value();
  for (std::size_t size = longest.size(); size <= longer.size(); ++size) {
    const std::string name(size, 'u');
    const auto defined = writer.define_variable("/", {.name = name});
    if (defined) continue;
    EXPECT_EQ(defined.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(defined.error().text(), HasSubstr("has " + std::to_string(size) + " bytes"));
  }
  EXPECT_FALSE(writer.define_variable("/", {.name = longer}));
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_TRUE(dataset.root().variable(longest + "/" + longest));
}

TEST_P(Names, AreRefusedByCdlBeforeADatasetIsReplaced) {
  for (const std::string name : {"\\!x", "a\\ ", "\\-x"}) {
    for (const std::string& text : {"netcdf l { dimensions: q = 1 ; variables: int " + name + "(q) ; }",
                                    "netcdf l { dimensions: " + name + " = 1 ; variables: int x ; }",
                                    "netcdf l { variables: int x ; x:" + name + " = 1 ; }",
                                    "netcdf l { group: " + name + " { variables: int x ; } }"}) {
      const auto checked = Cdl::parse(text).value().check({.format = GetParam()});
      ASSERT_FALSE(checked) << text;
      EXPECT_THAT(checked.error().text(), HasSubstr("line 1, column"));
    }
  }
}

TEST_P(Names, OfOtherArraysAreNotListedAndCheckSaysWhy) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.format = GetParam()}).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  writer.sync().value();
  sherd::Group root = open_group(store, {.writable = true}).value();
  sherd::CreateOptions ints{.shape = {2}, .dtype = DType::int32};
  ints.dimension_names = {{std::optional<std::string>("trail ")}};
  root.create_array("trail ", ints).value();
  root.create_array("listed", ints).value();
  root.create_group("-g").value();
  const bool v3 = GetParam() == std::string("zarr3");
  const Json group = Json::parse(store->get(v3 ? "zarr.json" : ".zgroup").value().value()).value();
  const Json& note = v3 ? *group.find("attributes")->find("_nczarr_group") : *group.find("_nczarr_group");
  EXPECT_THAT(note.dump(), HasSubstr("\"listed\""));
  EXPECT_THAT(note.dump(), testing::Not(testing::AnyOf(HasSubstr("trail"), HasSubstr("-g"))));
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_EQ(dataset.root().variable("listed")->dimensions().front().name, "_Anonymous_Dim_2");
  EXPECT_TRUE(dataset.root().variable("trail "));
  std::vector<std::string> messages;
  const CheckReport report = sherd::check(store).value();
  for (const Fault& fault : report.faults) messages.push_back(fault.message);
  EXPECT_THAT(messages,
              ElementsAre(HasSubstr("does not allow the name '-g'"), HasSubstr("does not allow the name 'trail '")));
}

}  // namespace names_test
}  // namespace sherd::netcdf
