// Tools on hierarchies of the 2022 draft, as on any other: check, copy, import, resize.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/tools.hpp"
#include "tests/draft2022/draft2022_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/test_data.hpp"

namespace sherd::draft {
namespace tools_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(DraftTools, CheckReportsForeignObjectsAndUnusualDocuments) {
  const auto store = hierarchy(changed(kArray, transformers(indexed("[2]"))));
  store->set("data/root/a/x", "x").value();
  store->set("data/root/b/c0", "x").value();
  store->set("meta/root/notes", "x").value();
  store->set("meta/root/a/b.group.json", "{}").value();
  store->set("meta/root/.zmetadata", "{}").value();
  std::vector<std::string> told;
  const CheckReport report = check(store).value();
  for (const Fault& fault : report.faults) told.push_back(fault.code + " " + fault.key);
  EXPECT_THAT(told, testing::UnorderedElementsAre("document_odd meta/root/a.array.json", "foreign_object meta/root/a/",
                                                  "foreign_object data/root/a/x", "foreign_object data/root/b/",
                                                  "foreign_object meta/root/notes"));
}

TEST(DraftTools, CheckUsesAFallbackAndWarns) {
  const auto store =
      hierarchy(changed(kArray, R"({"data_type": {"extension": "x", "type": "quaternion", "fallback": "<i4"}})"));
  const CheckReport report = check(store).value();
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(report.faults[0].code, "document_odd");
}

TEST(DraftTools, CopyKeepsOrChangesTheFormatAndMovesChunksUnchanged) {
  const auto draft = memory_store();
  CreateOptions options = draft_array({7, 5}, {2, 2}, {4, 4});
  options.codecs = std::vector<Json>{"bytes:big", "gzip:5"};
  options.attributes = parsed(R"({"unit": "m"})");
  write(create_array(draft, "g/a", options).value(), Box{{0, 0}, {7, 5}}, counted(35));

  const auto same = memory_store();
  copy(draft, same).value();
  for (const std::string& key : keys_of(*draft)) EXPECT_EQ(same->get(key).value(), draft->get(key).value()) << key;

  const auto zarr3 = memory_store();
  copy(draft, zarr3, {.format = "zarr3"}).value();
  const Array upgraded = open_array(zarr3, {.path = "g/a"}).value();
  EXPECT_EQ(upgraded.format(), "zarr3");
  EXPECT_EQ(upgraded.attributes().dump(), R"({"unit":"m"})");
  EXPECT_EQ(elements(upgraded), counted(35));
  EXPECT_EQ(zarr3->get("g/a/c/1/0").value(), draft->get("data/root/g/a/c1/0").value());

  const auto back = memory_store();
  copy(zarr3, back, {.format = "draft2022"}).value();
  EXPECT_EQ(keys_of(*back), keys_of(*draft));
  for (const std::string& key : keys_of(*draft)) EXPECT_EQ(back->get(key).value(), draft->get(key).value()) << key;

  const auto chunked = memory_store();
  copy(draft, chunked, {.chunks = Shape{3, 5}, .shards = Shape{}}).value();
  const Array other = open_array(chunked, {.path = "g/a"}).value();
  EXPECT_EQ(elements(other), counted(35));
  EXPECT_EQ(other.format(), "draft2022");
  EXPECT_EQ(other.metadata().find("storage_transformers"), nullptr);
}

TEST(DraftTools, DimensionNamesAreCopied) {
  const auto zarr3 = memory_store();
  CreateOptions options{.shape = {7, 5}, .dtype = DType::int32, .chunks = {2, 2}};
  options.dimension_names = {{"y", "x"}};
  options.attributes = parsed(R"({"a": 1})");
  options.codecs = std::vector<Json>{"gzip:5"};
  const Array original = create_array(zarr3, "a", options).value();
  const auto draft = memory_store(), back = memory_store();
  copy(zarr3, draft, {.format = "draft2022"}).value();
  copy(draft, back, {.format = "zarr3"}).value();
  EXPECT_EQ(open_array(back, {.path = "a"}).value().metadata(), original.metadata());
}

TEST(DraftTools, CopiedShardsGetTheDraftsIndexAndTheirChunksAreMoved) {
  for (const IndexLocation location : {IndexLocation::start, IndexLocation::end}) {
    for (const char* index : {"bytes", "bytes:big"}) {
      const auto zarr3 = memory_store();
      CreateOptions options{.shape = {7, 5}, .dtype = DType::int32, .chunks = {2, 2}, .shards = {4, 4}};
      options.index_location = location;
      options.index_codecs = std::vector<Json>{index, "crc32c"};
      write(create_array(zarr3, "a", options).value(), Box{{0, 0}, {7, 5}}, counted(35));
      const auto draft = memory_store(), larger = memory_store();
      const CopyReport moved = copy(zarr3, draft, {.format = "draft2022"}).value();
      EXPECT_EQ(moved.chunks_encoded, 0U) << index;
      EXPECT_EQ(moved.chunks_moved, 12U) << index;
      EXPECT_EQ(elements(open_array(draft, {.path = "a"}).value()), counted(35)) << index;
      EXPECT_TRUE(check(draft, {.data = true}).value().faults.empty()) << index;
      const CopyReport joined = copy(zarr3, larger, {.shards = Shape{8, 8}, .format = "draft2022"}).value();
      EXPECT_EQ(joined.chunks_moved, 12U) << index;
      EXPECT_EQ(elements(open_array(larger, {.path = "a"}).value()), counted(35)) << index;
    }
  }
}

TEST(DraftTools, ShardsInShardsGetTheIndexOfTheDraft) {
  const auto zarr3 = memory_store();
  CreateOptions options{.shape = {7, 5}, .dtype = DType::int32, .chunks = {4, 4}};
  options.codecs = std::vector<Json>{parsed(R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
      "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "start",
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}})")};
  options.shards = {8, 8};
  write(create_array(zarr3, "a", options).value(), Box{{0, 0}, {7, 5}}, counted(35));
  const auto draft = memory_store();
  copy(zarr3, draft, {.format = "draft2022"}).value();
  const Array array = open_array(draft, {.path = "a"}).value();
  EXPECT_EQ(array.metadata().find("storage_transformers")->size(), 2U);
  EXPECT_EQ(elements(array), counted(35));
}

