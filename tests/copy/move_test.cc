// Encoded chunks that are moved from a store whose requests have latency: in the version whose index was read.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "store/forwarding.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace move_test {

/// A version of an object that is not the present one.
class GoneSource final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;
  Result<void> read(std::span<const RangeRead>) override { return conflict("it was replaced"); }
};

/// A server that reads a version without being asked for it first, and copies nothing itself.
class Server final : public TestStore {
 public:
  explicit Server(std::shared_ptr<Store> store) : TestStore(std::move(store)) {
    has.parallel_requests = 4;
    in_batches = true;
  }

  [[nodiscard]] bool copies_itself(const ByteSource&) const override { return false; }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t,
                                                   const Generation& generation) const override {
    auto present = store_->open(key).value();
    if (present != nullptr && present->generation().value() == generation) return present;
    ++gone;
    return std::make_shared<GoneSource>(std::move(present));
  }

  mutable std::atomic<int> gone{0};
};

std::vector<std::uint16_t> from_number(std::uint16_t first) {
  std::vector<std::uint16_t> values(64);
  std::iota(values.begin(), values.end(), first);
  return values;
}

const Box kAll{{0}, {64}};

class MovedChunks : public testing::Test {
 protected:
  void write(std::uint16_t first) {
    const auto values = from_number(first);
    array_.write(kAll, std::span<const std::uint16_t>(values)).value();
  }

  std::shared_ptr<Store> stored_ = memory_store();
  Array array_ =
      create_array(stored_, "", {.shape = {64}, .dtype = DType::uint16, .chunks = {4}, .shards = {64}}).value();
  std::shared_ptr<Server> from_ = std::make_shared<Server>(stored_);
  std::shared_ptr<TestStore> to_ = std::make_shared<TestStore>(memory_store());
};

TEST_F(MovedChunks, AreLocatedAgainIfAnotherWriterHasReplacedTheirShard) {
  write(1);
  bool is_replaced = false;
  to_->after = [&](const Asked& asked) {
    if (asked.op != Op::commit || asked.key.find("c/") == asked.key.npos || std::exchange(is_replaced, true)) return;
    write(1001);
  };
  const CopyReport report = copy(from_, to_, {.shards = Shape{}, .config = {.threads = 1}}).value();
  EXPECT_EQ(report.chunks_encoded, 0U);
  EXPECT_EQ(report.chunks_moved, 16U);
  EXPECT_GT(from_->gone, 0) << "chunks were located in the version before";
  std::vector<std::uint16_t> values(64);
  open_array(to_).value().read(kAll, std::span(values)).value();
  const auto before = from_number(1), now = from_number(1001);
  int replaced = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(values[i] == before[i] || values[i] == now[i]) << i;
    replaced += values[i] == now[i] ? 1 : 0;
  }
  EXPECT_GT(replaced, 0);
}

TEST_F(MovedChunks, AreReadWithoutAnotherLookAtTheirShard) {
  write(1);
  ASSERT_TRUE(copy(from_, to_, {.shards = Shape{}, .config = {.threads = 1}}));
  const auto opened = from_->log(Op::open);
  EXPECT_LE(std::ranges::count(opened, "c/0"), 4) << "by the threads that read the index at the same time";
}

/// Elements that are not moved, because the copy has another codec.
const CopyOptions kEncoded{
    .codecs = std::vector<Json>{Json::parse(R"({"name": "bytes", "configuration": {"endian": "big"}})").value()},
    .config = {.threads = 1}};

class DecodedChunks : public testing::Test {
 protected:
  void create(const CreateOptions& options) {
    Array array = create_array(stored_, "", options).value();
    const auto values = from_number(1);
    array.write(Box{{0}, {32}}, std::span(values).first(32)).value();
  }
  /// Does this when the copy has stored its first object.
  void once_begun(std::function<void()> action) {
    to_->after = [this, action = std::move(action)](const Asked& asked) {
      if (asked.op == Op::commit && asked.key.find("c/") != asked.key.npos && !std::exchange(has_begun_, true))
        action();
    };
  }

  std::shared_ptr<Store> stored_ = memory_store();
  std::shared_ptr<Server> from_ = std::make_shared<Server>(stored_);
  std::shared_ptr<TestStore> to_ = std::make_shared<TestStore>(memory_store());
  bool has_begun_ = false;
};

TEST_F(DecodedChunks, AreAConflictIfTheirArrayIsErasedMeanwhile) {
  create({.shape = {64}, .dtype = DType::uint16, .chunks = {4}});
  once_begun([this] { erase(stored_).value(); });
  const auto copied = copy(from_, to_, kEncoded);
  ASSERT_TRUE(has_begun_);
  ASSERT_FALSE(copied) << "most chunks are missing";
  EXPECT_EQ(copied.error().code(), ErrorCode::conflict);
}

TEST_F(DecodedChunks, AreCopiedAlthoughAttributesChangeMeanwhile) {
  create({.shape = {64}, .dtype = DType::uint16, .chunks = {4}});
  once_begun(
      [this] { open_array(stored_, {.writable = true}).value().update_attributes(Json::Object{{"a", 1}}).value(); });
  EXPECT_TRUE(copy(from_, to_, kEncoded));
  EXPECT_TRUE(has_begun_);
}

TEST_F(DecodedChunks, AreThoseOfThePresentIndexOfTheirShard) {
  create({.shape = {64}, .dtype = DType::uint16, .chunks = {4}, .shards = Shape{64}});
  const auto now = from_number(1001);
  once_begun([&] {
    open_array(stored_, {.writable = true}).value().write(kAll, std::span<const std::uint16_t>(now)).value();
  });
  CopyOptions options = kEncoded;
  options.shards = Shape{16};
  ASSERT_TRUE(copy(from_, to_, options));
  std::vector<std::uint16_t> values(64);
  open_array(to_).value().read(kAll, std::span(values)).value();
  for (std::size_t i = 16; i < values.size(); ++i)
    EXPECT_TRUE(values[i] == now[i] || (i < 32 && values[i] == i + 1)) << i << ": " << values[i];
}

}  // namespace move_test
}  // namespace sherd
