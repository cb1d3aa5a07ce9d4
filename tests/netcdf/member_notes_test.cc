// Nodes of a dataset that are created, copied and erased as Zarr arrays and groups: NCZarr's metadata are updated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace member_notes_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json json_at(Store& store, const std::string& key) { return Json::parse(store.get(key).value().value()).value(); }

/// A dataset with a dimension x of 4, a variable and a group.
std::shared_ptr<Store> written(const std::string& format, bool unlimited = false, bool consolidated = true) {
  auto store = memory_store();
  Writer writer = Writer::create(store, {.format = format, .consolidated = consolidated}).value();
  writer.define_dimension("/", "x", 4).value();
  if (unlimited) writer.define_dimension("/", "t", 1, true).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  writer.define_group("/g").value();
  writer.sync().value();
  return store;
}

sherd::CreateOptions ints(Shape shape, std::vector<std::optional<std::string>> names = {}) {
  sherd::CreateOptions options{.shape = std::move(shape), .dtype = DType::int32};
  if (!names.empty()) options.dimension_names = std::move(names);
  return options;
}

std::vector<std::string> names(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> all;
  for (const Dimension& each : dimensions) all.push_back(each.full_name());
  return all;
}

std::vector<std::string> faults(const std::shared_ptr<Store>& store) {
  std::vector<std::string> messages;
  const CheckReport report = sherd::check(store).value();
  for (const Fault& fault : report.faults) messages.push_back(fault.key + ": " + fault.message);
  return messages;
}

class Member : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, Member, testing::Values("zarr2", "zarr3"));

TEST_P(Member, MadeAsAnArrayIsAVariableWithTheDimensionsAround) {
  for (const bool unlimited : {false, true}) {
    const auto store = written(GetParam(), unlimited);
    sherd::Group root = open_group(store, {.writable = true}).value();
    root.create_array("g/made", ints({4, 3}, {"x", "y"})).value();
    root.create_array("g/unnamed", ints({3, 4})).value();
    root.create_array("a/b/deep", ints({5}, {"x"})).value();
    const Dataset dataset = Dataset::open(store).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_THAT(names(dataset.root().variable("g/made")->dimensions()), ElementsAre("/x", "/g/y"));
    EXPECT_THAT(names(dataset.root().variable("g/unnamed")->dimensions()),
                ElementsAre("/g/_Anonymous_Dim_3", "/g/_Anonymous_Dim_4"));
    EXPECT_THAT(names(dataset.root().variable("a/b/deep")->dimensions()), ElementsAre("/a/b/x"));
    EXPECT_THAT(faults(store), IsEmpty());
  }
}

