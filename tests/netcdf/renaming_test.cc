// Renaming what a dataset has, in all of its documents, and what readers find if the writer is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::netcdf {
namespace renaming_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Ints = std::vector<std::int32_t>;

/// Variables in three groups use the dimension `x`; one of them has its name.
void write_dataset(const std::shared_ptr<Store>& store, const NewDataset& options, bool unlimited) {
  Writer writer = Writer::create(store, options).value();
  writer.define_dimension("/", "x", 3, unlimited).value();
  writer.define_dimension("/", "z", 2).value();
  writer.define_variable("/", {.name = "x", .dimensions = {"x"}}).value();
  writer.define_variable("/", {.name = "a", .dimensions = {"x", "z", "x"}}).value();
  writer.define_variable("/", {.name = "other", .dimensions = {"z"}, .attributes = {{"units", std::string("x")}}})
      .value();
  writer.define_group("/g").value();
  writer.define_dimension("/g", "y", 2).value();
  writer.define_variable("/g", {.name = "w", .dimensions = {"y"}}).value();
  writer.define_variable("/g", {.name = "b", .dimensions = {"/x", "y"}}).value();
  writer.define_group("/g/h").value();
  writer.define_variable("/g/h", {.name = "c", .dimensions = {"/x"}}).value();
  writer.write("x", {{0}, {3}}, Ints{1, 2, 3}).value();
  writer.write("/g/b", {{0, 0}, {3, 2}}, Ints{1, 2, 3, 4, 5, 6}).value();
  writer.write("/g/w", {{0}, {2}}, Ints{7, 8}).value();
  writer.sync().value();
}

std::vector<std::string> names_of(const Dataset& dataset, const char* variable) {
  std::vector<std::string> names;
  for (const Dimension& each : dataset.root().variable(variable)->dimensions()) names.push_back(each.full_name());
  return names;
}

std::vector<std::string> variables_in(const Group& group) {
  std::vector<std::string> names;
  for (const Variable& each : group.variables()) names.push_back(each.name());
  return names;
}

std::string all_documents(Store& store) {
  std::vector<std::string> keys;
  (void)store.list("", [&](const std::string& key, std::uint64_t) {
    if (key.ends_with("zarr.json") || key.find(".z") != key.npos) keys.push_back(key);
    return true;
  });
  std::ranges::sort(keys);
  std::string text;
  for (const std::string& key : keys) text += key + ": " + store.get(key).value().value() + "\n";
  return text;
}

class Renamed : public testing::TestWithParam<std::tuple<const char*, bool, bool>> {
 protected:
  std::shared_ptr<Store> written() const {
    auto store = memory_store();
    const auto [format, pure, unlimited] = GetParam();
    write_dataset(store, {.format = format, .mode = {.pure = pure}}, unlimited);
    return store;
  }
};

