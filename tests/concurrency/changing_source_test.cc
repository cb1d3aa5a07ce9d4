// Copies and checks of data that another thread keeps changing: each copy is sound or a conflict, and no check mistakes
// a change for damage.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/buffer.hpp"
#include "shard/uint64.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace changing_source_test {

using neuroglancer::ShardedStore;
using neuroglancer::ShardedStoreOptions;

constexpr int kRounds = 40;

Config undurable() {
  Config config;
  config.durable = false;
  config.threads = 2;
  return config;
}

/// Repeats an action while it lives; at least once.
class Meanwhile {
 public:
  explicit Meanwhile(const std::function<void(std::uint64_t round)>& act)
      : thread_([this, act] {
          for (std::uint64_t round = 1; !stop_; ++round) {
            act(round);
            begun_ = true;
            begun_.notify_all();
          }
        }) {
    begun_.wait(false);
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;
  ~Meanwhile() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false}, begun_{false};
  std::thread thread_;
};

Json hashed() {
  return Uint64Sharding{.minishard_bits = 3, .shard_bits = 1, .hash = Uint64Sharding::Hash::murmurhash3_x86_128}.json();
}
/// Of 64 chunks: each shard is a box of 32.
Json boxes() { return Uint64Sharding{.preshift_bits = 3, .minishard_bits = 2, .shard_bits = 1}.json(); }

void expect_sound(const std::string& url, const CheckOptions& options) {
  const CheckReport report = check(url, options).value();
  EXPECT_TRUE(report.faults.empty()) << report.to_json().dump(1);
  EXPECT_GT(report.chunks, 0U);
}

/// Counts sound copies; anything other than those and conflicts is a failure.
struct Outcomes {
  int sound = 0, conflicts = 0;

  void add(const Result<CopyReport>& copied, const std::string& url, const CheckOptions& options = {.data = true}) {
    if (copied) {
      expect_sound(url, options);
      ++sound;
    } else {
      EXPECT_EQ(copied.error().code(), ErrorCode::conflict) << copied.error().text();
      EXPECT_FALSE(copied.error().key().empty());
      ++conflicts;
    }
  }
};

class ChangingValues : public testing::Test {
 protected:
  static constexpr std::uint64_t kIds = 400;

  ChangingValues() {
    store_->set("info", R"({"@type": "neuroglancer_skeletons", "sharding": )" + hashed().dump(0) + "}").value();
    for (std::uint64_t id = 0; id < kIds; ++id) ids_.push_back(id);
    put(0);
  }

  /// A skeleton without edges, whose size differs in each round.
  static std::string skeleton(std::uint64_t round) {
    const std::size_t vertices = 512 + round % 200;
    std::string bytes(8 + 12 * vertices, '\0');
    bytes[0] = static_cast<char>(vertices % 256);
    bytes[1] = static_cast<char>(vertices / 256);
    return bytes;
  }
  /// Writes all ids first, then one at a time.
  void put(std::uint64_t round) {
    const std::string value = skeleton(round);
    std::vector<ShardedStore::Item> items;
    for (const std::uint64_t id : ids_)
      if (round == 0 || id == round % kIds) items.push_back({id, as_bytes(value)});
    values_.put_many(items).value();
  }

  const TempDir directory_;
  const std::string from_ = directory_ / "from", to_ = directory_ / "to";
  const std::shared_ptr<Store> store_ = file_store(from_, undurable()).value();
  const ShardedStore values_ = ShardedStore::open(store_, hashed(), {.writable = true, .config = undurable()}).value();
  std::vector<std::uint64_t> ids_;
};

TEST_F(ChangingValues, AreCopiedConsistentlyOrNotAtAll) {
  Outcomes outcomes;
  {
    const Meanwhile updates([this](std::uint64_t round) { put(round); });
    for (int round = 0; round < kRounds; ++round)
      outcomes.add(sherd::copy(from_, to_, {.overwrite = true, .config = undurable()}), to_);
  }
  EXPECT_GT(outcomes.sound, 0);
  expect_sound(from_, {.data = true});
}

