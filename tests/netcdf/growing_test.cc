// Datasets whose arrays are longer than the recorded length of an unlimited dimension, because a writer was killed
// before it recorded the length, or because an array was resized: netcdf-c cannot open them. The next writer makes them
// agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace growing_test {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Ints = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

Json json_at(Store& store, const std::string& key) { return Json::parse(store.get(key).value().value()).value(); }

class CutShort : public testing::TestWithParam<const char*> {
 protected:
  /// A dataset with an unlimited dimension t of 2 and variables along it.
  CutShort() { begin(); }

  void begin() {
    store_ = memory_store();
    Writer writer = Writer::create(store_, {.format = GetParam()}).value();
    writer.define_dimension("/", "t", 2, true).value();
    writer.define_variable("/", {.name = "v", .dimensions = {"t"}}).value();
    writer.define_variable("/", {.name = "w", .dimensions = {"t"}}).value();
    writer.define_group("/g").value();
    const Attribute fill{"_FillValue", Strings{"none"}};
    writer.define_variable("/g", {.name = "s", .type = Type::string, .dimensions = {"t"}, .attributes = {fill}})
        .value();
    writer.write("v", {{0}, {2}}, Ints{1, 2}).value();
    writer.sync().value();
  }

  [[nodiscard]] bool v3() const { return std::string(GetParam()) == "zarr3"; }

  /// As if it was killed before its next sync().
  void grow_without_sync() { Writer::open(store_).value().write("v", {{2}, {2}}, Ints{3, 4}).value(); }
  void resize_one() { open_array(store_, {.path = "v", .writable = true}).value().resize({4}).value(); }

  /// The length of t in every document that records it.
  std::vector<std::uint64_t> recorded() {
    const auto size = [](const Json* attributes) {
      return *attributes->find("_nczarr_group")->find("dimensions")->find("t")->find("size")->as_uint();
    };
    if (v3()) return {size(json_at(*store_, "zarr.json").find("attributes"))};
    const auto length = [](const Json* group) {
      return *group->find("_nczarr_group")->find("dims")->find("t")->as_uint();
    };
    const Json group = json_at(*store_, ".zgroup"), attributes = json_at(*store_, ".zattrs"),
               copies = json_at(*store_, ".zmetadata");
    const Json* entries = copies.find("metadata");
    return {length(&group), size(&attributes), length(entries->find(".zgroup")), size(entries->find(".zattrs"))};
  }

  std::vector<std::string> faults() {
    std::vector<std::string> messages;
    const CheckReport report = sherd::check(store_).value();
    for (const Fault& fault : report.faults) messages.push_back(fault.message);
    return messages;
  }

  void expect_length(std::uint64_t length) {
    EXPECT_THAT(recorded(), Each(length));
    const Dataset dataset = Dataset::open(store_).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_EQ(dataset.root().dimension("t")->length, length);
    for (const char* name : {"v", "w", "g/s"})
      EXPECT_EQ(open_array(store_, {.path = name}).value().shape(), Shape{length}) << name;
    EXPECT_EQ(std::get<Strings>(dataset.root().variable("g/s")->read().value()), Strings(length, "none"));
    EXPECT_THAT(faults(), IsEmpty());
  }

  std::shared_ptr<Store> store_;
};
INSTANTIATE_TEST_SUITE_P(Formats, CutShort, testing::Values("zarr2", "zarr3"));

TEST_P(CutShort, GrowthIsReportedByCheckWithBothLengths) {
  grow_without_sync();
  EXPECT_THAT(faults(), SizeIs(3));
  EXPECT_THAT(faults(), Each(testing::AllOf(HasSubstr("4 long along '/t'"), HasSubstr("recorded length is 2"),
                                            HasSubstr("edit_dataset"))));
}

TEST_P(CutShort, GrowthIsFinishedByTheNextSyncWhateverItStores) {
  const auto changes = std::to_array<std::function<Result<void>(Writer&)>>({
      [](Writer&) { return Result<void>(); },
      [](Writer& writer) { return writer.set_attribute("/", {"a", Ints{1}}); },
      [](Writer& writer) { return writer.set_attribute("g/s", {"a", Ints{1}}); },
      [](Writer& writer) { return writer.write("v", {{3}, {1}}, Ints{9}); },
      [](Writer& writer) { return writer.define_dimension("/g", "y", 3); },
  });
  for (const auto& change : changes) {
    for (const bool resized : {false, true}) {
      begin();
      resized ? resize_one() : grow_without_sync();
      Writer writer = Writer::open(store_).value();
      change(writer).value();
      writer.sync().value();
      expect_length(4);
    }
  }
}

TEST_P(CutShort, GrowthIsFinishedBeforeAShorterVariableIsWritten) {
  resize_one();
  Writer writer = Writer::open(store_).value();
  writer.write("w", {{3}, {1}}, Ints{5}).value();
  writer.sync().value();
  expect_length(4);
  EXPECT_EQ(Dataset::open(store_).value().root().variable("w")->shape(), Shape{4});
}

TEST_P(CutShort, GrowthThatLeftAVariableShorterIsFinished) {
  grow_without_sync();
  Writer::open(store_).value().sync().value();
  open_array(store_, {.path = "w", .writable = true}).value().resize({2}).value();
  EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("2 long along '/t', whose recorded length is 4")));
  Writer::open(store_).value().sync().value();
  expect_length(4);
}

TEST_P(CutShort, GrowthIsFinishedByOneOfTwoWriters) {
  resize_one();
  Writer first = Writer::open(store_).value(), second = Writer::open(store_).value();
  first.sync().value();
  EXPECT_EQ(second.sync().error().code(), ErrorCode::conflict);
  Writer::open(store_).value().sync().value();
  expect_length(4);
}

// In Zarr v2 a group has its dimensions in two documents.
class CutShortBetweenDocuments : public CutShort {};
INSTANTIATE_TEST_SUITE_P(Formats, CutShortBetweenDocuments, testing::Values("zarr2"));

TEST_P(CutShortBetweenDocuments, GrowthIsFinished) {
  for (const char* key : {".zgroup", ".zattrs"}) {
    const std::string present = *store_->get(key).value();
    Writer grown = Writer::open(store_).value();
    const std::uint64_t length = recorded().front() + 1;
    grown.write("v", {{length - 1}, {1}}, Ints{3}).value();
    grown.sync().value();
    store_->set(key, present).value();
    EXPECT_THAT(faults(),
                testing::Contains(testing::AllOf(HasSubstr("dimension 't' of length " + std::to_string(length)),
                                                 HasSubstr("dimension 't' of length " + std::to_string(length - 1)))));
    Writer writer = Writer::open(store_).value();
    writer.sync().value();
    expect_length(length);
  }
}

}  // namespace growing_test
}  // namespace sherd::netcdf