TEST_P(Renamed, DimensionHasItsNewNameInEveryDocument) {
  const auto store = written();
  Writer writer = Writer::open(store).value();
  writer.rename_dimension("x", "lon").value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_EQ(names_of(dataset, "a"), (std::vector<std::string>{"/lon", "/z", "/lon"}));
  EXPECT_EQ(names_of(dataset, "x"), std::vector<std::string>{"/lon"});
  EXPECT_EQ(names_of(dataset, "g/b").front(), "/lon");
  EXPECT_EQ(dataset.root().variable("g/b")->read().value(), Values(Ints{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(dataset.root().dimension("x"));
  const std::string text = all_documents(*store);
  EXPECT_THAT(text, Not(HasSubstr("\"/x\"")));
  EXPECT_THAT(text, HasSubstr(R"("units")"));
}

TEST_P(Renamed, DimensionIsWrittenUnderItsNewName) {
  const auto store = written();
  const bool grows = std::get<2>(GetParam()) && !std::get<1>(GetParam());
  Writer writer = Writer::open(store).value();
  writer.write("x", {{0}, {1}}, Ints{9}).value();
  writer.rename_dimension("/x", "lon").value();
  writer.define_variable("/", {.name = "late", .dimensions = {"lon"}}).value();
  if (grows) writer.write("x", {{3}, {1}}, Ints{4}).value();
  writer.write("x", {{1}, {1}}, Ints{9}).value();
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_EQ(dataset.root().variable("x")->read().value(), Values(grows ? Ints{9, 9, 3, 4} : Ints{9, 9, 3}));
  EXPECT_EQ(names_of(dataset, "late"), std::vector<std::string>{"/lon"});
}

TEST_P(Renamed, DimensionIsOneOfTwoAfterAKill) {
  const auto [format, pure, unlimited] = GetParam();
  bool finished = false;
  std::string faults;
  for (int commits = 0; !finished; ++commits) {
    ASSERT_LT(commits, 100);
    const auto store = written();
    const auto failing = std::make_shared<TestStore>(store);
    Writer killed = Writer::open(failing).value();
    failing->fail_from(commits);
    finished = killed.rename_dimension("x", "lon").has_value();
    Writer again = Writer::open(store).value();
    for (const Dataset& left : {Dataset::open(store).value(), *again.opened()}) {  // consolidated, and not
      EXPECT_THAT(left.warnings(), IsEmpty()) << commits;
      for (const char* name : {"a", "x", "g/b", "g/h/c"}) {
        std::string found = names_of(left, name).front();
        if (std::get<1>(GetParam())) found = found.substr(found.rfind('/'));  // a group below can have its own
        EXPECT_THAT(found, testing::AnyOf("/x", "/lon")) << name << " after " << commits;
      }
      EXPECT_EQ(left.root().variable("g/b")->read().value(), Values(Ints{1, 2, 3, 4, 5, 6}));
    }
    const CheckReport report = sherd::check(store).value();
    for (const Fault& each : report.faults) faults += each.code + " " + each.message + "\n";
    const auto repeated = again.rename_dimension("x", "lon");
    if (!repeated) {
      EXPECT_THAT(repeated.error().code(), testing::AnyOf(ErrorCode::conflict, ErrorCode::not_found)) << commits;
    }
    EXPECT_THAT(Dataset::open(store).value().warnings(), IsEmpty()) << commits;
  }
  if (pure || !unlimited || std::string(format) == "zarr3") return;
  EXPECT_THAT(faults, HasSubstr("member_list NCZarr's metadata differ: .zgroup has no dimension 'lon'"));
  EXPECT_THAT(faults, HasSubstr(R"(member_metadata NCZarr's metadata differ: the dimensions are ["/x"] and ["/lon"])"));
}

TEST_P(Renamed, VariableIsMovedAndKeepsItsPositionAndItsElements) {
  const auto store = written();
  Writer writer = Writer::open(store).value();
  writer.rename_variable("x", "longitude").value();
  writer.rename_variable("/g/w", "v").value();
  writer.write("longitude", {{0}, {1}}, Ints{5}).value();
  writer.set_attribute("/g/v", {"units", std::string("m")}).value();
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  if (!std::get<1>(GetParam())) {
    EXPECT_EQ(variables_in(dataset.root()), (std::vector<std::string>{"longitude", "a", "other"}));
    EXPECT_EQ(variables_in(*dataset.root().group("g")), (std::vector<std::string>{"v", "b"}));
  }
  EXPECT_EQ(dataset.root().variable("longitude")->read().value(), Values(Ints{5, 2, 3}));
  EXPECT_EQ(names_of(dataset, "longitude"), std::vector<std::string>{"/x"});
  EXPECT_EQ(dataset.root().variable("g/v")->read().value(), Values(Ints{7, 8}));
  EXPECT_FALSE(dataset.root().variable("x"));
}

TEST_P(Renamed, GroupKeepsItsDimensionsAndTheOrderOfItsMembers) {
  const auto store = written();
  Writer writer = Writer::open(store).value();
  writer.rename_group("/g", "group").value();
  writer.write("/group/w", {{0}, {1}}, Ints{6}).value();
  writer.define_variable("/group", {.name = "late", .dimensions = {"y", "x"}}).value();
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_FALSE(dataset.root().group("g"));
  EXPECT_EQ(dataset.root().variable("group/w")->read().value(), Values(Ints{6, 8}));
  EXPECT_EQ(dataset.root().variable("group/b")->read().value(), Values(Ints{1, 2, 3, 4, 5, 6}));
  if (std::get<1>(GetParam())) return;
  EXPECT_EQ(names_of(dataset, "group/b"), (std::vector<std::string>{"/x", "/group/y"}));
  EXPECT_EQ(names_of(dataset, "group/late"), (std::vector<std::string>{"/group/y", "/x"}));
  EXPECT_EQ(variables_in(*dataset.root().group("group")), (std::vector<std::string>{"w", "b", "late"}));
}

TEST_P(Renamed, AttributeKeepsItsPositionAndItsType) {
  const auto store = written();
  Writer writer = Writer::open(store).value();
  writer.set_attribute("other", {"bytes", std::vector<std::int8_t>{1, 2}}).value();
  writer.set_attribute("/", {"old", std::vector<std::int16_t>{3}}).value();
  writer.rename_attribute("other", "units", "unit").value();
  writer.rename_attribute("/", "old", "new").value();
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  const auto variable = dataset.root().variable("other");
  EXPECT_EQ(variable->attributes().front(), (Attribute{"unit", std::string("x")}));
  EXPECT_FALSE(variable->attribute("units"));
  const bool typed = !std::get<1>(GetParam());
  EXPECT_EQ(size_of(*dataset.root().attribute("new")), 1U);
  if (typed) {
    EXPECT_EQ(type_of(*dataset.root().attribute("new")), Type::int16);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Renamed,
                         testing::Combine(testing::Values("zarr2", "zarr3"), testing::Bool(), testing::Bool()));

TEST(Renaming, OfWhatIsNotThereOrToWhatIsThereIsRefused) {
  const auto store = memory_store();
  write_dataset(store, {}, false);
  const std::string before = all_documents(*store);
  Writer writer = Writer::open(store).value();
  EXPECT_EQ(writer.rename_dimension("q", "r").error().code(), ErrorCode::not_found);
  EXPECT_EQ(writer.rename_dimension("y", "r").error().code(), ErrorCode::not_found) << "it is one of /g";
  EXPECT_EQ(writer.rename_dimension("x", "z").error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.rename_dimension("x", "x").error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.rename_dimension("x", "a/b").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(writer.rename_variable("a", "g").error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.rename_variable("q", "r").error().code(), ErrorCode::not_found);
  EXPECT_EQ(writer.rename_group("/", "r").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(writer.rename_group("/g", "a").error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.rename_attribute("other", "q", "r").error().code(), ErrorCode::not_found);
  EXPECT_EQ(writer.rename_attribute("other", "units", "_FillValue").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(writer.rename_attribute("other", "units", "_ARRAY_DIMENSIONS").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(all_documents(*store), before);
}

TEST(Renaming, OfADimensionThatPureZarrCannotNameIsRefused) {
  const auto store = memory_store();
  const NewDataset pure = {.format = "zarr2", .mode = {.pure = true}};
  Writer writer = Writer::create(store, pure).value();
  writer.define_dimension("/", "x", 3).value();
  writer.define_dimension("/", "below", 4).value();
  writer.define_variable("/", {.name = "a", .dimensions = {"x"}}).value();
  writer.define_group("/g").value();
  writer.define_dimension("/g", "y", 2).value();
  writer.define_variable("/g", {.name = "b", .dimensions = {"x", "y"}}).value();
  writer.define_variable("/g", {.name = "c", .dimensions = {"below"}}).value();
  writer.sync().value();
  const std::string before = all_documents(*store);
  EXPECT_EQ(writer.rename_dimension("x", "y").error().code(), ErrorCode::conflict) << "/g/b would have it twice";
  EXPECT_EQ(writer.rename_dimension("/g/y", "x").error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.rename_dimension("below", "z").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(all_documents(*store), before);
  Writer again = Writer::open(store).value();
  again.rename_dimension("/g/below", "x_of_g").value();
  EXPECT_EQ(names_of(Dataset::open(store).value(), "g/c").front(), "/g/x_of_g");
}

TEST(Renaming, OfWhatIsNotYetStoredStoresIt) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  writer.rename_dimension("x", "y").value();
  writer.rename_variable("v", "w").value();
  EXPECT_EQ(names_of(Dataset::open(store).value(), "w"), std::vector<std::string>{"/y"});
}

}  // namespace renaming_test
}  // namespace sherd::netcdf
