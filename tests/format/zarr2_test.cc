// Nodes of Zarr v2 and their documents: made, found, edited, erased, and the leftovers of killed and racing creators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/unlisted.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace zarr2_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class V2Store : public testing::TestWithParam<bool> {
  TempDir directory_;

 protected:
  std::shared_ptr<Store> store_ = GetParam() ? file_store(directory_.path()).value() : memory_store();
};
INSTANTIATE_TEST_SUITE_P(Stores, V2Store, testing::Bool(),
                         [](const auto& param) { return param.param ? "file" : "memory"; });

TEST_P(V2Store, WritesTheDocumentsOfZarrPython) {
  CreateOptions options = new_array();
  options.codecs.reset();
  options.attributes = parsed(R"({"unit": "m"})");
  options.dimension_names = {{"y", "x"}};
  const Array array = create_array(store_, "g/a", options).value();
  EXPECT_EQ(array.format(), "zarr2");
  EXPECT_THAT(keys_of(*store_), testing::UnorderedElementsAre(".zattrs", ".zgroup", "g/.zattrs", "g/.zgroup",
                                                              "g/a/.zarray", "g/a/.zattrs"));
  EXPECT_EQ(text_at(*store_, ".zgroup"), "{\n    \"zarr_format\": 2\n}");
  EXPECT_EQ(text_at(*store_, ".zattrs"), "{}");
  EXPECT_EQ(parsed(text_at(*store_, "g/a/.zarray")).dump(),
            R"({"chunks":[2,2],"compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0},)"
            R"("dimension_separator":"/","dtype":"<i4","fill_value":0,"filters":null,"order":"C","shape":[7,5],)"
            R"("zarr_format":2})");
  EXPECT_EQ(parsed(text_at(*store_, "g/a/.zattrs")).dump(), R"({"unit":"m","_ARRAY_DIMENSIONS":["y","x"]})");
  EXPECT_EQ(array.metadata().find(".zattrs")->size(), 2U);
}

TEST_P(V2Store, IsDetectedListedAndExtendedWithoutNamingItsFormat) {
  create_array(store_, "g/a", new_array()).value();
  store_->set("broken/.zarray", "{").value();
  EXPECT_EQ(open_group(store_).value().format(), "zarr2");
  EXPECT_THAT(open_group(store_).value().members().value(),
              ElementsAre(Pair("broken", NodeType::unknown), Pair("g", NodeType::group)));
  CreateOptions options = new_array();
  options.format.clear();
  EXPECT_EQ(create_array(store_, "g/b", options).value().format(), "zarr2");
  EXPECT_THAT(open_group(store_, {.path = "g"}).value().members().value(),
              ElementsAre(Pair("a", NodeType::array), Pair("b", NodeType::array)));
  options.format = "zarr3";
  EXPECT_EQ(code_of(create_array(store_, "c", options)), ErrorCode::conflict);
}

TEST_P(V2Store, IsWrittenResizedAndAppendedTo) {
  Array array = create_array(store_, "a", new_array()).value();
  write(array, counted(35));
  array.resize({9, 5}).value();
  array.resize({7, 5}).value();
  EXPECT_EQ(elements(array), counted(35));
  const std::vector<std::int32_t> more(5, -7);
  array.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(more.data()), DType::int32, {1, 5})).value();
  EXPECT_EQ(open_a(store_).value().shape(), (Shape{8, 5}));
  EXPECT_EQ(elements(open_a(store_).value()).back(), -7);
  EXPECT_TRUE(check(store_, {.data = true}).value().faults.empty());
}

TEST_P(V2Store, KeepsEveryEditOfTwoHandles) {
  Array one = create_array(store_, "a", new_array()).value();
  Array other = open_a(store_, true).value();
  one.update_attributes(parsed(R"({"one": 1})")).value();
  other.resize({9, 5}).value();
  other.update_attributes(parsed(R"({"other": 2})")).value();
  one.update_attributes(parsed(R"({"third": 3})")).value();
  EXPECT_EQ(open_a(store_).value().attributes().dump(), R"({"one":1,"other":2,"third":3})");
  EXPECT_EQ(open_a(store_).value().shape(), (Shape{9, 5}));
}

