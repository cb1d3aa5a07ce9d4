// Chunks of volumes under legacy and alternative keys: shards as the former pair of files, and unsharded chunks that
// cloud-volume has compressed.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "sherd/precomputed.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd {
namespace legacy_names_test {

using neuroglancer::VolumeInfo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<std::uint16_t>;

struct Case {
  std::string hash;
  std::uint64_t minishard_bits, shard_bits;
  std::string encoding;
};

class LegacyShards : public testing::TestWithParam<Case> {
 protected:
  LegacyShards() {
    VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s", .size = {8, 8, 8}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}});
    info.scales[0].sharding = Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                           {"preshift_bits", 0},
                                           {"hash", GetParam().hash},
                                           {"minishard_bits", GetParam().minishard_bits},
                                           {"shard_bits", GetParam().shard_bits},
                                           {"minishard_index_encoding", GetParam().encoding},
                                           {"data_encoding", GetParam().encoding}};
    const Array array = neuroglancer::create_precomputed(store_, "", info).value();
    std::iota(model_.begin(), model_.end(), std::uint16_t{1});
    array.write(all_, std::span<const std::uint16_t>(model_)).value();
    divide();
  }

  // Every shard becomes a pair.
  void divide() {
    const std::size_t head = std::size_t{16} << GetParam().minishard_bits;
    for (const std::string& shard : names()) {
      const std::string name = "s/" + shard.substr(0, shard.find('.'));
      const std::string bytes = store_->get(name + ".shard").value().value();
      store_->set(name + ".index", bytes.substr(0, head)).value();
      store_->set(name + ".data", bytes.substr(head)).value();
      store_->erase(name + ".shard").value();
    }
  }

  [[nodiscard]] Array open(bool writable = false) const {
    return open_array(store_, {.path = "s", .writable = writable}).value();
  }
  [[nodiscard]] Values values(const Array& array) const {
    Values found(model_.size());
    array.read(all_, std::span<std::uint16_t>(found)).value();
    return found;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    const Listing listing = store_->list_dir("s/").value();
    std::vector<std::string> found;
    for (const Listing::Object& object : listing.objects) found.push_back(object.name);
    return found;
  }

  const std::shared_ptr<Store> store_ = memory_store();
  const Box all_{{0, 0, 0, 0}, {8, 8, 8, 1}};
  Values model_ = Values(512);
};

TEST_P(LegacyShards, AreReadListedAndPassCheck) {
  EXPECT_EQ(values(open()), model_);
  EXPECT_EQ(open().nchunks_initialized().value(), 8U);
  const CheckReport report = check(store_, {.data = true}).value();
  EXPECT_THAT(report.faults, IsEmpty()) << report.to_json().dump(2);
  EXPECT_EQ(report.chunks, 8U);
}

TEST_P(LegacyShards, AreConvertedWhenAChunkIsWritten) {
  const Values chunk(64, 7);
  open(true).write(Box{{4, 4, 4, 0}, {4, 4, 4, 1}}, std::span<const std::uint16_t>(chunk)).value();
  for (std::size_t i = 0; i < model_.size(); ++i)
    if (i / 64 >= 4 && i / 8 % 8 >= 4 && i % 8 >= 4) model_[i] = 7;
  EXPECT_EQ(values(open()), model_);
  EXPECT_THAT(names(), testing::Not(testing::IsSupersetOf({"0.index", "0.shard"})));
  EXPECT_THAT(check(store_, {.data = true}).value().faults, IsEmpty());
}

TEST_P(LegacyShards, AreReplacedWithoutReadingAndCheckReportsLeftovers) {
  std::ranges::fill(model_, std::uint16_t{9});
  open(true).write(all_, std::span<const std::uint16_t>(model_)).value();
  EXPECT_EQ(values(open()), model_);
  const CheckReport report = check(store_, {.data = true}).value();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.chunks, 8U);
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.code, "foreign_object");
  const auto left = names();
  EXPECT_EQ(report.faults.size(),
            std::ranges::count_if(left, [](const auto& name) { return !name.ends_with("shard"); }));
}

