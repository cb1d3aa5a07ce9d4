// Consolidated metadata: a node's own document is the truth regardless of the copies, and every edit reaches the
// copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace consolidated_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Array writable_array(const std::shared_ptr<Store>& store, const std::string& path) {
  return open_array(store, {.path = path, .writable = true}).value();
}

/// The paths listed in the group's consolidated metadata.
std::vector<std::string> listed(Store& store, const std::string& key = "zarr.json") {
  const Json document = parsed(text_at(store, key));
  std::vector<std::string> paths;
  for (const auto& entry : document.find("consolidated_metadata")->find("metadata")->members())
    paths.push_back(entry.first);
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A group with these consolidated metadata and nothing below it.
void set_consolidated(Store& store, std::string_view metadata) {
  store
      .set("zarr.json",
           R"({"zarr_format":3,"node_type":"group","consolidated_metadata":)" + std::string(metadata) + "}")
      .value();
}

class Consolidated : public testing::TestWithParam<bool> {
  TempDir directory_;

 protected:
  void SetUp() override {
    create_array(store_, "g/x", bytes_array()).value();
    create_group(store_, "g/h").value();
    writable(store_, "g").consolidate().value();
    writable(store_).consolidate().value();
  }
  /// Whether both groups' copies are what they would be if they were written now.
  [[nodiscard]] bool are_true() {
    for (const char* path : {"", "g"}) {
      const std::string key = std::string(path) + (*path != '\0' ? "/zarr.json" : "zarr.json");
      const std::string text = text_at(*store_, key);
      writable(store_, path).consolidate().value();
      if (text != text_at(*store_, key)) return false;
    }
    return check(store_).value().faults.empty();
  }

  std::shared_ptr<Store> store_ = GetParam() ? file_store(directory_.path()).value() : memory_store();
};
INSTANTIATE_TEST_SUITE_P(Stores, Consolidated, testing::Bool(),
                         [](const auto& param) { return param.param ? "file" : "memory"; });

TEST_P(Consolidated, MetadataNeedNotBeUnderstood) {
  const Json document = writable(store_).metadata();
  EXPECT_EQ(document.find("consolidated_metadata")->find("must_understand")->as_bool(), false);
  EXPECT_THAT(listed(*store_), ElementsAre("g", "g/h", "g/x"));
}

TEST_P(Consolidated, MetadataReplacesReadingDocumentsInAListing) {
  auto recorder = std::make_shared<Recorder>();
  const Group group = open_group(store_, {.config = {.recorder = recorder}}).value();
  const Group inner = std::get<Group>(group.open("g").value());
  recorder->start();
  EXPECT_THAT(group.members().value(), ElementsAre(Pair("g", NodeType::group)));
  EXPECT_THAT(inner.members().value(), ElementsAre(Pair("h", NodeType::group), Pair("x", NodeType::array)));
  std::vector<std::string> requests;
  for (const auto& request : recorder->stop()) requests.push_back(request.op + " " + request.key);
  EXPECT_THAT(requests, ElementsAre("list ", "list g/"));
}

TEST_P(Consolidated, MetadataIsIgnoredForErasedNodes) {
  store_->erase_prefix("g/x/").value();
  const Group group = open_group(store_, {.path = "g"}).value();
  EXPECT_THAT(group.members().value(), ElementsAre(Pair("h", NodeType::group)));
  EXPECT_FALSE(group.contains("x").value());
  EXPECT_EQ(code_of(group.open("x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(open_group(store_).value().open("g/x")), ErrorCode::not_found);
}

TEST_P(Consolidated, MetadataIsIgnoredForNewNodes) {
  store_->set("g/new/zarr.json", text_at(*store_, "g/x/zarr.json")).value();
  const Group root = open_group(store_).value();
  EXPECT_THAT(std::get<Group>(root.open("g").value()).members().value(),
              ElementsAre(Pair("h", NodeType::group), Pair("new", NodeType::array), Pair("x", NodeType::array)));
  EXPECT_TRUE(root.open("g/new"));
}

TEST_P(Consolidated, MetadataIsIgnoredIfADocumentDiffers) {
  std::string text = text_at(*store_, "g/x/zarr.json");
  text.replace(text.find("4"), 1, "9");
  store_->set("g/x/zarr.json", text).value();
  EXPECT_EQ(std::get<Array>(open_group(store_).value().open("g/x").value()).shape(), Shape{9});
}

TEST_P(Consolidated, MetadataIsUpdatedByEveryEditOfAnArray) {
  Array array = writable_array(store_, "g/x");
  array.set_attributes(parsed(R"({"n": 1.0})")).value();
  EXPECT_THAT(text_at(*store_, "zarr.json"), HasSubstr("1.0"));
  EXPECT_TRUE(are_true());
  array.update_attributes(parsed(R"({"m": 2})")).value();
  EXPECT_TRUE(are_true());
  array.resize({1234}).value();
  EXPECT_THAT(text_at(*store_, "zarr.json"), HasSubstr("1234"));
  EXPECT_TRUE(are_true());
  const std::vector<std::uint8_t> more(4321, 1);
  array.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(more.data()), DType::uint8, {4321})).value();
  EXPECT_THAT(text_at(*store_, "g/zarr.json"), HasSubstr("5555"));
  EXPECT_TRUE(are_true());
}

TEST_P(Consolidated, MetadataIsUpdatedByEveryEditOfAGroup) {
  Group group = writable(store_, "g/h");
  group.set_attributes(parsed(R"({"a": 1})")).value();
  EXPECT_TRUE(are_true());
  group.update_attributes(parsed(R"({"b": 1})")).value();
  EXPECT_TRUE(are_true());
  writable(store_, "g").set_attributes(parsed(R"({"c": 1})")).value();
  EXPECT_TRUE(are_true());
  writable(store_).set_attributes(parsed(R"({"d": 1})")).value();
  EXPECT_TRUE(are_true());
}

TEST_P(Consolidated, MetadataIsUpdatedByCreatingAndErasing) {
  writable(store_).create_array("g/new/deep/y", bytes_array()).value();
  EXPECT_THAT(listed(*store_), ElementsAre("g", "g/h", "g/new", "g/new/deep", "g/new/deep/y", "g/x"));
  EXPECT_THAT(listed(*store_, "g/zarr.json"), ElementsAre("h", "new", "new/deep", "new/deep/y", "x"));
  EXPECT_TRUE(are_true());
  create_array(store_, "g/new", bytes_array(true)).value();
  EXPECT_THAT(listed(*store_), ElementsAre("g", "g/h", "g/new", "g/x"));
  EXPECT_TRUE(are_true());
  writable(store_, "g").erase("new").value();
  EXPECT_THAT(listed(*store_), ElementsAre("g", "g/h", "g/x"));
  create_group(store_, "g", {}, true).value();
  EXPECT_THAT(listed(*store_), ElementsAre("g"));
}

TEST_P(Consolidated, MetadataIsUpdatedByACopyBelow) {
  auto source = memory_store();
  create_array(source, "a/b", bytes_array()).value();
  copy(source, store_, {.destination_path = "g/new/copy"}).value();
  EXPECT_THAT(listed(*store_), ElementsAre("g", "g/h", "g/new", "g/new/copy", "g/new/copy/a", "g/new/copy/a/b", "g/x"));
  EXPECT_TRUE(are_true());
}

TEST_P(Consolidated, MetadataDropsANodeBeforeItIsErased) {
  auto recorder = std::make_shared<Recorder>();
  Group group = open_group(store_, {.writable = true, .config = {.recorder = recorder}}).value();
  for (const bool overwrite : {true, false}) {
    recorder->start();
    if (overwrite)
      group.create_group("g/x", {}, true).value();
    else
      group.erase("g/x").value();
    std::vector<std::string> changes;
    for (const auto& request : recorder->stop())
      if (request.op != "get" && request.op != "list" && !request.key.starts_with(".sherd-new-"))
        changes.push_back(request.op + " " + request.key);
    ASSERT_GE(changes.size(), 3U);
    EXPECT_EQ(changes[0], "put zarr.json");
    EXPECT_EQ(changes[1], "put g/zarr.json");
    if (!overwrite) continue;
    changes.erase(changes.begin(), changes.end() - 3);
    EXPECT_THAT(changes, ElementsAre("put g/x/zarr.json", "put zarr.json", "put g/zarr.json"));
  }
}

TEST_P(Consolidated, MetadataIsNotRewrittenWithoutAChange) {
  auto recorder = std::make_shared<Recorder>();
  const Array array = open_array(store_, {.path = "g/x", .writable = true, .config = {.recorder = recorder}}).value();
  Array(array).set_attributes(parsed(R"({"n": 1})")).value();
  recorder->start();
  Array(array).set_attributes(parsed(R"({"n": 1})")).value();
  for (const auto& request : recorder->stop()) EXPECT_NE(request.op, "put") << request.key;
}

TEST_P(Consolidated, MetadataIsCorrectAfterConcurrentEdits) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) create_array(store_, "g/t" + std::to_string(t % 2), bytes_array(true)).value();
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      Array array = writable_array(store_, "g/t" + std::to_string(t % 2));
      // Back and forth: a change that two rounds with the same value would hide must not be lost either.
      for (int i = 0; i < 10; ++i) array.set_attributes(parsed(i % 2 == 0 ? R"({"n": 1})" : R"({"n": 2})")).value();
    });
  threads.emplace_back([this] {
    for (int i = 0; i < 5; ++i) writable(store_).create_group("g/made" + std::to_string(i)).value();
    for (int i = 0; i < 5; ++i) writable(store_).erase("g/made" + std::to_string(i)).value();
  });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(are_true());
}