TEST_P(Member, ThatIsErasedIsNoLongerListed) {
  const auto store = written(GetParam());
  sherd::Group root = open_group(store, {.writable = true}).value();
  root.create_array("g/made", ints({4}, {"x"})).value();
  root.erase("v").value();
  root.erase("g").value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_TRUE(dataset.root().variables().empty());
  EXPECT_TRUE(dataset.root().groups().empty());
  EXPECT_EQ(dataset.root().dimension("x")->length, 4U);
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, ThatIsReplacedByAnotherKindOfNodeIsListedAsThatKind) {
  const auto store = written(GetParam());
  sherd::Group root = open_group(store, {.writable = true}).value();
  sherd::CreateOptions options = ints({4}, {"x"});
  options.overwrite = true;
  root.create_array("g", options).value();
  root.create_group("v", {}, true).value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_TRUE(dataset.root().variable("g"));
  EXPECT_TRUE(dataset.root().group("v"));
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, WithAttributesHasTheirTypes) {
  const auto store = written(GetParam());
  sherd::Group root = open_group(store, {.writable = true}).value();
  sherd::CreateOptions options = ints({4}, {"x"});
  options.attributes =
      Json::parse(R"({"units": "K", "scale": 0.5, "count": 7, "list": [1, 2], "any": {"a": 1}})").value();
  root.create_array("made", options).value();
  const Dataset dataset = Dataset::open(store).value();
  const Variable made = *dataset.root().variable("made");
  EXPECT_EQ(*made.attribute("units"), Values("K"));
  EXPECT_EQ(*made.attribute("count"), Values(std::vector<std::int32_t>{7}));
  EXPECT_EQ(*made.attribute("list"), Values(std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(*made.attribute("any"), Values(R"({"a": 1})"));
  const bool is_v3 = std::string(GetParam()) == "zarr3";
  const Json document = json_at(*store, is_v3 ? "made/zarr.json" : "made/.zattrs");
  const Json* notes = is_v3 ? document.find("attributes") : &document;
  EXPECT_EQ(notes->find("_nczarr_attr")->find("types")->find("scale")->text(), "<f8");
}

TEST_P(Member, IsWrittenThroughTheHandleThatMadeIt) {
  const auto store = written(GetParam());
  Array made = open_group(store, {.writable = true}).value().create_array("g/made", ints({4}, {"x"})).value();
  std::vector<std::int32_t> values{1, 2, 3, 4};
  made.write(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_EQ(made.attributes(), open_array(store, {.path = "g/made"}).value().attributes());
  EXPECT_NE(made.attributes().find("_nczarr_attr"), nullptr);
  made.update_attributes(Json::parse(R"({"units": "K"})").value()).value();
  const Variable variable = *Dataset::open(store).value().root().variable("g/made");
  EXPECT_EQ(variable.read().value(), Values(values));
  EXPECT_EQ(*variable.attribute("units"), Values("K"));
  EXPECT_THAT(names(variable.dimensions()), ElementsAre("/x"));
}

TEST_P(Member, CopiedFromAnotherDatasetRefersToDimensionsOfThisOne) {
  const auto from = memory_store();
  Writer writer = Writer::create(from, {.format = GetParam()}).value();
  writer.define_dimension("/", "t", 2).value();
  writer.define_dimension("/", "x", 4).value();
  writer.define_group("/h").value();
  writer.define_dimension("/h", "own", 3).value();
  writer.define_variable("/h", {.name = "w", .dimensions = {"t", "x", "own"}}).value();
  writer.define_variable("/h", {.name = "scalar", .type = Type::float64}).value();
  writer.write("/h/scalar", {}, std::vector<double>{1.5}).value();
  writer.sync().value();
  const auto store = written(GetParam());
  sherd::copy(from, store, {.source_path = "h", .destination_path = "g/h"}).value();
  sherd::copy(from, store, {.source_path = "h/w", .destination_path = "w"}).value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_THAT(names(dataset.root().variable("g/h/w")->dimensions()), ElementsAre("/g/h/t", "/x", "/g/h/own"));
  EXPECT_THAT(names(dataset.root().variable("w")->dimensions()), ElementsAre("/t", "/x", "/own"));
  EXPECT_EQ(dataset.root().variable("g/h/scalar")->read().value(), Values(std::vector<double>{1.5}));
  EXPECT_TRUE(dataset.root().variable("g/h/scalar")->dimensions().empty());
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, ThatIsMovedIsListedAtItsNewPath) {
  const auto store = written(GetParam(), true);
  sherd::Group root = open_group(store, {.writable = true}).value();
  root.create_array("g/made", ints({3, 4}, {"y", "x"})).value();
  root.move("v", "renamed").value();
  root.move("g", "a/h").value();
  root.move("a/h/made", "made").value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_THAT(names(dataset.root().variable("renamed")->dimensions()), ElementsAre("/x"));
  EXPECT_THAT(names(dataset.root().variable("made")->dimensions()), ElementsAre("/y", "/x"));
  EXPECT_TRUE(dataset.root().group("a/h"));
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, OfAGroupThatIsMovedRefersToDimensionsOfThatGroup) {
  const auto store = written(GetParam());
  sherd::Group root = open_group(store, {.writable = true}).value();
  root.create_array("g/made", ints({3, 4}, {"y", "x"})).value();
  root.move("g", "h").value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_THAT(names(dataset.root().variable("h/made")->dimensions()), ElementsAre("/h/y", "/x"));
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, WhoseCopyIsFinishedIsNotCopiedAgain) {
  const auto from = memory_store();
  create_group(from, "", {}, false, {}, GetParam()).value();
  sherd::Group outer = open_group(from, {.writable = true}).value();
  outer.create_group("plain").value();
  Array array = outer.create_array("plain/a", ints({3, 4}, {"y", "x"})).value();
  array.fill(Box{{0, 0}, {3, 4}}, std::vector<std::byte>(4, std::byte{7})).value();
  open_group(from, {.path = "plain", .writable = true}).value().consolidate().value();
  const auto store = written(GetParam(), true);
  for (const char* path : {"plain", "plain/a"}) {
    CopyOptions options{.source_path = path, .destination_path = path};
    sherd::copy(from, store, options).value();
    const Dataset before = Dataset::open(store).value();
    options.resume = true;
    EXPECT_EQ(sherd::copy(from, store, options).value().shards_skipped, 1U) << path;
    EXPECT_EQ(text_of(Dataset::open(store).value()), text_of(before)) << path;
    EXPECT_THAT(faults(store), IsEmpty()) << path;
    sherd::erase(store, {.path = path}).value();
  }
}

TEST_P(Member, MadeByManyAtATimeIsNeverLeftOut) {
  const auto store = written(GetParam(), false, false);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      sherd::Group root = open_group(store, {.writable = true}).value();
      for (int n = 0; n < 5; ++n) {
        const std::string name = "a" + std::to_string(i) + "_" + std::to_string(n);
        root.create_array(name, ints({4}, {"x"})).value();
        if (n == 2) root.erase(name).value();
      }
    });
  for (std::thread& each : threads) each.join();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_EQ(dataset.root().variables().size(), 1U + 8 * 4);
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST(MemberOfZarr2, ThatNetcdfCannotOpenIsNotListed) {
  const auto store = written("zarr2");
  sherd::Group root = open_group(store, {.writable = true}).value();
  root.create_array("complex", {.shape = {4}, .dtype = DType::complex128}).value();
  root.create_array("half", {.shape = {4}, .dtype = DType::float16}).value();
  root.create_array("point", {.shape = {}, .dtype = DType::int32}).value();
  root.create_array("long_chunk", {.shape = {4}, .dtype = DType::int32, .chunks = {5}}).value();
  const Json note = *json_at(*store, ".zgroup").find("_nczarr_group");
  EXPECT_EQ(note.find("vars")->dump(), R"(["v"])");
  EXPECT_EQ(json_at(*store, "half/.zarray").find("_nczarr_array"), nullptr);
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST(MemberOfZarr2, HasTheNotesOfTheGenerationOfItsGroup) {
  const auto store = store_of({
      {".zgroup", R"({"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"},
                      "_NCZARR_GROUP": {"dims": {"x": 4}, "vars": [], "groups": []}})"},
      {".zattrs", "{}"},
  });
  open_group(store, {.writable = true}).value().create_array("v", ints({4}, {"x"})).value();
  EXPECT_EQ(json_at(*store, "v/.zarray").find("_NCZARR_ARRAY")->find("dimrefs")->dump(), R"(["/x"])");
  EXPECT_NE(json_at(*store, "v/.zattrs").find("_NCZARR_ATTR"), nullptr);
  EXPECT_EQ(json_at(*store, ".zgroup").find("_NCZARR_GROUP")->find("vars")->dump(), R"(["v"])");
  EXPECT_EQ(Dataset::open(store).value().generation(), Generation::v2a);
}

TEST(MemberOfZarr2, IsInTheConsolidatedMetadataOfItsGroup) {
  const auto store = written("zarr2");
  sherd::Group root = open_group(store, {.writable = true}).value();
  root.create_array("made", ints({4}, {"x"})).value();
  root.erase("g").value();
  const Json entries = *json_at(*store, ".zmetadata").find("metadata");
  EXPECT_EQ(entries.find(".zgroup")->find("_nczarr_group")->find("vars")->dump(), R"(["v","made"])");
  EXPECT_EQ(entries.find(".zgroup")->find("_nczarr_group")->find("groups")->dump(), "[]");
  EXPECT_NE(entries.find("made/.zarray"), nullptr);
}

TEST(MemberOfPureZarr, NeedsNoNotes) {
  const auto store = memory_store();
  create_group(store, "", {}, false, {}, "zarr2").value().create_array("v", ints({4}, {"x"})).value();
  EXPECT_EQ(store->get("v/.zarray").value().value().find("_nczarr"), std::string::npos);
}

TEST(MemberLists, ThatDisagreeWithTheStoreAreReportedByCheck) {
  const auto store = written("zarr2", false, false);
  Json group = json_at(*store, ".zgroup");
  group.find("_nczarr_group")->set("vars", Json::Array{"gone"});
  group.find("_nczarr_group")->set("groups", Json::Array{"v"});
  store->set(".zgroup", group.dump()).value();
  const auto found = faults(store);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found, testing::Contains(HasSubstr("'gone', which does not exist")));
  EXPECT_THAT(found, testing::Contains(HasSubstr("leaves out 'g'")));
  EXPECT_THAT(found, testing::Contains(HasSubstr("has 'v' with another type")));
  const CheckReport report = sherd::check(store).value();
  for (const Fault& each : report.faults) {
    const bool is_gone = each.message.find("does not exist") != std::string::npos;
    EXPECT_EQ(each.severity, is_gone ? Fault::Severity::error : Fault::Severity::warning) << each.message;
  }
}

TEST(MemberLists, ThatDifferBetweenDocumentsAreReportedByCheck) {
  const auto store = written("zarr2", true, false);
  EXPECT_THAT(faults(store), IsEmpty());
  Json group = json_at(*store, ".zgroup");
  group.find("_nczarr_group")->set("vars", Json::Array{"v", "gone"});
  group.find("_nczarr_group")->set("groups", Json::Array{});
  group.find("_nczarr_group")->find("dims")->set("x", 5);
  store->set(".zgroup", group.dump()).value();
  EXPECT_THAT(
      faults(store),
      ElementsAre(HasSubstr(".zgroup has the dimension 'x' of length 5, .zattrs has the dimension 'x' of length 4"),
                  HasSubstr(".zgroup has no group 'g', .zattrs has the group 'g'"),
                  HasSubstr(".zgroup has the variable 'gone', .zattrs has no variable 'gone'")));
}

TEST(MemberLists, ThatAreStaleInConsolidatedMetadataAreReportedByCheck) {
  const auto store = written("zarr2");
  Json copies = json_at(*store, ".zmetadata");
  Json& group = *copies.find("metadata")->find(".zgroup")->find("_nczarr_group");
  group.set("groups", Json::Array{});
  store->set(".zmetadata", copies.dump()).value();
  EXPECT_THAT(faults(store), ElementsAre(testing::AllOf(HasSubstr(".zmetadata"), HasSubstr("consolidate again"))));
  open_group(store, {.writable = true}).value().consolidate().value();
  EXPECT_THAT(faults(store), IsEmpty());
}

TEST_P(Member, ThatIsNotAsLongAsItsDimensionsIsReportedByCheck) {
  const auto store = written(GetParam(), true);
  {
    Writer writer = Writer::open(store).value();
    writer.define_variable("/g", {.name = "w", .dimensions = {"t", "x"}}).value();
    writer.define_variable("/", {.name = "s"}).value();
    writer.sync().value();
  }
  EXPECT_THAT(faults(store), IsEmpty());
  Array array = open_array(store, {.path = "g/w", .writable = true}).value();
  array.resize({3, 4}).value();
  EXPECT_THAT(faults(store), ElementsAre(HasSubstr("3 long along '/t', whose recorded length is 1")));
  array.resize({1, 5}).value();
  EXPECT_THAT(faults(store),
              ElementsAre(testing::AllOf(HasSubstr("g/w/"), HasSubstr("5 long along '/x', whose length is 4"))));
  array.resize({0, 4}).value();
  EXPECT_THAT(faults(store), ElementsAre(HasSubstr("0 long along '/t', whose recorded length is 1")));
  EXPECT_EQ(sherd::check(store).value().faults.front().code, "member_metadata");
}

/// As netcdf-c 4.8.0 writes it.
std::shared_ptr<Store> first_generation() {
  return store_of({{".nczarr", R"({"zarr_format": 2, "nczarr_version": "1.0.0"})"},
                   {".zgroup", R"({"zarr_format": 2})"},
                   {".nczgroup", R"({"dims": {"x": 2}, "vars": ["v"], "groups": ["g"]})"},
                   {".zattrs", R"({"title": "root"})"},
                   {".nczattr", R"({"types": {"title": "2"}})"},
                   {"v/.zarray", zarray("[2]", "<i4")},
                   {"v/.nczvar", R"({"dimrefs": ["/x"], "storage": "chunked"})"},
                   {"v/.nczarray", R"({"dimrefs": ["/x"], "storage": "chunked"})"},
                   {"v/.nczattrs", R"({"types": {}})"},
                   {"g/.zgroup", R"({"zarr_format": 2})"},
                   {"g/.nczgroup", R"({"dims": {}, "vars": [], "groups": []})"}});
}

TEST(DocumentsOfTheFirstGeneration, AreNotForeignObjects) {
  const auto store = first_generation();
  EXPECT_THAT(faults(store), IsEmpty());
  store->set("g/readme.txt", "x").value();
  EXPECT_THAT(faults(store), ElementsAre(HasSubstr("neither a document nor a chunk")));
}

TEST(DocumentsOfTheFirstGeneration, AreNotPartOfACopyWhichSaysSo) {
  const auto copied = [](const std::shared_ptr<Store>& store, const CopyOptions& options) {
    return sherd::copy(store, memory_store(), options).value().warnings;
  };
  const auto store = first_generation();
  const auto says = [](const std::string& key) {
    return ElementsAre(AllOf(HasSubstr("NCZarr, such as " + key), HasSubstr("sherd nccopy")));
  };
  EXPECT_THAT(copied(store, {}), says(".nczgroup"));
  EXPECT_THAT(copied(store, {.format = "zarr3"}), says(".nczgroup"));
  EXPECT_THAT(copied(store, {.source_path = "g"}), says("g/.nczgroup"));
  EXPECT_THAT(copied(store, {.source_path = "v"}), says("v/.nczarray"));
  const auto around = memory_store();
  sherd::create_group(around, "", {}, false, {}, "zarr2").value();
  sherd::copy(store, around, {.destination_path = "a"}).value();
  around->set("a/.nczgroup", *store->get(".nczgroup").value()).value();
  EXPECT_THAT(copied(around, {}), says("a/.nczgroup"));
  around->erase("a/.nczgroup").value();
  EXPECT_THAT(copied(around, {}), IsEmpty());
}

TEST(DocumentsOfTheFirstGeneration, AreReplacedAndErasedWithTheirNodes) {
  const auto store = first_generation();
  sherd::erase(store, {.path = "v"}).value();
  EXPECT_FALSE(store->get("v/.nczvar").value());
  sherd::create_group(store, "", {}, true, {}, "zarr2").value();
  EXPECT_FALSE(store->get(".nczarr").value());
  EXPECT_FALSE(store->get("g/.nczgroup").value());
}

}  // namespace member_notes_test
}  // namespace sherd::netcdf