TEST_F(ChangingValues, AreNotReportedAsFaults) {
  const Meanwhile updates([this](std::uint64_t round) { put(round); });
  int whole = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto checked = check(from_, {.data = true, .config = undurable()});
    if (checked) {
      EXPECT_TRUE(checked->faults.empty()) << checked->to_json().dump(1);
      EXPECT_EQ(checked->chunks, kIds);
      ++whole;
    } else {
      EXPECT_EQ(checked.error().code(), ErrorCode::conflict) << checked.error().text();
    }
  }
  EXPECT_GT(whole, 0);
}

using How = std::tuple<bool, std::string>;  ///< whether shards are hashed, and how chunks reach the copy

class ValuesChangedBetweenReads : public ChangingValues {
 protected:
  ValuesChangedBetweenReads() {
    interrupted_->of = Op::read;
    interrupted_->keys = [](const std::string& key) { return key.ends_with(".shard"); };
  }

  /// Uses one thread, so that reads are sequential.
  static Config alone() {
    Config config = undurable();
    config.threads = 1;
    return config;
  }

  const std::shared_ptr<TestStore> interrupted_ = std::make_shared<TestStore>(store_);
  std::uint64_t round_ = 0;
};

TEST_F(ValuesChangedBetweenReads, AreCheckedAgainWithoutFaults) {
  for (int reads = 0; reads < 12; ++reads) {
    interrupted_->at(reads, [this] { put(++round_); });
    const CheckReport report = check(interrupted_, {.data = true, .config = alone()}).value();
    EXPECT_TRUE(report.faults.empty()) << reads << report.to_json().dump(1);
    EXPECT_EQ(report.chunks, kIds);
    EXPECT_EQ(report.shards, 2U);
  }
  EXPECT_GT(round_, 5U);
}

TEST_F(ValuesChangedBetweenReads, AreCopiedAgain) {
  for (int reads = 0; reads < 2; ++reads) {
    interrupted_->at(reads, [this] { put(++round_); });
    const auto to = memory_store();
    sherd::copy(interrupted_, to, {.config = alone()}).value();
    EXPECT_TRUE(check(to, {.data = true}).value().ok());
  }
  EXPECT_EQ(round_, 2U);
}

TEST_F(ValuesChangedBetweenReads, AreAConflictThatNamesTheShard) {
  ShardedStoreOptions options{.writable = true, .config = undurable()};
  options.config.max_unused = 1;  // no shard is rewritten, because then the old one could no longer be read
  const auto values = ShardedStore::open(store_, hashed(), options).value();
  std::vector<ShardedStore::Item> items;
  for (std::uint64_t id = 0; id < 16; ++id) items.push_back({id, as_bytes(std::string_view("some"))});
  interrupted_->before = [&](const Asked&) { values.put_many(items).value(); };
  const auto checked = check(interrupted_, {.data = true, .config = alone()});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(checked.error().key().ends_with(".shard")) << checked.error().text();
  EXPECT_NE(checked.error().text().find("when no other process writes to it"), std::string::npos)
      << checked.error().text();
  const auto to = memory_store();
  const auto copied = sherd::copy(interrupted_, to, {.config = alone()});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::conflict);
  EXPECT_TRUE(copied.error().key().ends_with(".shard")) << copied.error().text();
  EXPECT_NE(copied.error().text().find("when no other process writes to it"), std::string::npos)
      << copied.error().text();
  EXPECT_TRUE(to->list("", [](const std::string&, std::uint64_t) { return false; }).value()) << "nothing is left";
}

class ChangingVolume : public testing::TestWithParam<How> {
 protected:
  void create(const Json& sharding) {
    neuroglancer::VolumeInfo info;
    info.data_type = DType::uint16;
    info.scales.push_back({.key = "s0", .size = {60, 64, 64}, .chunk_sizes = {{16, 16, 16}}, .resolution = {8, 8, 40}});
    info.scales[0].sharding = sharding;
    volume_.emplace(
        neuroglancer::create_precomputed(file_store(from_, undurable()).value(), "", info, {.config = undurable()})
            .value());
    write(1, {{0, 0, 0, 0}, {60, 64, 64, 1}});
  }
  void write(std::uint64_t value, const Box& box) {
    const std::vector<std::uint16_t> values(*element_count(box.shape), static_cast<std::uint16_t>(value));
    volume_->write(box, std::span(values)).value();
  }

