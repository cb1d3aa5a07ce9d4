// Handles of arrays that another handle has shrunk, grown, erased or replaced since they were opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "sherd/precomputed.hpp"
#include "sherd/tools.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace stale_handle_test {

using neuroglancer::VolumeInfo;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSide = 16;

/// An array at the path "a", for each layout that has its own way of writing.
struct Kind {
  std::string name;
  std::function<Array(const std::shared_ptr<Store>&, DType)> make;
  bool resizes = true;
};

Array make_zarr(const std::shared_ptr<Store>& store, DType dtype, CreateOptions options) {
  options.shape = {kSide, kSide, kSide};
  options.dtype = dtype;
  options.chunks = {4, 4, 4};
  return create_array(store, "a", options).value();
}

Array make_volume(const std::shared_ptr<Store>& store, DType dtype, const Json& sharding) {
  VolumeInfo info;
  info.data_type = dtype;
  info.scales.push_back(
      {.key = "s", .size = {kSide, kSide, kSide}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
  info.scales[0].encoding = "raw";
  info.scales[0].sharding = sharding;
  return neuroglancer::create_precomputed(store, "a", info).value();
}

Json sharding(const char* hash, std::uint64_t preshift, std::uint64_t shard) {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", preshift},
                      {"hash", hash},
                      {"minishard_bits", 0},
                      {"shard_bits", shard},
                      {"minishard_index_encoding", "gzip"},
                      {"data_encoding", "gzip"}};
}

std::vector<Kind> kinds() {
  const auto zarr = [](const CreateOptions& options) {
    return [options](const std::shared_ptr<Store>& store, DType dtype) { return make_zarr(store, dtype, options); };
  };
  const auto volume = [](const Json& how) {
    return [how](const std::shared_ptr<Store>& store, DType dtype) { return make_volume(store, dtype, how); };
  };
  return {{"Chunks", zarr({})},
          {"RawChunks", zarr({.codecs = std::vector<Json>{"bytes"}})},
          {"Shards", zarr({.shards = {8, 8, 8}})},
          {"Draft", zarr({.format = "draft2022"})},
          {"Volume", volume(Json()), false},
          {"BoxAlignedVolume", volume(sharding("identity", 3, 3)), false},
          {"HashedVolume", volume(sharding("murmurhash3_x86_128", 0, 3)), false},
          {"DualFormat", zarr({.shards = {8, 8, 8}, .config = {.layout = Layout::zarr_neuroglancer}}), false}};
}

class StaleHandle : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] Array make(DType dtype = DType::uint16) const { return GetParam().make(store_, dtype); }
  void erase_all() const {
    for (const std::string& key : keys_of(*store_)) store_->erase(key).value();
  }
  static Box box(const Array& array, std::uint64_t origin, std::uint64_t side) {
    Shape shape(array.ndim(), side);
    Shape begin(array.ndim(), origin);
    if (shape.size() == 4) shape[3] = 1, begin[3] = 0;
    return {begin, shape};
  }
  static Result<void> fill(const Array& array, const Box& where, std::uint16_t value) {
    const std::vector<std::uint16_t> values(*element_count(where.shape), value);
    return array.write(where, std::span(values));
  }
  /// The result of each way to write a part of the array.
  static std::vector<Result<void>> writes(const Array& array) {
    return {fill(array, box(array, 0, kSide), 7), fill(array, box(array, 0, 4), 7),
            fill(array, box(array, 1, 2), 7),     fill(array, box(array, 3, 6), 7),
            fill(array, box(array, 0, kSide), 0), fill(array, box(array, 3, 6), 0)};
  }

  TempDir directory_;
  std::shared_ptr<Store> store_ = file_store(directory_.path(), {.durable = false}).value();
};

TEST_P(StaleHandle, OfAnErasedArrayWritesNothing) {
  Array array = make();
  erase_all();
  for (const auto& written : writes(array)) {
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), ErrorCode::conflict) << written.error().text();
    EXPECT_THAT(written.error().text(), HasSubstr("the array was erased since it was opened; open it again"));
  }
  const auto edited = array.set_attributes(Json::Object{{"a", 1}});
  ASSERT_FALSE(edited);
  EXPECT_THAT(edited.error().code(), testing::AnyOf(ErrorCode::conflict, ErrorCode::unsupported));
  EXPECT_THAT(keys_of(*store_), IsEmpty());
}

