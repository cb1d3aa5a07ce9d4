// A writer that stays open while others change the dataset: elements and attributes are written beside each other. What
// two define, or append along one dimension, is a conflict of the second, and nothing that either stored is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::netcdf {
namespace live_writer_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

using Ints = std::vector<std::int32_t>;
using Change = std::function<Result<void>(Writer&)>;

/// A dataset with an unlimited dimension t of 2, variables v and w along it, and a group g; with the writer that made
/// it, or with one that opened it.
class LiveWriter : public testing::TestWithParam<std::tuple<const char*, const char*, bool>> {
 protected:
  LiveWriter() { begin(); }

  void begin() {
    const auto [format, kind, reopened] = GetParam();
    Config quick;
    quick.durable = false;
    directory_.emplace();
    store_ = std::string(kind) == "files" ? file_store(directory_->path(), quick).value() : memory_store();
    writer_ = Writer::create(store_, {.format = format}).value();
    writer_->define_dimension("/", "t", 2, true).value();
    writer_->define_variable("/", {.name = "v", .dimensions = {"t"}}).value();
    writer_->define_variable("/", {.name = "w", .dimensions = {"t"}}).value();
    writer_->define_group("/g").value();
    writer_->write("v", {{0}, {2}}, Ints{1, 2}).value();
    writer_->sync().value();
    if (reopened) writer_ = Writer::open(store_).value();
  }

  [[nodiscard]] std::string document() const {
    return std::get<0>(GetParam()) == std::string("zarr3") ? "zarr.json" : ".zgroup";
  }

  sherd::Group others() { return open_group(store_, {.writable = true}).value(); }
  void others_make(const char* name) {
    sherd::CreateOptions options{.shape = {2}, .dtype = DType::int32};
    options.dimension_names = {{"t"}};
    others().create_array(name, options).value();
  }
  /// Another writer opens the dataset, changes it, and stores that.
  void another(const Change& change) {
    Writer writer = Writer::open(store_).value();
    change(writer).value();
    writer.sync().value();
  }

  Error conflict_of(const Change& change) {
    auto done = change(*writer_);
    if (done) done = writer_->sync();
    EXPECT_FALSE(done);
    if (done) return corrupt("");
    EXPECT_EQ(done.error().code(), ErrorCode::conflict);
    EXPECT_THAT(done.error().text(), HasSubstr("open the dataset again"));
    return done.error();
  }

  Dataset dataset() {
    Dataset found = Dataset::open(store_).value();
    EXPECT_THAT(found.warnings(), IsEmpty());
    const CheckReport report = sherd::check(store_).value();
    for (const Fault& fault : report.faults) ADD_FAILURE() << fault.key << ": " << fault.message;
    return found;
  }
  std::string text() { return text_of(dataset()); }
  std::vector<std::string> variables() {
    std::vector<std::string> names;
    for (const Variable& each : dataset().root().variables()) names.emplace_back(each.name());
    return names;
  }

  std::optional<TempDir> directory_;
  std::shared_ptr<Store> store_;
  std::optional<Writer> writer_;
};
INSTANTIATE_TEST_SUITE_P(Forms, LiveWriter,
                         testing::Combine(testing::Values("zarr2", "zarr3"), testing::Values("memory", "files"),
                                          testing::Bool()));

Result<void> grow(Writer& writer) { return writer.write("v", {{2}, {1}}, Ints{3}); }
Result<void> define_dimension(Writer& writer) { return writer.define_dimension("/", "q", 4); }
Result<void> define_variable(Writer& writer) {
  return writer.define_variable("/", {.name = "mine", .dimensions = {"t"}});
}
Result<void> define_group(Writer& writer) { return writer.define_group("/h"); }
Result<void> rename_dimension(Writer& writer) { return writer.rename_dimension("/t", "time"); }
Result<void> rename_variable(Writer& writer) { return writer.rename_variable("/w", "v2"); }

TEST_P(LiveWriter, ThatDefinesAfterAnotherGetsAConflictAndStoresNothing) {
  const auto theirs = std::to_array<Change>({
      [](Writer& writer) { return writer.define_dimension("/", "y", 3); },
      [](Writer& writer) { return writer.define_variable("/", {.name = "new", .dimensions = {"t"}}); },
      [](Writer& writer) { return writer.define_group("/new"); },
  });
  for (const Change& their : theirs)
    for (const Change& mine : std::to_array<Change>(
             {grow, define_dimension, define_variable, define_group, rename_dimension, rename_variable})) {
      begin();
      another(their);
      const std::string stored = text();
      conflict_of(mine);
      EXPECT_EQ(text(), stored);
      another(mine);
      EXPECT_NE(text(), stored);
    }
}

