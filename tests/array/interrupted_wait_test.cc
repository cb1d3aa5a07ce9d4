// Every operation that waits for requests of a store can be interrupted.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/try.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace interrupted_wait_test {

constexpr std::chrono::seconds kDelay{60};
constexpr std::chrono::milliseconds kSoon{100};

/// For a store that practically never answers.
Result<void> stall(const Asked&) {
  const auto late = std::chrono::steady_clock::now() + kDelay;
  while (std::chrono::steady_clock::now() < late) {
    if (call_interrupted()) return unavailable("interrupted");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

struct World {
  Config config;
  std::shared_ptr<Store> store;
  Array array;
  Group group;
};

struct Operation {
  const char* name;
  std::function<Result<void>(World&)> run;
};

template <class T>
Result<void> outcome(Result<T> result) {
  if (!result.has_value()) return std::move(result).error();
  return {};
}

const std::vector<std::uint16_t> kValues(64 * 64, 7);

Result<void> write(const World& world, const Box& box) {
  const auto count = static_cast<std::size_t>(*element_count(box.shape));
  return world.array.write(box, std::span<const std::uint16_t>(kValues).first(count));
}

const Operation kOperations[] = {
    {"open_array", [](World& w) { return outcome(open_array(w.store, {.path = "a", .config = w.config})); }},
    {"open_group", [](World& w) { return outcome(open_group(w.store, {.config = w.config})); }},
    {"create_array",
     [](World& w) {
       return outcome(
           create_array(w.store, "new", {.shape = {4}, .dtype = DType::uint8, .chunks = {4}, .config = w.config}));
     }},
    {"create_group", [](World& w) { return outcome(create_group(w.store, "new", {}, false, w.config)); }},
    {"write_whole_chunks", [](World& w) { return write(w, {{0, 0}, {64, 64}}); }},
    {"write_a_part_of_a_shard", [](World& w) { return write(w, {{3, 3}, {4, 4}}); }},
    {"read",
     [](World& w) {
       std::vector<std::uint16_t> values(64 * 64);
       return w.array.read(Box{{0, 0}, {64, 64}}, std::span(values));
     }},
    {"stored", [](World& w) { return outcome(w.array.stored()); }},
    {"nchunks_initialized", [](World& w) { return outcome(w.array.nchunks_initialized()); }},
    {"resize", [](World& w) { return w.array.resize({32, 64}); }},
    {"append",
     [](World& w) {
       const auto* data = reinterpret_cast<const std::byte*>(kValues.data());
       return outcome(w.array.append(ConstAnyView::dense(data, DType::uint16, {4, 64}), 0));
     }},
    {"members", [](World& w) { return outcome(w.group.members()); }},
    {"open_member", [](World& w) { return outcome(w.group.open("a")); }},
    {"contains", [](World& w) { return outcome(w.group.contains("a")); }},
    {"create_member", [](World& w) { return outcome(w.group.create_group("new")); }},
    {"erase_member", [](World& w) { return w.group.erase("a"); }},
    {"update_attributes", [](World& w) { return outcome(w.group.update_attributes(Json(Json::Object{{"a", 1}}))); }},
    {"consolidate", [](World& w) { return w.group.consolidate(); }},
    {"erase", [](World& w) { return erase(w.store, {.path = "a", .config = w.config}); }},
};

class InterruptedWait : public ::testing::TestWithParam<Operation> {};

TEST_P(InterruptedWait, EndsEveryOperationThatReadsOrWrites) {
  const auto store = std::make_shared<TestStore>(memory_store());
  store->has.parallel_requests = 32;
  store->in_batches = true;
  store->of = Op::batch | Op::write | Op::erase | Op::visit;
  std::atomic<bool> interrupted{false};
  Config config;
  config.interrupted = [&] { return interrupted.load(); };
  create_group(store, "", {}, false, config).value();
  World world{
      config, store,
      create_array(
          store, "a",
          {.shape = {64, 64}, .dtype = DType::uint16, .chunks = {8, 8}, .shards = Shape{32, 32}, .config = config})
          .value(),
      open_group(store, {.writable = true, .config = config}).value()};
  write(world, {{0, 0}, {64, 64}}).value();
  store->refuse = stall;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    interrupted = true;
  });
  const auto began = std::chrono::steady_clock::now();
  const auto done = GetParam().run(world);
  EXPECT_LT(std::chrono::steady_clock::now() - began, kDelay / 2) << "it waited for an answer";
  user.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::unavailable) << done.error().message();
}

INSTANTIATE_TEST_SUITE_P(Of, InterruptedWait, ::testing::ValuesIn(kOperations),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// How long a call continues after an interrupt: the minimum of some attempts, since other programs may be running.
std::chrono::milliseconds time_to_end(const std::function<Result<void>(const Config&)>& call) {
  using Clock = std::chrono::steady_clock;
  auto shortest = Clock::duration::max();
  for (int attempt = 0; attempt < 5 && shortest > kSoon; ++attempt) {
    std::atomic<bool> interrupted{false};
    Config config;
    config.interrupted = [&] { return interrupted.load(); };
    Clock::time_point at{};
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      at = Clock::now();
      interrupted = true;
    });
    const auto done = call(config);
    const auto ended = Clock::now();
    user.join();
    if (done.has_value()) throw std::logic_error("the call was not interrupted");
    EXPECT_EQ(done.error().code(), ErrorCode::unavailable) << done.error().text();
    shortest = std::min(shortest, ended - at);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(shortest);
}

TEST(Interrupt, EndsAWaitForASlowStoreWithinATenthOfASecond) {
  const auto memory = memory_store();
  create_array(memory, "a", {.shape = {64}, .dtype = DType::uint8, .chunks = {4}}).value();
  const auto slow = delayed_store(memory, kDelay, 4);
  const auto opening = [&](const Config& config) { return outcome(open_array(slow, {.path = "a", .config = config})); };
  EXPECT_LE(time_to_end(opening), kSoon);
  const auto creating = [&](const Config& config) {
    return outcome(create_array(slow, "b", {.shape = {4}, .dtype = DType::uint8, .chunks = {4}, .config = config}));
  };
  EXPECT_LE(time_to_end(creating), kSoon);
}

TEST(Interrupt, EndsAWaitForALockWithinATenthOfASecond) {
  const TempDir directory;
  for (const auto& store : {memory_store(), file_store(directory.path(), {.durable = false}).value()}) {
    create_array(store, "a", {.shape = {4}, .dtype = DType::uint8, .chunks = {4}}).value();
    std::promise<void> locked, end;
    std::thread holder([&, ended = end.get_future()] {
      const auto lock = store->lock("a/c/0").value();
      locked.set_value();
      ended.wait();
    });
    locked.get_future().wait();
    EXPECT_LE(time_to_end([&](const Config& config) -> Result<void> {
                const std::vector<std::uint8_t> values(4, 7);
                SHERD_TRY(array, open_array(store, {.path = "a", .writable = true, .config = config}));
                return array.write(Box{{0}, {4}}, std::span(values));
              }),
              kSoon)
        << store->url();
    end.set_value();
    holder.join();
  }
}

}  // namespace interrupted_wait_test
}  // namespace sherd