TEST_P(StaleHandle, WritesNothingIntoAnArrayOfAnotherType) {
  Array array = make(DType::uint16);
  erase_all();
  const Array other = make(DType::uint32);
  const auto keys = keys_of(*store_);
  for (const auto& written : writes(array)) {
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), ErrorCode::conflict) << written.error().text();
    EXPECT_THAT(written.error().text(), HasSubstr("the array was replaced since it was opened; open it again"));
  }
  EXPECT_FALSE(array.set_attributes(Json::Object{{"a", 1}}));
  EXPECT_EQ(keys_of(*store_), keys);
}

INSTANTIATE_TEST_SUITE_P(All, StaleHandle, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

/// Volumes have no attributes.
std::vector<Kind> kinds_with_attributes() {
  auto some = kinds();
  std::erase_if(some, [](const Kind& kind) { return kind.name.ends_with("Volume"); });
  return some;
}

class StaleAttributes : public StaleHandle {};

TEST_P(StaleAttributes, DoNotPreventWrites) {
  const Array array = make();
  Array other = open_array(store_, {.path = "a", .writable = true}).value();
  other.set_attributes(Json::Object{{"by", "other"}}).value();
  for (const auto& written : writes(array)) EXPECT_TRUE(written) << written.error().text();
}

INSTANTIATE_TEST_SUITE_P(All, StaleAttributes, testing::ValuesIn(kinds_with_attributes()),
                         [](const auto& kind) { return kind.param.name; });

class StaleShape : public StaleHandle {
 protected:
  static std::uint16_t at(const Array& array, std::uint64_t i) {
    std::uint16_t value = 1;
    array.read(Box{{i, i, i}, {1, 1, 1}}, std::span(&value, 1)).value();
    return value;
  }
};

TEST_P(StaleShape, RefusesSelectionsBeyondTheShrunkArray) {
  const Array array = make();
  Array other = open_array(store_, {.path = "a", .writable = true}).value();
  other.resize({6, 6, 6}).value();
  const auto expected = fill(other, box(other, 5, 2), 9);
  ASSERT_FALSE(expected);
  const auto written = fill(array, box(array, 5, 2), 9);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), expected.error().text());
  EXPECT_EQ(array.shape(), (Shape{6, 6, 6}));
  other.resize({kSide, kSide, kSide}).value();
  EXPECT_EQ(at(other, 6), 0U);
}

TEST_P(StaleShape, WritesWhereAnotherHandleHasGrownTheArray) {
  const Array array = make();
  Array other = open_array(store_, {.path = "a", .writable = true}).value();
  other.resize({20, 20, 20}).value();
  fill(array, box(array, 18, 2), 9).value();
  EXPECT_EQ(at(other, 18), 9U);
}

TEST_P(StaleShape, AppendsAtTheCurrentEnd) {
  Array array = make();
  Array other = open_array(store_, {.path = "a", .writable = true}).value();
  other.resize({4, 4, 4}).value();
  const std::vector<std::uint16_t> values(32, 5);
  const Shape origin =
      array.append(ConstAnyView::dense(reinterpret_cast<const std::byte*>(values.data()), DType::uint16, {2, 4, 4}), 0)
          .value();
  EXPECT_EQ(origin, (Shape{4, 0, 0}));
  EXPECT_EQ(open_array(store_, {.path = "a"}).value().shape(), (Shape{6, 4, 4}));
}

