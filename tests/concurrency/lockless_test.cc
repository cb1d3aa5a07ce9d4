// Threads that change the same objects of a store without locks, each with its own handles: no change is lost, and no
// caller sees a conflict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"

namespace sherd {
namespace lockless_test {

using neuroglancer::ShardedStore;

constexpr std::uint64_t kThreads = 8, kRounds = 200;

void in_threads(const std::function<void(std::uint64_t thread)>& body) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
  for (auto& thread : threads) thread.join();
}

Config alone() {
  Config config;
  config.threads = 1;
  return config;
}

constexpr std::uint64_t kSide = 4, kInner = 8;  ///< elements of an inner chunk, inner chunks of a shard

using MakeArray = std::function<void(const std::shared_ptr<Store>&)>;

std::string sharding(const std::string& chunk_shape, const std::string& codecs) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + chunk_shape + R"(, "codecs": [)" +
         codecs +
         R"(], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}})";
}
constexpr const char* kLeaf = R"({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"})";

void create_zarr(const std::shared_ptr<Store>& store, CreateOptions options) {
  options.shape = {kSide * kInner};
  options.dtype = DType::uint32;
  create_array(store, "a", options).value();
}

void create_volume(const std::shared_ptr<Store>& store, const Json& sharding) {
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint32;
  info.scales.push_back(
      {.key = "s", .size = {kSide * kInner, 1, 1}, .chunk_sizes = {{kSide, 1, 1}}, .resolution = {1, 1, 1}});
  info.scales[0].encoding = "raw";
  info.scales[0].sharding = sharding;
  neuroglancer::create_precomputed(store, "a", info).value();
}

struct Kind {
  const char* name;
  MakeArray make;
};
const Kind kKinds[] = {
    {"Chunk", [](const std::shared_ptr<Store>& store) { create_zarr(store, {.chunks = {kSide * kInner}}); }},
    {"Shard",
     [](const std::shared_ptr<Store>& store) { create_zarr(store, {.chunks = {kSide}, .shards = {kSide * kInner}}); }},
    {"NestedShards",
     [](const std::shared_ptr<Store>& store) {
       create_zarr(store, {.chunks = {kSide * kInner},
                           .raw_codecs = Json::parse("[" + sharding("[16]", sharding("[4]", kLeaf)) + "]").value()});
     }},
    {"CompressedShard",
     [](const std::shared_ptr<Store>& store) {
       create_zarr(store, {.chunks = {kSide * kInner},
                           .raw_codecs = Json::parse("[" + sharding("[4]", kLeaf) + R"(, {"name": "gzip"}])").value()});
     }},
    {"Draft2022",
     [](const std::shared_ptr<Store>& store) {
       create_group(store, "", {}, false, {}, "draft2022").value();
       create_zarr(store, {.chunks = {kSide}, .shards = {kSide * kInner}, .format = "draft2022"});
     }},
    {"VolumeOfBoxes",
     [](const std::shared_ptr<Store>& store) {
       create_volume(store, Uint64Sharding{.preshift_bits = 1, .minishard_bits = 2}.json());
     }},
    {"VolumeByHash",
     [](const std::shared_ptr<Store>& store) {
       create_volume(store,
                     Uint64Sharding{.minishard_bits = 2, .hash = Uint64Sharding::Hash::murmurhash3_x86_128}.json());
     }},
};

struct Setting {
  Kind kind;
  bool conditional_erase;
};
std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Kind& kind : kKinds)
    for (const bool conditional_erase : {true, false}) all.push_back({kind, conditional_erase});
  return all;
}

class LocklessArray : public testing::TestWithParam<Setting> {
 protected:
  LocklessArray() { GetParam().kind.make(store_); }

  Array open() const { return open_array(store_, {.path = "a", .writable = true, .config = alone()}).value(); }
  static Box at(const Array& array, std::uint64_t element) {
    Box box{Shape(array.ndim(), 0), Shape(array.ndim(), 1)};
    box.origin[0] = element;
    return box;
  }
  static std::uint32_t get(const Array& array, std::uint64_t element) {
    std::uint32_t value = 0;
    array.read(at(array, element), std::span(&value, 1)).value();
    return value;
  }
  static void set(const Array& array, std::uint64_t element, std::uint32_t value) {
    array.write(at(array, element), std::span<const std::uint32_t>(&value, 1)).value();
  }

  const std::shared_ptr<LocklessStore> store_ = lockless(GetParam().conditional_erase);
};
INSTANTIATE_TEST_SUITE_P(Store, LocklessArray, testing::ValuesIn(settings()), [](const auto& setting) {
  return std::string(setting.param.kind.name) + (setting.param.conditional_erase ? "" : "_WithoutConditionalErase");
});

TEST_P(LocklessArray, LosesNoChangeOfDifferentChunks) {
  in_threads([&](std::uint64_t t) {
    const Array array = open();
    for (std::uint64_t round = 0; round < kRounds; ++round) set(array, t * kSide, get(array, t * kSide) + 1);
  });
  for (std::uint64_t t = 0; t < kThreads; ++t) EXPECT_EQ(get(open(), t * kSide), kRounds) << t;
  EXPECT_GT(store_->conflicts(), 0U) << "hidden from callers";
}

