// A writer that stays open while others change the dataset through the array API: neither undoes the other's changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "store/forwarding.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::netcdf {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Ints = std::vector<std::int32_t>;

/// A dataset with an unlimited dimension t of 2, a variable v along it, and a variable w; with the writer that made it,
/// or with one that opened it.
class LiveWriter : public testing::TestWithParam<std::tuple<const char*, const char*, bool>> {
 protected:
  LiveWriter() { begin(true); }

  void begin(bool unlimited) {
    const auto [format, kind, reopened] = GetParam();
    directory_.emplace();
    store_ = std::string(kind) == "files" ? file_store(directory_->path()).value() : memory_store();
    writer_ = Writer::create(store_, {.format = format}).value();
    writer_->define_dimension("/", "t", 2, unlimited).value();
    writer_->define_variable("/", {.name = "v", .dimensions = {"t"}}).value();
    writer_->define_variable("/", {.name = "w", .dimensions = {"t"}}).value();
    writer_->write("v", {{0}, {2}}, Ints{1, 2}).value();
    writer_->sync().value();
    if (reopened) writer_ = Writer::open(store_).value();
  }

  sherd::Group others() { return open_group(store_, {.writable = true}).value(); }
  void others_make(const char* name) {
    sherd::CreateOptions options{.shape = {2}, .dtype = DType::int32};
    options.dimension_names = {{"t"}};
    others().create_array(name, options).value();
  }

  std::vector<std::string> variables() {
    const Dataset dataset = Dataset::open(store_).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    std::vector<std::string> names;
    for (const Variable& each : dataset.root().variables()) names.emplace_back(each.name());
    const CheckReport report = sherd::check(store_).value();
    for (const Fault& fault : report.faults) ADD_FAILURE() << fault.key << ": " << fault.message;
    return names;
  }

  std::optional<TempDir> directory_;
  std::shared_ptr<Store> store_;
  std::optional<Writer> writer_;
};
INSTANTIATE_TEST_SUITE_P(Forms, LiveWriter,
                         testing::Combine(testing::Values("zarr2", "zarr3"), testing::Values("memory", "files"),
                                          testing::Bool()));

TEST_P(LiveWriter, ThatGrowsADimensionKeepsANewArrayOfOthersListed) {
  others_make("new");
  writer_->write("v", {{2}, {1}}, Ints{3}).value();
  writer_->sync().value();
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w", "new"));
  EXPECT_EQ(Dataset::open(store_).value().root().dimension("t")->length, 3U);
}

TEST_P(LiveWriter, ThatGrowsADimensionGrowsTheArraysOfOthersThatHaveIt) {
  others().create_group("g").value();
  for (const char* name : {"new", "g/new"}) others_make(name);
  writer_->write("v", {{2}, {1}}, Ints{3}).value();
  writer_->sync().value();
  for (const char* name : {"new", "g/new"}) EXPECT_EQ(open_array(store_, {.path = name}).value().shape(), Shape{3});
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w", "new"));
}

TEST_P(LiveWriter, ThatDefinesAndSetsKeepsANewArrayOfOthersListed) {
  const auto changes = std::to_array<std::function<Result<void>(Writer&)>>({
      [](Writer& writer) { return writer.set_attribute("/", {"a", Ints{1}}); },
      [](Writer& writer) { return writer.define_dimension("/", "q", 4); },
      [](Writer& writer) { return writer.define_variable("/", {.name = "mine", .dimensions = {"t"}}); },
      [](Writer& writer) { return writer.define_group("/g"); },
  });
  for (const auto& change : changes) {
    begin(true);
    others_make("new");
    change(*writer_).value();
    writer_->sync().value();
    EXPECT_THAT(variables(), testing::IsSupersetOf({"v", "w", "new"}));
  }
}

TEST_P(LiveWriter, DoesNotListAnErasedVariableAgain) {
  others().erase("w").value();
  writer_->write("v", {{2}, {1}}, Ints{3}).value();
  writer_->set_attribute("/", {"a", Ints{1}}).value();
  writer_->sync().value();
  EXPECT_THAT(variables(), UnorderedElementsAre("v"));
  EXPECT_EQ(Dataset::open(store_).value().root().variable("v")->read().value(), Values(Ints{1, 2, 3}));
}

/// Calls something before a key is locked for the first time in which it returns true.
class Interrupted final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  std::function<bool(const std::string& key)> before_lock;

  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    auto call = taken();
    if (call && !call(key)) {
      const std::scoped_lock hold(mutex_);
      before_lock = std::move(call);
    }
    return ForwardingStore::lock(key);
  }

 private:
  std::function<bool(const std::string& key)> taken() {
    const std::scoped_lock hold(mutex_);
    return std::exchange(before_lock, {});
  }

  std::mutex mutex_;  ///< writers lock keys on several threads
};

TEST_P(LiveWriter, DoesNotListAVariableThatIsErasedBeforeItIsListed) {
  const auto interrupted = std::make_shared<Interrupted>(store_);
  writer_ = Writer::open(interrupted).value();
  writer_->define_variable("/", {.name = "new", .dimensions = {"t"}}).value();
  writer_->define_group("/g").value();
  writer_->define_variable("/", {.name = "kept", .dimensions = {"t"}}).value();
  const std::string group = store_->get(".zgroup").value() ? ".zgroup" : "zarr.json";
  interrupted->before_lock = [&](const std::string& key) {
    if (key != group || !open(store_, {.path = "kept"}) || !open(store_, {.path = "g"})) return false;
    others().erase("new").value();
    others().erase("g").value();
    return true;
  };
  writer_->sync().value();
  EXPECT_FALSE(interrupted->before_lock);
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w", "kept"));
  EXPECT_TRUE(Dataset::open(store_).value().root().groups().empty());
}

TEST_P(LiveWriter, ListsAGroupAgainThatOthersErasedAndANewVariableBringsBack) {
  writer_->define_group("/g").value();
  for (const char* name : {"a", "b"}) writer_->define_variable("/g", {.name = name, .dimensions = {"t"}}).value();
  writer_->sync().value();
  others().erase("g").value();
  writer_->define_variable("/g", {.name = "new", .dimensions = {"t"}}).value();
  writer_->sync().value();
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "w"));
  const Dataset dataset = Dataset::open(store_).value();
  ASSERT_EQ(dataset.root().groups().size(), 1U);
  ASSERT_EQ(dataset.root().groups()[0].variables().size(), 1U);
  EXPECT_EQ(dataset.root().groups()[0].variables()[0].name(), "new");
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

TEST_P(LiveWriter, ThatDefinesTheFirstUnlimitedDimensionNotesWhatOthersMadeAndNotWhatTheyErased) {
  begin(false);
  others_make("new");
  others().erase("w").value();
  writer_->define_dimension("/", "u", 0, true).value();
  writer_->sync().value();
  EXPECT_THAT(variables(), UnorderedElementsAre("v", "new"));
  EXPECT_TRUE(Dataset::open(store_).value().root().dimension("u")->unlimited);
}

TEST_P(LiveWriter, DoesNotReplaceADimensionThatOthersDefined) {
  sherd::CreateOptions options{.shape = {3}, .dtype = DType::int32};
  options.dimension_names = {{"y"}};
  others().create_array("new", options).value();
  writer_->define_dimension("/", "y", 5).value();
  EXPECT_EQ(writer_->sync().error().code(), ErrorCode::conflict);
  EXPECT_EQ(Dataset::open(store_).value().root().dimension("y")->length, 3U);
}

}  // namespace
}  // namespace sherd::netcdf