std::vector<Kind> resizable_kinds() {
  std::vector<Kind> some = kinds();
  std::erase_if(some, [](const Kind& kind) { return !kind.resizes; });
  return some;
}
INSTANTIATE_TEST_SUITE_P(All, StaleShape, testing::ValuesIn(resizable_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(RefreshedHandle, HasWhatOtherHandlesHaveStored) {
  const auto store = memory_store();
  Array writer = create_array(store, "", {.shape = {4}, .dtype = DType::uint8}).value();
  const Array reader = open_array(store).value();
  writer.resize({7}).value();
  writer.set_attributes(Json::Object{{"a", 1}}).value();
  EXPECT_EQ(reader.shape(), Shape{4});
  reader.refresh().value();
  EXPECT_EQ(reader.shape(), Shape{7});
  EXPECT_EQ(reader.attributes().dump(), R"({"a":1})");
  store->erase("zarr.json").value();
  EXPECT_EQ(code_of(reader.refresh()), ErrorCode::conflict);
}

TEST(StaleVolume, OfAnotherSizeIsAnotherArray) {
  const auto volume = [](const std::shared_ptr<Store>& store, std::uint64_t side) {
    VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back(
        {.key = "s", .size = {side, side, side}, .chunk_sizes = {{4, 4, 4}}, .resolution = {1, 1, 1}});
    info.scales[0].encoding = "raw";
    return neuroglancer::create_precomputed(store, "a", info, {.overwrite = true}).value();
  };
  const auto store = memory_store();
  const Array array = volume(store, 13);
  volume(store, 15);  // as many chunks, and other lengths of the last ones
  const std::vector<std::uint16_t> values(8, 7);
  const auto written = array.write(Box{{12, 12, 12, 0}, {1, 1, 1, 1}}, std::span(values).first(1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::conflict) << written.error().text();
  EXPECT_THAT(written.error().text(), HasSubstr("was replaced since it was opened"));
}

TEST(Shrinking, KeepsTheShapeIfItMayNotWaitForAWriter) {
  const TempDir directory;
  Config impatient;
  impatient.lock_timeout = 0;
  const auto store = file_store(directory.path(), impatient).value();
  Array array =
      create_array(store, "a", {.shape = {16}, .dtype = DType::uint8, .chunks = {4}, .config = impatient}).value();
  {
    const auto writing = file_store(directory.path()).value()->lock("a/c/0").value();
    const auto shrunk = array.resize({8});
    ASSERT_FALSE(shrunk);
    EXPECT_EQ(shrunk.error().code(), ErrorCode::unavailable) << shrunk.error().text();
    EXPECT_EQ(open_array(store, {.path = "a"}).value().shape(), Shape{16});
  }
  array.resize({8}).value();
  EXPECT_EQ(open_array(store, {.path = "a"}).value().shape(), Shape{8});
}

TEST(ConfirmedWrite, ReadsTheDocumentOncePerCallAndOncePerObject) {
  const auto store = std::make_shared<TestStore>(memory_store());
  const Array array = create_array(store, "", {.shape = {16}, .dtype = DType::uint8, .chunks = {4}}).value();
  const std::vector<std::uint8_t> values(16, 1);
  array.write(Box{{0}, {16}}, std::span(values)).value();  // the first one may read the document
  store->forget();
  array.write(Box{{0}, {16}}, std::span(values)).value();
  EXPECT_EQ(store->count(Op::open, "zarr.json"), 1U + 4U);
  store->forget();
  array.write(Box{{3}, {2}}, std::span(values).first(2)).value();
  EXPECT_EQ(store->count(Op::open, "zarr.json"), 1U + 2U);
}

/// An array of 16 bytes at "a", made by a store that does not wait for locks.
class OverwritingWhileOthersWrite : public testing::Test {
 protected:
  OverwritingWhileOthersWrite() {
    const std::vector<std::uint8_t> values(16, 7);
    array().value().write(Box{{0}, {16}}, std::span(values)).value();
  }
  [[nodiscard]] Result<Array> array(bool overwrite = false, bool with_contents = false) const {
    CreateOptions options{.shape = {16}, .dtype = DType::uint8, .chunks = {4}, .overwrite = overwrite};
    options.config.lock_timeout = 0;
    if (with_contents) options.contents = [](const Array&) -> Result<void> { return {}; };
    return create_array(store_, "a", options);
  }

  TempDir directory_;
  std::shared_ptr<Store> store_ = file_store(directory_.path(), {.durable = false, .lock_timeout = 0}).value();
};

TEST_F(OverwritingWhileOthersWrite, ChangesNothingIfItMayNotWait) {
  const auto stored = [&] {  // except what a copy leaves behind for --resume
    auto keys = keys_of(*store_);
    std::erase_if(keys, [](const std::string& key) { return key.starts_with(".sherd-new-"); });
    return keys;
  };
  const auto keys = stored();
  const auto writing = file_store(directory_.path()).value()->lock("a/c/2").value();
  const TempDir other;
  create_array(other.path(), {.shape = {4}, .dtype = DType::uint8}).value();
  const auto waits = [&](const auto& outcome) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(code_of(outcome), ErrorCode::unavailable) << outcome.error().text();
    EXPECT_EQ(stored(), keys);
  };
  waits(array(true));
  waits(array(true, true));
  waits(create_group(store_, "a", {}, true, {.lock_timeout = 0}));
  waits(copy(other.path(), directory_.path() + "/a", {.overwrite = true, .config = {.lock_timeout = 0}}));
  waits(open_group(store_, {.writable = true, .config = {.lock_timeout = 0}}).value().erase("a"));
}

TEST(Overwriting, RemovesChunksLeftByAnErasedArray) {
  for (const char* format : {"zarr3", "draft2022"}) {
    const auto store = memory_store();
    create_group(store, "", {}, false, {}, format).value();
    CreateOptions options{.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .format = format};
    const std::string chunk = std::string(format) == "zarr3" ? "a/c/0/0" : "data/root/a/c0/0";
    store->set(chunk, "left").value();
    EXPECT_EQ(code_of(create_array(store, "a", options)), ErrorCode::conflict);
    options.overwrite = true;
    create_array(store, "a", options).value();
    EXPECT_EQ(text_at(*store, chunk), "(nothing)");
  }
}

TEST(Overwriting, NamesTheFileThatIsNotAChunk) {
  const auto store = memory_store();
  store->set("a/c/0", "left").value();
  store->set("a/c/notes.txt", "mine").value();
  const auto made = create_array(store, "a", {.shape = {4}, .dtype = DType::uint8, .overwrite = true});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::conflict);
  EXPECT_THAT(made.error().text(), HasSubstr("a/c/notes.txt"));
  EXPECT_EQ(text_at(*store, "a/c/0"), "left");
}

// Missing chunks read as the fill value only if the array itself exists.
TEST(MissingChunk, OfAnErasedArrayIsAConflictAndNotTheFillValue) {
  const auto store = memory_store();
  const Array array = create_array(store, "a", bytes_array()).value();
  array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
  std::vector<std::uint8_t> values(array.shape()[0]);
  array.read(Box{{0}, array.shape()}, std::span(values)).value();
  erase(store, {.path = "a"}).value();
  const auto read = array.read(Box{{0}, array.shape()}, std::span(values));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::conflict);
  EXPECT_THAT(read.error().text(), HasSubstr("the array was erased since it was opened; open it again"));
}