TEST_P(V2Store, GetsAttributesWhereNoneWereStored) {
  store_->set("a/.zarray", kArray).value();
  Array array = open_a(store_, true).value();
  EXPECT_EQ(array.attributes(), Json(Json::Object{}));
  array.update_attributes(parsed(R"({"x": 1})")).value();
  EXPECT_EQ(parsed(text_at(*store_, "a/.zattrs")).dump(), R"({"x":1})");
  EXPECT_EQ(text_at(*store_, "a/.zarray"), kArray);
}

TEST_P(V2Store, IsCreatedWhereAKilledCreatorLeftAttributes) {
  for (const bool overwrite : {false, true}) {
    store_->set(".zattrs", R"({"left": 1})").value();
    store_->set("g/.zattrs", R"({"left": 1})").value();
    store_->set("g/a/.zattrs", R"({"left": 1})").value();
    CreateOptions options = new_array();
    options.attributes = parsed(R"({"mine": 2})");
    options.overwrite = overwrite;
    EXPECT_EQ(create_array(store_, "g/a", options).value().attributes().dump(), R"({"mine":2})");
    EXPECT_EQ(open_array(store_, {.path = "g/a"}).value().attributes().dump(), R"({"mine":2})");
    EXPECT_EQ(open_group(store_, {.path = "g"}).value().attributes(), Json(Json::Object{}));
    EXPECT_EQ(open_group(store_).value().attributes(), Json(Json::Object{}));
    store_->erase_prefix("").value();
  }
}

TEST_P(V2Store, HasOneNodeAfterManyConcurrentCreations) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = "g" + std::to_string(round) + "/a";
    std::atomic<int> made = -1, count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        CreateOptions options = new_array();
        options.attributes = Json(Json::Object{{"by", i}});
        const auto array = create_array(store_, path, options);
        if (array) {
          made = i;
          ++count;
        } else {
          EXPECT_EQ(code_of(array), ErrorCode::conflict) << array.error().text();
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(open_array(store_, {.path = path}).value().attributes().find("by")->as_int(), made.load());
  }
}

TEST(V2Creators, WithoutLocksDoNotMixTheirAttributes) {
  for (int round = 0; round < 200; ++round) {
    const auto store = std::make_shared<LocklessStore>(memory_store(), true);
    if (round % 2 == 1) store->set("a/.zattrs", R"({"left": 1})").value();
    std::atomic<int> made = -1, count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        CreateOptions options = new_array();
        options.attributes = Json(Json::Object{{"by", i}});
        options.overwrite = false;
        if (!create_array(store, "a", options)) return;
        made = i;
        ++count;
      });
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(count, 1) << round;
    const Json attributes = open_array(store, {.path = "a"}).value().attributes();
    ASSERT_EQ(attributes, Json(Json::Object{{"by", made.load()}})) << round;
  }
}

TEST(V2Creators, ThatComeSecondRestoreTheAttributesOfTheFirst) {
  for (const char* at : {".zattrs", ".zarray"}) {
    const auto shared = memory_store();
    const auto create = [](const std::shared_ptr<Store>& store, int by) {
      CreateOptions options = new_array();
      options.attributes = Json(Json::Object{{"by", by}});
      return create_array(store, "a", options);
    };
    const auto first = [&] { create(shared, 1).value(); };
    const auto second = std::make_shared<TestStore>(shared);
    second->has.locks = false;
    second->of = Op::lock | Op::write;
    second->keys = [&](const std::string& key) { return key.ends_with(at); };
    second->before = [&, is_first = true](const Asked& asked) mutable {
      if (asked.op == Op::write && std::exchange(is_first, false)) first();
    };
    EXPECT_EQ(code_of(create(second, 2)), ErrorCode::conflict) << at;
    EXPECT_EQ(open_a(shared).value().attributes().dump(), R"({"by":1})") << at;
  }
}

TEST_P(V2Store, ShowsAttributesThatAnotherHandleChangedAfterAWrite) {
  for (const char* format : {"zarr2", "zarr3"}) {
    const auto store = std::string_view(format) == "zarr2" ? store_ : memory_store();
    CreateOptions options = new_array();
    options.format = format;
    Array one = create_array(store, "a", options).value();
    Array other = open_a(store, true).value();
    other.update_attributes(parsed(R"({"x": 1})")).value();
    EXPECT_EQ(one.attributes(), Json(Json::Object{})) << format;
    write(one, counted(35));
    EXPECT_EQ(one.attributes().dump(), R"({"x":1})") << format;
  }
}