TEST_P(Consolidated, MetadataCreatedDuringEditsMissesNone) {
  for (int round = 0; round < 5; ++round) {
    create_group(store_, "", {}, true).value();
    Array array = create_array(store_, "a", bytes_array()).value();
    std::atomic<bool> begun{false};
    std::thread editor([&] {
      for (int i = 0; i < 10; ++i, begun = true) array.set_attributes(Json(Json::Object{{"n", i}})).value();
    });
    while (!begun) std::this_thread::yield();
    writable(store_).consolidate().value();
    editor.join();
    EXPECT_TRUE(check(store_).value().faults.empty());
  }
}

TEST(ConsolidatedMetadata, FailingToUpdateIsAnErrorButTheEditRemains) {
  auto store = std::make_shared<TestStore>(memory_store());
  Array array = create_array(store, "a", bytes_array()).value();
  writable(store).consolidate().value();
  store->fail_from(1);
  const auto edited = array.resize({8});
  ASSERT_FALSE(edited);
  EXPECT_THAT(edited.error().message(),
              HasSubstr("the change is stored, but consolidated metadata could not be renewed"));
  EXPECT_EQ(edited.error().key(), "zarr.json");
  EXPECT_EQ(array.shape(), Shape{8});
  EXPECT_EQ(open_array(store, {.path = "a"}).value().shape(), Shape{8});
}