TEST_P(LiveWriter, ThatGetsAConflictNamesTheChangeAndTheDocument) {
  const auto expect = [&](const std::function<void()>& change, const char* phrase) {
    begin();
    change();
    EXPECT_THAT(conflict_of(define_dimension).text(),
                AllOf(HasSubstr("'" + document() + "'"), HasSubstr("another process has " + std::string(phrase))));
  };
  const auto with = [&](const Change& change) { return [this, change] { another(change); }; };
  expect(with([](Writer& writer) { return writer.define_dimension("/", "y", 3); }), "defined the dimension '/y'");
  expect(with(grow), "changed the length of the dimension '/t' from 2 to 3");
  expect(with(rename_dimension), "defined the dimension '/time'");
  expect(with(define_variable), "added '/mine'");
  expect(with(rename_variable), "added '/v2'");
  expect([&] { others_make("new"); }, "added '/new'");
  expect([&] { others().erase("w").value(); }, "removed '/w'");
}

TEST_P(LiveWriter, ThatGrowsAfterAnotherHasGrownGetsAConflictAndBothAreKept) {
  for (const bool synced : {true, false}) {
    begin();
    Writer other = Writer::open(store_).value();
    grow(other).value();
    if (synced) other.sync().value();
    for (int i = 0; i < 2; ++i) {
      const auto refused = writer_->write("w", {{2}, {1}}, Ints{9});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code(), ErrorCode::conflict) << refused.error().text();
    }
    other.sync().value();
    another([](Writer& writer) { return writer.write("v", {{3}, {1}}, Ints{4}); });
    EXPECT_EQ(dataset().root().variable("v")->read().value(), Values(Ints{1, 2, 3, 4}));
  }
}

TEST_P(LiveWriter, ThatGrowsBesideAnArrayOfOthersInAGroupBelowGetsAConflict) {
  others_make("g/new");
  EXPECT_THAT(conflict_of(grow).text(), AllOf(HasSubstr("'g/" + document() + "'"), HasSubstr("added '/g/new'")));
  another(grow);  // extends it, too
  EXPECT_EQ(open_array(store_, {.path = "v"}).value().shape(), Shape{3});
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w"));
}

TEST_P(LiveWriter, ThatOnlyWritesElementsIsNotDisturbedByDefinitions) {
  Writer other = Writer::open(store_).value();
  another(define_variable);
  writer_->write("v", {{0}, {1}}, Ints{5}).value();
  other.write("v", {{1}, {1}}, Ints{6}).value();
  writer_->write("w", {{0}, {2}}, Ints{7, 8}).value();
  for (Writer* each : {&*writer_, &other}) each->sync().value();
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w", "mine"));
  const Group root = dataset().root();
  EXPECT_EQ(root.variable("v")->read().value(), Values(Ints{5, 6}));
  EXPECT_EQ(root.variable("w")->read().value(), Values(Ints{7, 8}));
}

TEST_P(LiveWriter, ThatDefinesInAGroupThatOthersErasedGetsAConflict) {
  others().erase("g").value();
  const auto error = conflict_of([](Writer& writer) { return writer.define_variable("/g", {.name = "new"}); });
  EXPECT_THAT(error.text(), AllOf(HasSubstr("'g/" + document() + "'"), HasSubstr("removed the group '/g'")));
  EXPECT_TRUE(dataset().root().groups().empty());
}

TEST_P(LiveWriter, KeepsTheAttributesThatOthersSet) {
  others().update_attributes(Json::Object{{"theirs", 7}}).value();
  writer_->set_attribute("/", {"mine", Ints{1}}).value();
  writer_->write("v", {{2}, {1}}, Ints{3}).value();
  writer_->sync().value();
  others().update_attributes(Json::Object{{"mine", 2}}).value();
  writer_->define_dimension("/", "q", 4).value();
  writer_->sync().value();
  const Dataset dataset = Dataset::open(store_).value();
  const Group root = dataset.root();
  ASSERT_NE(root.attribute("theirs"), nullptr);
  EXPECT_EQ(*root.attribute("theirs"), Values(Ints{7}));
  EXPECT_EQ(*root.attribute("mine"), Values(Ints{2}));
}

TEST_P(LiveWriter, KeepsTheAttributesThatOthersSetForAVariable) {
  open_array(store_, {.path = "v", .writable = true}).value().update_attributes(Json::Object{{"theirs", 7}}).value();
  writer_->set_attribute("v", {"mine", Ints{1}}).value();
  writer_->sync().value();
  const Dataset dataset = Dataset::open(store_).value();
  const Variable found = *dataset.root().variable("v");
  ASSERT_NE(found.attribute("theirs"), nullptr);
  EXPECT_EQ(*found.attribute("theirs"), Values(Ints{7}));
  EXPECT_EQ(*found.attribute("mine"), Values(Ints{1}));
}

TEST_P(LiveWriter, DoesNotReplaceADimensionThatOthersDefined) {
  sherd::CreateOptions options{.shape = {3}, .dtype = DType::int32};
  options.dimension_names = {{"y"}};
  others().create_array("new", options).value();
  writer_->define_dimension("/", "y", 5).value();
  EXPECT_EQ(writer_->sync().error().code(), ErrorCode::conflict);
  EXPECT_EQ(Dataset::open(store_).value().root().dimension("y")->length, 3U);
}

}  // namespace live_writer_test
}  // namespace sherd::netcdf
