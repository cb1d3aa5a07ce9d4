// Every request is made within a call, so that an interrupt ends the wait for its answer.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "shard/uint64.hpp"
#include "sherd/collection.hpp"
#include "sherd/draft2022.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace calls_test {

using testing::IsEmpty;

using StorePtr = std::shared_ptr<Store>;

struct Operation {
  const char* name;
  std::function<void(const StorePtr&)> prepare;
  std::function<Result<void>(const StorePtr&)> run;
};

template <class T>
Result<void> outcome(Result<T> result) {
  if (!result.has_value()) return std::move(result).error();
  return {};
}

const std::vector<std::uint16_t> kValues(64 * 64, 7);

void make_tree(const StorePtr& store) {
  create_group(store, "").value();
  const Array array =
      create_array(store, "a", {.shape = {64, 64}, .dtype = DType::uint16, .chunks = {8, 8}, .shards = Shape{32, 32}})
          .value();
  array.write(Box{{0, 0}, {64, 64}}, std::span(kValues)).value();
  open_group(store, {.writable = true}).value().consolidate().value();
}
void make_nothing(const StorePtr&) {}

Result<Array> open_a(const StorePtr& store) { return open_array(store, {.path = "a", .writable = true}); }
Result<Group> open_root(const StorePtr& store) { return open_group(store, {.writable = true}); }

Result<neuroglancer::ShardedStore> open_ids(const StorePtr& store) {
  return neuroglancer::ShardedStore::open(store, Uint64Sharding{.minishard_bits = 2, .shard_bits = 1}.json(),
                                          {.writable = true});
}
void make_ids(const StorePtr& store) {
  const auto ids = open_ids(store).value();
  for (std::uint64_t id = 0; id < 20; ++id) ids.put({.id = id, .value = as_bytes(std::string_view("value"))}).value();
}

void make_volume(const StorePtr& store) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint32;
  info.scales.push_back({.key = "s", .size = {32, 1, 1}, .chunk_sizes = {{4, 1, 1}}, .resolution = {1, 1, 1}});
  info.scales[0].encoding = "raw";
  const Array array = neuroglancer::create_precomputed(store, "v", info).value();
  const std::vector<std::uint32_t> values(32, 1);
  array.write(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
}

void make_skeletons(const StorePtr& store) {
  const auto made =
      neuroglancer::Collection::create(store, neuroglancer::SkeletonInfo{}, {.path = "skeletons"}).value();
  made.write_skeleton(5, {}).value();
}
Result<neuroglancer::Collection> open_skeletons(const StorePtr& store) {
  return neuroglancer::Collection::open(store, {.path = "skeletons", .writable = true});
}

Result<void> write_dataset(const StorePtr& store) {
  SHERD_TRY(writer, netcdf::Writer::create(store));
  SHERD_TRY(writer.define_dimension("/", "x", 4));
  SHERD_TRY(writer.define_variable("/", {.name = "v", .dimensions = {"x"}}));
  SHERD_TRY(writer.sync());
  SHERD_TRY(writer.set_attribute("/v", {"units", std::string("m")}));
  SHERD_TRY(writer.write("/v", {{0}, {4}}, std::vector<std::int32_t>{1, 2, 3, 4}));
  SHERD_TRY(writer.define_variable("/", {.name = "of_floats", .type = netcdf::Type::float32, .dimensions = {"x"}}));
  SHERD_TRY(writer.write("/of_floats", {{0}, {4}}, std::vector<float>{1, 2, 3, 4}));
  SHERD_TRY(writer.rename_dimension("/x", "y"));
  return writer.sync();
}
void make_dataset(const StorePtr& store) { write_dataset(store).value(); }

const Json kAttributes(Json::Object{{"a", 1}});