TEST_P(V2Store, HasEveryDocumentCountedByCheck) {
  create_array(store_, "g/a", new_array()).value();
  EXPECT_EQ(check(store_).value().documents, 6U);
  open_group(store_, {.writable = true}).value().consolidate().value();
  EXPECT_EQ(check(store_).value().documents, 7U);
  store_->set("g/a/.zattrs", "{").value();
  EXPECT_EQ(check(store_).value().documents, 6U) << "of a node that cannot be read, the damaged one";
}

TEST_P(V2Store, IsErasedAndOverwrittenWithAllItsDocuments) {
  write(create_array(store_, "g/a", new_array()).value(), counted(35));
  Group root = open_group(store_, {.writable = true}).value();
  root.consolidate().value();
  CreateOptions options = new_array();
  options.overwrite = true;
  EXPECT_EQ(elements(create_array(store_, "g/a", options).value()), std::vector<std::int32_t>(35, 0));
  root.erase("g").value();
  EXPECT_THAT(keys_of(*store_), testing::UnorderedElementsAre(".zattrs", ".zgroup", ".zmetadata"));
  EXPECT_EQ(parsed(text_at(*store_, ".zmetadata")).find("metadata")->size(), 2U);
}

TEST_P(V2Store, ErasesAnArrayWhoseCodecsItDoesNotKnow) {
  for (const char* filters : {R"([{"id": "pickle"}])", R"([{"id": "of_no_package"}])"}) {
    create_group(store_, "", {}, true, {}, "zarr2").value();
    Json document = parsed(kArray);
    document.set("filters", parsed(filters));
    store_->set("a/.zarray", document.dump()).value();
    for (const char* chunk : {"a/0.0", "a/1.2"}) store_->set(chunk, "x").value();
    store_->set("a/notes.txt", "x").value();
    EXPECT_EQ(code_of(erase(store_, {.path = "a"})), ErrorCode::conflict) << "a foreign object";
    store_->erase("a/notes.txt").value();
    erase(store_, {.path = "a"}).value();
    EXPECT_THAT(keys_of(*store_), testing::UnorderedElementsAre(".zattrs", ".zgroup"));
  }
}

TEST_P(V2Store, LeavesOtherFilesAlone) {
  create_array(store_, "a", new_array()).value();
  store_->set("a/notes.txt", "x").value();
  CreateOptions options = new_array();
  options.overwrite = true;
  EXPECT_EQ(code_of(create_array(store_, "a", options)), ErrorCode::conflict);
  EXPECT_TRUE(open_a(store_).has_value());
}

TEST_P(V2Store, MayBeReplacedByZarr3AndTheOtherWayRound) {
  write(create_array(store_, "", new_array()).value(), counted(35));
  CreateOptions options = new_array();
  options.overwrite = true;
  options.format = "";
  EXPECT_EQ(create_array(store_, "", options).value().format(), "zarr2");
  store_->erase_prefix("").value();
  write(create_array(store_, "", {.shape = {7, 5}, .dtype = DType::int32, .chunks = {2, 2}}).value(), counted(35));
  EXPECT_EQ(open_array(store_).value().format(), "zarr3");
}

TEST_P(V2Store, HasConsolidatedMetadataThatFollowEveryEdit) {
  create_array(store_, "g/a", new_array()).value();
  Group root = open_group(store_, {.writable = true}).value();
  root.consolidate().value();
  const auto listed = [&] { return parsed(text_at(*store_, ".zmetadata")); };
  EXPECT_EQ(listed().find("zarr_consolidated_format")->as_int(), 1);
  std::vector<std::string> keys;
  const Json first = listed();
  for (const auto& [key, document] : first.find("metadata")->members()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre(".zattrs", ".zgroup", "g/.zattrs", "g/.zgroup", "g/a/.zarray", "g/a/.zattrs"));

  Array array = open_array(store_, {.path = "g/a", .writable = true}).value();
  array.resize({9, 5}).value();
  array.update_attributes(parsed(R"({"x": 1.50})")).value();
  root.update_attributes(parsed(R"({"title": "t"})")).value();
  open_group(store_, {.path = "g", .writable = true}).value().update_attributes(parsed(R"({"y": 2})")).value();
  create_group(store_, "h").value();
  const Json metadata = *listed().find("metadata");
  EXPECT_EQ(metadata.find("g/a/.zarray")->find("shape")->dump(), "[9,5]");
  EXPECT_EQ(metadata.find("g/a/.zattrs")->dump(), R"({"x":1.50})");
  EXPECT_EQ(metadata.find(".zattrs")->dump(), R"({"title":"t"})");
  EXPECT_EQ(metadata.find("g/.zattrs")->dump(), R"({"y":2})");
  EXPECT_NE(metadata.find("h/.zgroup"), nullptr);
  EXPECT_TRUE(check(store_).value().faults.empty());
  root.erase("g").value();
  EXPECT_EQ(listed().find("metadata")->size(), 4U);
}