  const TempDir directory_;
  const std::string from_ = directory_ / "from", to_ = directory_ / "to";
  std::optional<Array> volume_;
};
INSTANTIATE_TEST_SUITE_P(Of, ChangingVolume,
                         testing::Combine(testing::Bool(), testing::Values("Whole", "Moved", "Flat", "Encoded")),
                         [](const auto& each) {
                           return (std::get<0>(each.param) ? "Hashed_" : "Boxes_") + std::get<1>(each.param);
                         });

TEST_P(ChangingVolume, IsCopiedConsistentlyOrNotAtAll) {
  const auto& [is_hashed, how] = GetParam();
  create(is_hashed ? hashed() : boxes());
  CopyOptions options{.overwrite = true, .config = undurable()};
  if (how == "Moved") options.sharding = is_hashed ? boxes() : hashed();
  if (how == "Flat") options.sharding = Json();
  if (how == "Encoded") options.chunks = Shape{20, 20, 20};
  Outcomes outcomes;
  {
    const Meanwhile updates([this](std::uint64_t round) {
      const std::uint64_t x = round % 4;
      write(round, {{16 * x, 16 * (round / 4 % 4), 16 * (round / 16 % 4), 0}, {x == 3 ? 12U : 16U, 16, 16, 1}});
    });
    for (int round = 0; round < kRounds / 4; ++round) {
      outcomes.add(sherd::copy(from_, to_, options), to_);
      const auto checked = check(from_, {.data = true, .config = undurable()});
      if (checked)
        EXPECT_TRUE(checked->faults.empty()) << checked->to_json().dump(1);
      else
        EXPECT_EQ(checked.error().code(), ErrorCode::conflict) << checked.error().text();
    }
  }
  // A writer that never pauses may make every copy a conflict. The next copy after a pause is sound.
  const int sound = outcomes.sound;
  outcomes.add(sherd::copy(from_, to_, options), to_);
  EXPECT_EQ(outcomes.sound, sound + 1);
}

TEST(ChangingArray, IsCopiedWithOneVersionOfEachShard) {
  const TempDir directory;
  const std::string from = directory / "from", to = directory / "to";
  const CreateOptions options{.shape = {64, 64},
                              .dtype = DType::uint16,
                              .chunks = {8, 8},
                              .shards = {32, 32},
                              .codecs = std::vector<Json>{Json("zstd:1")},
                              .config = undurable()};
  const Array array = create_array(from, options).value();
  const auto write = [&](std::uint64_t round) {
    const std::vector<std::uint16_t> values(std::size_t{64} * 64, static_cast<std::uint16_t>(round + 1));
    array.write(Box{{0, 0}, {64, 64}}, std::span(values)).value();
  };
  write(0);
  Outcomes outcomes;
  {
    const Meanwhile updates(write);
    for (int round = 0; round < kRounds; ++round) {
      CopyOptions how{.overwrite = true, .config = undurable()};
      if (round % 3 == 1) how.index_location = IndexLocation::start;
      const auto copied = sherd::copy(from, to, how);
      outcomes.add(copied, to);
      if (!copied) continue;
      std::vector<std::uint16_t> values(std::size_t{64} * 64);
      open_array(to).value().read(Box{{0, 0}, {64, 64}}, std::span(values)).value();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t first = i / 64 / 32 * 32 * 64 + i % 64 / 32 * 32;
        ASSERT_EQ(values[i], values[first]) << "of the shard's first element, at " << i;
      }
    }
  }
  EXPECT_GT(outcomes.sound, 0);
}

}  // namespace changing_source_test
}  // namespace sherd