TEST(ConsolidatedMetadata, IsUpdatedAboveTheRootOfAStore) {
  const TempDir directory;
  auto store = file_store(directory.path() + "/h").value();
  create_array(store, "g/x", bytes_array()).value();
  writable(store).consolidate().value();
  Array array = open_array(directory.path() + "/h/g/x", {.writable = true}).value();
  array.resize({1234}).value();
  EXPECT_THAT(text_at(*store, "zarr.json"), HasSubstr("1234"));
  Group group = open_group(directory.path() + "/h/g/", {.writable = true}).value();
  group.create_group("y").value();
  EXPECT_THAT(listed(*store), ElementsAre("g", "g/x", "g/y"));
  group.erase("x").value();
  EXPECT_THAT(listed(*store), ElementsAre("g", "g/y"));
  EXPECT_TRUE(check(store).value().faults.empty());
}

TEST(ConsolidatedMetadata, OfADamagedGroupDoesNotPreventEditsBelow) {
  auto store = memory_store();
  Array array = create_array(store, "a", bytes_array()).value();
  store->set("zarr.json", std::string_view("{")).value();
  EXPECT_TRUE(array.resize({8}));
}

TEST(ConsolidatedMetadata, IsIgnoredWhenMalformed) {
  auto store = memory_store();
  create_array(store, "x", bytes_array()).value();
  set_consolidated(*store, R"({"kind":"inline","metadata":{"x":{"zarr_format":3,"node_type":"array"},"y":5,"z":{}}})");
  const Group root = open_group(store).value();
  EXPECT_THAT(root.members().value(), ElementsAre(Pair("x", NodeType::array)));
  EXPECT_TRUE(root.open("x"));
  EXPECT_EQ(code_of(root.open("y")), ErrorCode::not_found);
}

TEST(ConsolidatedMetadata, OfOtherKindsOrWithInvalidPathsIsIgnored) {
  auto store = memory_store();
  create_group(store, "real").value();
  for (const char* metadata :
       {R"({"kind":"by reference","metadata":{"real":{"node_type":"array"}}})", R"({"kind":"inline","metadata":[]})",
        R"({"kind":"inline","metadata":{"..":{},"/x":{},"a//b":{},"__c":{}}})"}) {
    set_consolidated(*store, metadata);
    EXPECT_THAT(open_group(store).value().members().value(), ElementsAre(Pair("real", NodeType::group))) << metadata;
    EXPECT_THAT(check(store).value().faults.size(),
                std::string_view(metadata).find("/x") == std::string_view::npos ? 0U : 1U);
  }
}

TEST(ConsolidatedMetadata, NeedNotBeSorted) {
  auto store = memory_store();
  for (const char* path : {"z/b", "a", "z/a"}) create_group(store, path).value();
  const std::string group = R"({"zarr_format": 3, "node_type": "group"})";
  const std::string metadata = R"({"kind": "inline", "must_understand": false, "metadata": {"z/b": )" + group +
                               R"(, "a": )" + group + R"(, "z/a": )" + group + R"(, "z": )" + group + "}}";
  set_consolidated(*store, metadata);
  auto recorder = std::make_shared<Recorder>();
  const Group z = std::get<Group>(open_group(store, {.config = {.recorder = recorder}}).value().open("z").value());
  recorder->start();
  EXPECT_THAT(z.members().value(), ElementsAre(Pair("a", NodeType::group), Pair("b", NodeType::group)));
  EXPECT_EQ(recorder->stop().size(), 1U);
}

}  // namespace consolidated_test
}  // namespace sherd