TEST(DraftTools, ZstdChunksAreMovedWithTheirChecksums) {
  const auto zarr3 = memory_store();
  CreateOptions options{.shape = {7, 5}, .dtype = DType::int32, .chunks = {2, 2}, .shards = {4, 4}};
  options.codecs = std::vector<Json>{"zstd:3"};
  options.index_codecs = std::vector<Json>{"bytes"};
  const Array original = create_array(zarr3, "a", options).value();
  write(original, Box{{0, 0}, {7, 5}}, counted(35));

  const auto draft = memory_store();
  const CopyReport down = copy(zarr3, draft, {.format = "draft2022"}).value();
  EXPECT_EQ(down.chunks_encoded, 0U);
  EXPECT_GT(down.chunks_moved, 0U);
  const Array moved = open_array(draft, {.path = "a"}).value();
  EXPECT_EQ(moved.metadata().find("compressor")->find("configuration")->dump(), R"({"level":3})");
  EXPECT_EQ(draft->get("data/root/a/c1/0").value(), zarr3->get("a/c/1/0").value());

  const auto back = memory_store();
  const CopyReport up = copy(draft, back, {.format = "zarr3"}).value();
  EXPECT_EQ(up.chunks_encoded, 0U);
  EXPECT_EQ(up.chunks_moved, down.chunks_moved);
  EXPECT_THAT(open_array(back, {.path = "a"}).value().metadata().dump(), HasSubstr(R"({"level":3,"checksum":false})"));
  EXPECT_EQ(elements(open_array(back, {.path = "a"}).value()), counted(35));

  // Within a format a copy that asks for checksums gets them.
  const auto guarded = memory_store();
  EXPECT_GT(copy(back, guarded, {.codecs = std::vector<Json>{"zstd:3"}}).value().chunks_encoded, 0U);
}