TEST(MissingChunk, OfAnArrayThatWasReplacedMeanwhileIsReadAgain) {
  const auto store = std::make_shared<TestStore>(memory_store());
  const auto make = [&](std::uint8_t value) {
    const Array array = create_array(store, "a", bytes_array(true)).value();
    if (value != 0) array.fill(Box{{0}, array.shape()}, std::vector{std::byte{value}}).value();
    return array;
  };
  const Array array = make(0);
  store->after = [&, is_first = true](const Asked& asked) mutable {
    if (asked.op == Op::open && asked.key.starts_with("a/c/") && std::exchange(is_first, false)) make(7);
  };
  std::vector<std::uint8_t> values(array.shape()[0]);
  array.read(Box{{0}, array.shape()}, std::span(values)).value();
  EXPECT_EQ(values, std::vector<std::uint8_t>(values.size(), 7));
}

TEST(ChunkOfAnotherSize, OfAnArrayThatWasReplacedIsAConflict) {
  const auto store = memory_store();
  CreateOptions options = bytes_array(true);
  options.chunks = {2};
  const Array array = create_array(store, "a", options).value();
  array.fill(Box{{0}, array.shape()}, std::vector{std::byte{7}}).value();
  options.chunks = array.shape();
  create_array(store, "a", options).value().fill(Box{{0}, array.shape()}, std::vector{std::byte{8}}).value();
  std::vector<std::uint8_t> values(array.shape()[0]);
  EXPECT_EQ(array.read(Box{{0}, array.shape()}, std::span(values)).error().code(), ErrorCode::conflict);
}

}  // namespace stale_handle_test
}  // namespace sherd