TEST_P(LocklessArray, LosesNoChangeOfElementsOfTheSameChunk) {
  in_threads([&](std::uint64_t t) {
    const Array array = open();
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t element = t % 2 * kSide + t / 2;  // four threads in each of two chunks
      set(array, element, get(array, element) + 1);
    }
  });
  for (std::uint64_t element = 0; element < 2 * kSide; ++element) EXPECT_EQ(get(open(), element), kRounds) << element;
}

TEST_P(LocklessArray, LosesNoChangeWhereChunksComeAndGo) {
  in_threads([&](std::uint64_t t) {
    const Array array = open();
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      EXPECT_EQ(get(array, t * kSide), round % 2) << "thread " << t << ", round " << round;
      set(array, t * kSide, (round + 1) % 2);
    }
  });
  for (std::uint64_t t = 0; t < kThreads; ++t) EXPECT_EQ(get(open(), t * kSide), 0U) << t;
}

TEST(LocklessArrays, LoseNoRowThatManyHandlesAppend) {
  constexpr std::uint32_t kAppends = 25;
  const auto store = lockless();
  create_array(store, "a", {.shape = {0}, .dtype = DType::uint32, .chunks = {4}, .shards = {64}}).value();
  in_threads([&](std::uint64_t t) {
    Array array = open_array(store, {.path = "a", .writable = true, .config = alone()}).value();
    for (std::uint32_t i = 0; i < kAppends; ++i) {
      const std::uint32_t value = static_cast<std::uint32_t>(t) * kAppends + i + 1;
      array.append(StridedView<const std::uint32_t>(&value, {1}).untyped()).value();
    }
  });
  const Array array = open_array(store, {.path = "a"}).value();
  std::vector<std::uint32_t> values(kThreads * kAppends), expected;
  ASSERT_EQ(array.shape(), Shape{values.size()});
  array.read(Box{{0}, array.shape()}, std::span(values)).value();
  for (std::uint32_t i = 1; i <= values.size(); ++i) expected.push_back(i);
  EXPECT_THAT(values, testing::UnorderedElementsAreArray(expected));
}

class LocklessValues : public testing::TestWithParam<bool> {
 protected:
  ShardedStore open() const {
    return ShardedStore::open(store_, Uint64Sharding{.minishard_bits = 2}.json(), {.writable = true, .config = alone()})
        .value();
  }
  static void put(const ShardedStore& values, std::uint64_t id, std::string_view value) {
    values.put({.id = id, .value = as_bytes(value)}).value();
  }
  static std::string next(const std::optional<std::string>& value) {
    return std::to_string(std::stoul(value.value_or("0")) + 1);
  }
  const std::shared_ptr<LocklessStore> store_ = lockless(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Store, LocklessValues, testing::Bool(), [](const auto& conditional_erase) {
  return std::string(conditional_erase.param ? "WithConditionalErase" : "WithoutConditionalErase");
});

TEST_P(LocklessValues, LosesNoneThatManyHandlesPutAndEraseWhileOthersCompact) {
  in_threads([&](std::uint64_t t) {
    const ShardedStore values = open();
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      put(values, t, next(values.get(t).value()));
      put(values, 100 + t, "for a moment");
      EXPECT_TRUE(values.erase(100 + t).value());
      if (t == 0 && round % 20 == 0) values.compact().value();
    }
  });
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(open().get(t).value(), std::to_string(kRounds)) << t;
    EXPECT_EQ(open().get(100 + t).value(), std::nullopt) << t;
  }
  EXPECT_GT(store_->conflicts(), 0U) << "hidden from callers";
}

TEST_P(LocklessValues, LosesNoneWhereShardsComeAndGo) {
  in_threads([&](std::uint64_t t) {
    const ShardedStore values = open();
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      put(values, t, "for a moment");
      EXPECT_TRUE(values.get(t).value());
      EXPECT_TRUE(values.erase(t).value());
    }
  });
  EXPECT_TRUE(open().list([](std::uint64_t, std::uint64_t) { return false; }).value()) << "none is left";
}

TEST(LocklessAttributes, LoseNoEditAndConsolidatedMetadataFollows) {
  const auto store = lockless();
  Group root = create_group(store, "").value();
  root.create_group("g").value();
  root.consolidate().value();
  in_threads([&](std::uint64_t t) {
    const std::string name = "of thread " + std::to_string(t);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      Group group = open_group(store, {.path = "g", .writable = true, .config = alone()}).value();
      const Json before = group.attributes();
      const Json* value = before.find(name);
      EXPECT_EQ(value != nullptr ? value->dump() : "0", std::to_string(round - 1));
      Json set(Json::Object{});
      set.set(name, Json(round));
      group.update_attributes(set).value();
    }
  });
  const Json attributes = open_group(store, {.path = "g"}).value().attributes();
  EXPECT_EQ(attributes.members().size(), kThreads);
  for (const auto& [name, value] : attributes.members()) EXPECT_EQ(value.dump(), std::to_string(kRounds)) << name;
  const Json listed = Json::parse(*store->get("zarr.json").value()).value();
  const Json* list = listed.find("consolidated_metadata")->find("metadata");
  EXPECT_EQ(list->find("g")->find("attributes")->dump(), attributes.dump());
}

}  // namespace lockless_test
}  // namespace sherd