/// A sharded array of two in implicit groups, and one without shards.
std::shared_ptr<Store> two_arrays() {
  const auto store = memory_store();
  write(create_array(store, "g/a", draft_array({7, 5}, {2, 2}, {4, 4})).value(), Box{{0, 0}, {7, 5}}, counted(35));
  write(create_array(store, "b", draft_array()).value(), Box{{0, 0}, {3, 5}}, counted(15));
  return store;
}

TEST(DraftTools, ACopyThatFailsAtAnyCommitIsInvisibleAndCanBeResumed) {
  const auto draft = two_arrays();
  const auto zarr3 = memory_store();
  copy(draft, zarr3, {.format = "zarr3"}).value();
  for (const auto& [source, format] :
       {std::pair(draft, ""), std::pair(draft, "zarr3"), std::pair(zarr3, "draft2022")}) {
    CopyOptions options{.format = format};
    options.config.threads = 1;
    const auto whole = memory_store();
    copy(source, whole, options).value();
    for (int commits = 0;; ++commits) {
      const auto beneath = memory_store();
      const auto failing = std::make_shared<TestStore>(beneath);
      failing->fail_from(commits);
      if (copy(source, failing, options)) {
        EXPECT_GT(commits, 5);
        break;
      }
      EXPECT_FALSE(open(beneath)) << "after " << commits << " commits";
      bool told = false;  // what is being copied; no longer so once all of it has been made
      for (const std::string& key : keys_of(*beneath)) {
        EXPECT_THAT(key, StartsWith(".sherd-new-"));
        told = told || key.ends_with("/.sherd-copy.json");
      }
      CopyOptions resumed = options;
      resumed.resume = true;
      EXPECT_EQ(copy(source, beneath, resumed).value().shards_skipped > 0, told && commits > 1);
      EXPECT_EQ(tree_of(*beneath), tree_of(*whole)) << "after " << commits << " commits";
    }
  }
}

TEST(DraftTools, ResumingAFinishedCopyRestoresMissingObjects) {
  const auto source = two_arrays();
  const auto destination = memory_store();
  copy(source, destination).value();
  const auto whole = tree_of(*destination);
  for (const char* key : {"zarr.json", "data/root/g/a/c1/0", "meta/root/b.array.json"}) destination->erase(key).value();
  EXPECT_EQ(copy(source, destination, {.resume = true}).value().shards, 1U);
  EXPECT_EQ(tree_of(*destination), whole);
}

TEST(DraftTools, ACopyReplacesTheWholeNodeAndNothingElse) {
  const auto destination = two_arrays();
  const auto source = memory_store();
  write(create_array(source, "", draft_array({2, 2})).value(), Box{{0, 0}, {2, 2}}, counted(4));
  CopyOptions options{.destination_path = "g"};
  const auto before = tree_of(*destination);
  EXPECT_EQ(code_of(copy(source, destination, options)), ErrorCode::conflict);
  EXPECT_EQ(tree_of(*destination), before);
  options.overwrite = true;
  copy(source, destination, options).value();
  EXPECT_THAT(keys_of(*destination),
              ElementsAre("data/root/b/c0/0", "data/root/b/c0/1", "data/root/b/c0/2", "data/root/b/c1/0",
                          "data/root/b/c1/1", "data/root/b/c1/2", "data/root/g/c0/0", "meta/root.group.json",
                          "meta/root/b.array.json", "meta/root/g.array.json", "zarr.json"));
  destination->set("data/root/left/notes.txt", "x").value();
  options.destination_path = "left";
  EXPECT_EQ(code_of(copy(source, destination, options)), ErrorCode::conflict) << "a directory of other files";
}

TEST(DraftTools, CopiesDoNotMixFormatsInOneHierarchy) {
  const auto draft = two_arrays();
  const auto zarr3 = memory_store();
  copy(draft, zarr3, {.format = "zarr3"}).value();
  for (const auto& [source, destination, root] :
       {std::tuple(draft, zarr3, "zarr.json"), std::tuple(zarr3, draft, "meta/root.group.json")}) {
    const auto before = tree_of(*destination);
    const auto mixed = copy(source, destination, {.destination_path = "new"});
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code(), ErrorCode::conflict) << mixed.error().text();
    EXPECT_EQ(mixed.error().key(), root);
    EXPECT_EQ(tree_of(*destination), before);
  }
}