TEST(V2Consolidated, ThatIsDamagedHidesNothingAndIsRenewedOnRequest) {
  for (const char* damaged : {"", "{", "[]", "null", "{}", R"({"metadata": []})", R"({"metadata": 5})",
                              R"({"zarr_consolidated_format": 2, "metadata": {}})"}) {
    const auto store = hierarchy();
    store->set(".zmetadata", damaged).value();
    Group group = open_group(store, {.writable = true}).value();
    EXPECT_EQ(group.members().value().size(), 1U) << damaged;
    open_a(store, true).value().resize({9, 5}).value();
    group.update_attributes(parsed(R"({"x": 1})")).value();
    EXPECT_EQ(text_at(*store, ".zmetadata"), damaged) << "only consolidate() replaces it";
    const CheckReport report = check(store).value();
    ASSERT_EQ(report.faults.size(), 1U) << damaged;
    EXPECT_EQ(report.faults[0].code + " " + report.faults[0].key, "document_corrupt .zmetadata");
    EXPECT_THAT(report.faults[0].message, HasSubstr("consolidate again"));
    group.consolidate().value();
    EXPECT_TRUE(check(store).value().faults.empty()) << damaged;
    const Json now = parsed(text_at(*store, ".zmetadata"));
    EXPECT_EQ(now.find("zarr_consolidated_format")->as_int(), 1);
    EXPECT_EQ(now.find("metadata")->find("a/.zarray")->find("shape")->dump(), "[9,5]");
  }
}

TEST(V2Consolidated, ThatIsDamagedIsAnErrorWhereTheStoreCannotList) {
  const auto store = hierarchy();
  store->set(".zmetadata", "{").value();
  const auto group = open_group(unlisted(store));
  ASSERT_EQ(code_of(group), ErrorCode::corrupt);
  EXPECT_EQ(group.error().key(), ".zmetadata");
}

TEST(V2Consolidated, KeepsUnknownEntries) {
  const auto store = hierarchy();
  store
      ->set(".zmetadata", R"({"zarr_consolidated_format": 1, "by": "x", "metadata": {"a/.zarray": )" +
                              std::string(kArray) + R"(, "a/.other": {"k": 1.0}, "gone/.zgroup": {"zarr_format": 2},
                               ".zgroup": {"zarr_format": 2}}})")
      .value();
  open_a(store, true).value().resize({9, 5}).value();
  const Json now = parsed(text_at(*store, ".zmetadata"));
  EXPECT_EQ(now.find("by")->text(), "x");
  std::vector<std::string> keys;
  for (const auto& [key, document] : now.find("metadata")->members()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("a/.zarray", "a/.other", "gone/.zgroup", ".zgroup"));
  EXPECT_EQ(now.find("metadata")->find("a/.zarray")->find("shape")->dump(), "[9,5]");
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_THAT(report.faults[0].message, HasSubstr("'gone', which does not exist"));
}

TEST(V2NextToZarr3, IsIgnoredAndReportedByCheck) {
  const auto store = memory_store();
  create_array(store, "", {.shape = {4}, .dtype = DType::uint8}).value();
  store->set(".zarray", kArray).value();
  store->set(".zattrs", "{}").value();
  EXPECT_EQ(open_array(store).value().format(), "zarr3");
  const CheckReport report = check(store).value();
  ASSERT_EQ(report.faults.size(), 2U);
  EXPECT_EQ(report.faults[0].code, "foreign_object");
  EXPECT_EQ(report.faults[0].key, ".zarray");
  EXPECT_THAT(report.faults[0].message, HasSubstr("a document of the format zarr2"));
  EXPECT_EQ(open_array(store, {.format = "zarr2"}).value().shape(), (Shape{7, 5}));
}

}  // namespace zarr2_test
}  // namespace sherd::v2