const Operation kOperations[] = {
    {"create_group", make_nothing, [](const StorePtr& s) { return outcome(create_group(s, "")); }},
    {"create_array_again", make_tree,
     [](const StorePtr& s) {
       return outcome(create_array(s, "a", {.shape = {4}, .dtype = DType::uint8, .chunks = {4}, .overwrite = true}));
     }},
    {"create_array_with_contents", make_tree,
     [](const StorePtr& s) {
       CreateOptions options{.shape = {64}, .dtype = DType::uint16, .chunks = {8}};
       options.contents = [](const Array& a) { return a.write(Box{{0}, {64}}, std::span(kValues).first(64)); };
       return outcome(create_array(s, "new", options));
     }},
    {"read", make_tree,
     [](const StorePtr& s) -> Result<void> {
       std::vector<std::uint16_t> values(64 * 64);
       SHERD_TRY(array, open_a(s));
       return array.read(Box{{0, 0}, {64, 64}}, std::span(values));
     }},
    {"write", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(array, open_a(s));
       return array.write(Box{{3, 3}, {30, 40}}, std::span(kValues).first(1200));
     }},
    {"resize", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(array, open_a(s));
       return array.resize({40, 40});
     }},
    {"set_attributes", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(array, open_a(s));
       return array.set_attributes(kAttributes);
     }},
    {"update_attributes", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(array, open_a(s));
       return outcome(array.update_attributes(kAttributes));
     }},
    {"update_attributes_of_a_group", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(group, open_root(s));
       return outcome(group.update_attributes(kAttributes));
     }},
    {"members", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(group, open_root(s));
       return outcome(group.members());
     }},
    {"move", make_tree,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(group, open_root(s));
       return group.move("a", "b");
     }},
    {"rename", make_tree, [](const StorePtr& s) { return rename(s, "b", {.path = "a", .writable = true}); }},
    {"erase", make_tree, [](const StorePtr& s) { return erase(s, {.path = "a"}); }},
    {"copy", make_tree, [](const StorePtr& s) { return outcome(copy(s, memory_store())); }},
    {"copy_here", make_tree,
     [](const StorePtr& s) { return outcome(copy(s, s, {.source_path = "a", .destination_path = "b"})); }},
    {"check", make_tree, [](const StorePtr& s) { return outcome(check(s, {.data = true})); }},
    {"open_ids", make_ids, [](const StorePtr& s) { return outcome(open_ids(s)); }},
    {"get_ids", make_ids,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(ids, open_ids(s));
       SHERD_TRY(ids.contains(3));
       return outcome(ids.get_many(std::vector<std::uint64_t>{1, 2, 3}));
     }},
    {"put_and_erase_ids", make_ids,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(ids, open_ids(s));
       SHERD_TRY(ids.put({.id = 3, .value = as_bytes(std::string_view("other"))}));
       return outcome(ids.erase(4));
     }},
    {"list_ids", make_ids,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(ids, open_ids(s));
       return outcome(ids.list([](auto, auto) { return true; }));
     }},
    {"compact_ids", make_ids,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(ids, open_ids(s));
       return outcome(ids.compact());
     }},
    {"create_volume", make_nothing,
     [](const StorePtr& s) -> Result<void> {
       make_volume(s);
       return {};
     }},
    {"volume_links", make_volume, [](const StorePtr& s) { return outcome(neuroglancer::volume_links(s, "v")); }},
    {"link_collections", make_volume,
     [](const StorePtr& s) { return outcome(neuroglancer::link_collections(s, "v", {.mesh = ""})); }},
    {"open_scale", make_volume,
     [](const StorePtr& s) { return outcome(neuroglancer::open_scale(s, {1, 1, 1}, {.path = "v"})); }},
    {"create_a_collection", make_nothing,
     [](const StorePtr& s) -> Result<void> {
       make_skeletons(s);
       return {};
     }},
    {"use_a_collection", make_skeletons,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(skeletons, open_skeletons(s));
       SHERD_TRY(skeletons.read_skeleton(5));
       SHERD_TRY(skeletons.list([](auto) { return true; }));
       return outcome(skeletons.erase(5));
     }},
    {"write_a_dataset", make_nothing, write_dataset},
    {"rename_a_variable", make_dataset,
     [](const StorePtr& s) -> Result<void> {
       SHERD_TRY(writer, netcdf::Writer::open(s));
       return writer.rename_variable("/v", "w");
     }},
    {"open_a_dataset", make_dataset, [](const StorePtr& s) { return outcome(netcdf::Dataset::open(s)); }},
};

class EveryRequest : public ::testing::TestWithParam<Operation> {};

TEST_P(EveryRequest, IsMadeWithinACall) {
  for (const StorePtr& inner : {memory_store(), StorePtr(lockless())}) {
    GetParam().prepare(inner);
    const auto store = std::make_shared<TestStore>(inner);
    store->has.parallel_requests = 8;
    store->in_batches = true;
    store->of = (Op::most | Op::erase_all) & ~(Op::open | Op::commit | Op::lock | Op::wait);
    std::mutex mutex;
    std::vector<std::string> outside;  // of all calls: nothing could end the wait for their answers
    store->before = [&](const Asked& asked) {
      const std::lock_guard hold(mutex);
      if (Call::current() == nullptr) outside.push_back(std::to_string(asked.op) + " " + asked.key);
    };
    const auto done = GetParam().run(store);
    const bool cannot_rename = !inner->traits().locks && !done && done.error().code() == ErrorCode::unsupported;
    EXPECT_TRUE(done || cannot_rename) << done.error().text();
    EXPECT_GT(store->count(), 0U);
    EXPECT_THAT(outside, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryRequest, ::testing::ValuesIn(kOperations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace calls_test
}  // namespace sherd