TEST(DraftTools, AnExistingEntryPointAtTheDestinationIsKept) {
  const auto destination = memory_store();
  const std::string entry = changed(kEntryPoint, R"({"metadata_key_suffix": ".jn"})");
  destination->set("zarr.json", entry).value();
  copy(two_arrays(), destination, {.destination_path = "x"}).value();
  EXPECT_EQ(destination->get("zarr.json").value(), entry);
  EXPECT_TRUE(destination->get("meta/root/x/g/a.array.jn").value());
  EXPECT_EQ(elements(open_array(destination, {.path = "x/g/a"}).value()), counted(35));
  EXPECT_TRUE(check(destination, {.data = true}).value().faults.empty());
}

TEST(DraftTools, ACopyReplacesAnElementOrderThatTheDraftCannotExpress) {
  for (const bool sharded : {false, true}) {
    const auto source = memory_store(), copied = memory_store();
    CreateOptions options{.shape = {4, 6, 8}, .dtype = DType::int32, .chunks = {2, 3, 4}};
    if (sharded) options.shards = {4, 6, 4};
    options.codecs =
        std::vector<Json>{parsed(R"({"name": "transpose", "configuration": {"order": [1, 0, 2]}})"), "bytes", "gzip:1"};
    write(create_array(source, "", options).value(), Box{{0, 0, 0}, {4, 6, 8}}, counted(192));
    EXPECT_EQ(copy(source, copied, {.format = "draft2022"}).value().chunks_encoded, 8U);
    EXPECT_EQ(elements(open_array(copied).value()), counted(192));
    EXPECT_EQ(code_of(copy(source, memory_store(), {.codecs = options.codecs, .format = "draft2022"})),
              ErrorCode::unsupported);
  }
}

TEST(DraftTools, FilesAreImportedIntoTheRequestedOrEnclosingFormat) {
  const TempDir folder;
  const std::string file = test_data("files/u1.npy");
  ImportOptions options;
  options.create.chunks = {3, 5, 7};
  options.create.format = "draft2022";
  EXPECT_EQ(import_file(file, folder / "alone", options).value().format(), "draft2022");
  EXPECT_THAT(keys_of(*file_store(folder / "alone").value()),
              ElementsAre("data/root/c0/0/0", "meta/root.array.json", "zarr.json"));
  create_group(folder / "h", {}, false, {}, "draft2022").value();
  options.create.format = {};
  EXPECT_EQ(import_file(file, folder / "h/g/a", options).value().format(), "draft2022");
  EXPECT_EQ(code_of(import_file(file, folder / "h/g", options)), ErrorCode::conflict);
  options.create.overwrite = true;
  EXPECT_EQ(import_file(file, folder / "h/g", options).value().shape(), (Shape{3, 5, 7}));
  EXPECT_THAT(keys_of(*file_store(folder / "h").value()),
              ElementsAre("data/root/g/c0/0/0", "meta/root.group.json", "meta/root/g.array.json", "zarr.json"));
  options.create.format = "zarr3";
  EXPECT_EQ(code_of(import_file(file, folder / "h/g", options)), ErrorCode::conflict);
}

TEST(DraftTools, ArraysGrowShrinkAndAreAppendedTo) {
  const auto store = memory_store();
  Array array = create_array(store, "a", draft_array({4, 4}, {2, 2}, {4, 4})).value();
  write(array, Box{{0, 0}, {4, 4}}, counted(16));
  const std::vector<std::int32_t> row{90, 91, 92, 93};
  EXPECT_EQ(
      array.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(row.data()), DType::int32, {1, 4})).value(),
      (Shape{4, 0}));
  array.resize({3, 2}).value();
  array.resize({5, 4}).value();
  EXPECT_EQ(elements(open_array(store, {.path = "a"}).value()),
            (std::vector<std::int32_t>{0, 1, 0, 0, 4, 5, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(check(store, {.data = true}).value().faults.empty());
}

}  // namespace tools_test
}  // namespace sherd::draft
