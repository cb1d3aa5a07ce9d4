// Datasets whose writer failed or was killed, or that have a damaged or foreign member, and are changed afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd::netcdf {
namespace interrupted_test {

using testing::HasSubstr;
using testing::Not;

std::string text_at(Store& store, const std::string& key) {
  const auto bytes = store.get(key).value().value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Interrupted, SyncLeavesNoTextUnfilled) {
  for (int changes = 0;; ++changes) {
    const auto store = std::make_shared<TestStore>(memory_store());
    Writer writer = Writer::create(store).value();
    writer.define_dimension("/", "t", 2, true).value();
    writer.define_variable("/", {.name = "n", .dimensions = {"t"}}).value();
    writer
        .define_variable("/", {.name = "c",
                               .type = Type::character,
                               .dimensions = {"t"},
                               .attributes = {{"_FillValue", std::string("*")}}})
        .value();
    store->fail_from(changes, Op::changes);
    const auto first = writer.sync();
    store->refuse = nullptr;
    if (!writer.sync()) continue;  // refused: nothing is lost silently
    const Dataset found = Dataset::open(store).value();
    ASSERT_TRUE(found.root().variable("c")) << changes;
    EXPECT_EQ(found.root().variable("c")->read().value(), Values(std::string("**"))) << changes;
    if (first) break;
  }
}

class Damaged : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] bool is_v3() const { return GetParam() == "zarr3"; }
  std::shared_ptr<Store> store_ = memory_store();
};

TEST_P(Damaged, MemberPreventsNoChangesOfTheOthers) {
  {
    Writer writer = Writer::create(store_, {.format = GetParam()}).value();
    writer.define_dimension("/", "x", 4).value();
    for (const char* name : {"v", "bad"}) writer.define_variable("/", {.name = name, .dimensions = {"x"}}).value();
    writer.sync().value();
  }
  store_->set(is_v3() ? "bad/zarr.json" : "bad/.zarray", "{").value();
  Writer writer = Writer::open(store_).value();
  writer.set_attribute("v", {"units", std::string("K")}).value();
  writer.set_attribute("/", {"title", std::string("new")}).value();
  const auto done = writer.sync();
  ASSERT_TRUE(done.has_value()) << done.error().text();
  const std::string consolidated = text_at(*store_, is_v3() ? "zarr.json" : ".zmetadata");
  EXPECT_THAT(consolidated, HasSubstr("\"units\""));
  EXPECT_THAT(consolidated, HasSubstr("\"title\""));
  EXPECT_THAT(consolidated, HasSubstr("bad"));
}

TEST_P(Damaged, ArrayThatIsNoVariableFollowsARenamedDimension) {
  {
    sherd::Group root = create_group(store_, "", {}, false, {}, GetParam()).value();
    for (const DType& type : {DType::int32, DType::complex64})
      root.create_array(type == DType::int32 ? "a" : "c",
                        {.shape = {2}, .dtype = type, .dimension_names = std::vector<std::optional<std::string>>{"y"}})
          .value();
  }
  Writer::open(store_).value().rename_dimension("/y", "yy").value();
  const Dataset found = Dataset::open(store_).value();
  EXPECT_EQ(found.root().variable("a")->dimensions().front().name, "yy");
  ASSERT_EQ(found.root().other_arrays().size(), 1U);
  EXPECT_EQ(found.root().other_arrays().front().dimension_names().front(), "yy");
}

TEST_P(Damaged, NamesOfDimensionsThatAreNoListPreventNoRename) {
  {
    sherd::Group root = create_group(store_, "", {}, false, {}, GetParam()).value();
    for (const DType& type : {DType::int32, DType::complex64})
      root.create_array(type == DType::int32 ? "a" : "c",
                        {.shape = {2}, .dtype = type, .dimension_names = std::vector<std::optional<std::string>>{"y"}})
          .value();
    open_array(store_, {.path = "c", .writable = true})
        .value()
        .set_attributes(Json::parse(R"({"_ARRAY_DIMENSIONS": {"y": "y"}})").value())
        .value();
  }
  Writer::open(store_).value().rename_dimension("/y", "yy").value();
  EXPECT_EQ(Dataset::open(store_).value().root().variable("a")->dimensions().front().name, "yy");
}

TEST_P(Damaged, RenamedAttributeIsInConsolidatedMetadataAtOnce) {
  Writer writer = Writer::create(store_, {.format = GetParam()}).value();
  writer.set_attribute("/", {"before", std::string("K")}).value();
  writer.sync().value();
  writer.rename_attribute("/", "before", "after").value();
  EXPECT_THAT(text_at(*store_, is_v3() ? "zarr.json" : ".zmetadata"), Not(HasSubstr("before")));
}

INSTANTIATE_TEST_SUITE_P(Formats, Damaged, testing::Values("zarr2", "zarr3"),
                         [](const auto& each) { return each.param; });

}  // namespace interrupted_test
}  // namespace sherd::netcdf