TEST_P(LegacyShards, DoNotReappearAfterErasing) {
  std::ranges::fill(model_, std::uint16_t{0});
  open(true).write(all_, std::span<const std::uint16_t>(model_)).value();
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(values(open()), model_);
}

TEST_P(LegacyShards, AreCopiedAsCurrentShards) {
  for (const char* format : {"", "zarr3"}) {
    const auto to = memory_store();
    copy(store_, to, {.format = format}).value();
    EXPECT_THAT(check(to, {.data = true}).value().faults, IsEmpty());
    const auto back = memory_store();
    copy(to, back, {.format = "precomputed"}).value();
    EXPECT_EQ(values(open_array(back, {.path = "s"}).value()), model_) << format;
  }
}

TEST_P(LegacyShards, AreCorruptIfOneFileIsMissing) {
  for (const std::string& name : names())
    if (name.ends_with(".data")) store_->erase("s/" + name).value();
  Values found(model_.size());
  const auto read = open().read(all_, std::span<std::uint16_t>(found));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(read.error().text(), HasSubstr(".data"));
  const auto faults = check(store_).value().faults;
  EXPECT_THAT(faults, testing::Not(IsEmpty()));
  EXPECT_THAT(faults, testing::Each(testing::Field(&Fault::code, "index_size")));
}

INSTANTIATE_TEST_SUITE_P(Volume, LegacyShards,
                         testing::Values(Case{"identity", 1, 2, "gzip"}, Case{"identity", 0, 1, "raw"},
                                         Case{"murmurhash3_x86_128", 1, 0, "gzip"},
                                         Case{"murmurhash3_x86_128", 0, 1, "raw"}),
                         [](const auto& of) {
                           return of.param.hash.substr(0, 6) + "_" + of.param.encoding +
                                  std::to_string(of.param.shard_bits);
                         });

TEST(CompressedChunks, AreReadReplacedAndRefusedIfNotGzip) {
  const auto store = memory_store();
  VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s", .size = {4, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}});
  const Array array = neuroglancer::create_precomputed(store, "", info).value();
  const Box all{{0, 0, 0, 0}, {4, 4, 4, 1}};
  Values values(64, 5);
  store->set("s/0-4_0-4_0-4.gz", "no gzip").value();
  const auto read = array.read(all, std::span<std::uint16_t>(values));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(read.error().text(), HasSubstr("0-4_0-4_0-4.gz"));
  const auto faults = check(store, {.data = true}).value().faults;
  EXPECT_THAT(faults, ElementsAre(testing::Field(&Fault::severity, Fault::Severity::error)));
  std::ranges::fill(values, std::uint16_t{5});
  array.write(all, std::span<const std::uint16_t>(values)).value();
  EXPECT_EQ(store->get("s/0-4_0-4_0-4.gz").value(), std::nullopt);
  EXPECT_THAT(check(store, {.data = true}).value().faults, IsEmpty());
}

TEST(CompressedChunks, InUnsupportedEncodingsAreNotMissing) {
  for (const char* suffix : {".br", ".zstd", ".xz", ".bz2"}) {
    const auto store = memory_store();
    VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s", .size = {4, 4, 4}, .chunk_sizes = {{4, 4, 4}}, .resolution = {8, 8, 8}});
    const Array array = neuroglancer::create_precomputed(store, "", info).value();
    const std::string key = std::string("s/0-4_0-4_0-4") + suffix;
    store->set(key, "any bytes").value();
    Values values(64, 5);
    const Box all{{0, 0, 0, 0}, {4, 4, 4, 1}}, one{{0, 0, 0, 0}, {1, 1, 1, 1}};
    for (const auto& done : {array.read(all, std::span<std::uint16_t>(values)),
                             array.write(one, std::span<const std::uint16_t>(values).first(1))}) {
      ASSERT_FALSE(done) << key;
      EXPECT_EQ(done.error().code(), ErrorCode::unsupported);
      EXPECT_THAT(done.error().text(), HasSubstr(key));
    }
    EXPECT_EQ(store->get(key).value(), "any bytes");
    array.write(all, std::span<const std::uint16_t>(values)).value();
    EXPECT_EQ(store->get(key).value(), std::nullopt) << "it would be what cloud-volume reads";
  }
}

}  // namespace legacy_names_test
}  // namespace sherd
