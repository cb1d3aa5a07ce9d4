// What the recording store counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/forwarding.hpp"
#include "store/reply.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace recorded_test {

std::vector<std::string> lines(const std::vector<Recorder::Request>& requests) {
  std::vector<std::string> lines;
  for (const auto& request : requests) {
    lines.push_back(request.op + " " + request.key + " " + std::to_string(request.offset) + "+" +
                    std::to_string(request.length));
  }
  return lines;
}

class RecordedStore : public testing::Test {
 protected:
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::shared_ptr<Store> store_ = recorded_store(memory_store(), recorder_);
};

TEST_F(RecordedStore, CountsEveryRequest) {
  recorder_->start();
  store_->set("a", "0123456789").value();
  const auto source = store_->open("a").value();
  std::string into(8, ' ');
  const auto bytes = std::as_writable_bytes(std::span(into));
  const RangeRead ranges[] = {{1, bytes.first(3)}, {6, bytes.first(4)}};
  source->read(ranges).value();
  const ReadRequest batch[] = {
      {.of = source, .offset = 2, .length = 8}, {.key = "a", .length = 4, .from_end = true}, {.key = "none"}};
  store_->read_all(batch, [](std::size_t, Result<ReadReply>) { return Result<void>{}; }).value();
  EXPECT_EQ(store_->open("none").value(), nullptr);
  auto writer = store_->write("b").value();
  writer->copy(*source, 2, 5, 0).value();
  writer->write(5, as_bytes("xyz")).value();
  writer->commit().value();
  store_->list_dir("").value();
  store_->erase("a").value();
  store_->erase_prefix("p/").value();
  EXPECT_THAT(lines(recorder_->stop()),
              testing::ElementsAre("put a 0+10", "get a 1+3", "get a 6+4", "get a 2+8", "get a 6+4", "get none 0+0",
                                   "get none 0+0", "put b 0+8", "list  0+0", "erase a 0+0", "erase p/ 0+0"));
  const auto stats = recorder_->stats();
  EXPECT_EQ(stats.requests, 11u);
  EXPECT_EQ(stats.bytes_read, 19u);
  EXPECT_EQ(stats.bytes_written, 18u);
  EXPECT_EQ(store_->get("b").value(), "23456xyz");
}

TEST_F(RecordedStore, DoesNotCountWhatWasNotCommitted) {
  store_->set("a", "1").value();
  recorder_->start();
  EXPECT_FALSE(store_->set("a", "22", Condition::absent()));
  {
    const auto writer = store_->write("a").value();
  }
  EXPECT_THAT(recorder_->stop(), testing::IsEmpty());
  EXPECT_EQ(recorder_->stats().bytes_written, 1u);
}

TEST_F(RecordedStore, KeepsRequestsBetweenStartAndStopOnly) {
  const auto ask = [&](const char* key) { (void)store_->open(key).value(); };
  ask("a");
  recorder_->start();
  ask("b");
  recorder_->start();
  ask("c");
  EXPECT_THAT(lines(recorder_->stop()), testing::ElementsAre("get c 0+0"));
  ask("d");
  EXPECT_THAT(lines(recorder_->stop()), testing::ElementsAre("get b 0+0", "get c 0+0", "get d 0+0"));
  ask("e");
  EXPECT_THAT(recorder_->stop(), testing::IsEmpty());
  EXPECT_EQ(recorder_->stats().requests, 5u);
}

TEST_F(RecordedStore, OffersNoUncountedView) {
  store_->set("a", "1").value();
  EXPECT_EQ(store_->open("a").value()->view(), std::nullopt);
}

TEST_F(RecordedStore, CountsARequestOnceIfTheSameRecorderCountsItAlready) {
  store_->set("p/a", "1").value();
  const auto other = std::make_shared<Recorder>();
  recorder_->start();
  EXPECT_EQ(recorded_store(store_, recorder_)->get("p/a").value(), "1");
  EXPECT_EQ(recorded_store(prefixed_store(store_, "p/"), recorder_)->get("a").value(), "1");
  EXPECT_EQ(recorded_store(store_, other)->get("p/a").value(), "1");
  EXPECT_THAT(lines(recorder_->stop()), testing::ElementsAre("get p/a 0+1", "get p/a 0+1", "get p/a 0+1"));
  EXPECT_EQ(other->stats().requests, 1u);
}

/// Answers requests in a given order, and asks for more after each reply.
class InOrder final : public ForwardingStore {
 public:
  InOrder(std::shared_ptr<Store> store, std::vector<std::size_t> order)
      : ForwardingStore(std::move(store)), order_(std::move(order)) {}
  Result<void> read(ReadQueue& queue) override {
    std::vector<ReadRequest> asked;
    for (std::size_t answered = 0;; ++answered) {
      while (auto request = queue.next(answered == asked.size())) asked.push_back(*std::move(request));
      if (answered == asked.size()) return {};
      const std::size_t number = order_.at(answered);
      if (auto done = queue.reply(number, read_one(*store_, asked.at(number))); !done) return done;
    }
  }

 private:
  const std::vector<std::size_t> order_;
};

/// Each of the first keys leads to one more, which is read when the first one is there.
class Chains final : public ReadQueue {
 public:
  std::optional<ReadRequest> next(bool) override {
    if (ready_.empty()) return std::nullopt;
    ReadRequest request{.key = ready_.back()};
    ready_.pop_back();
    keys_.push_back(request.key);
    return request;
  }
  Result<void> reply(std::size_t number, Result<ReadReply>) override {
    if (keys_.at(number).size() == 1) ready_.push_back(keys_[number] + "2");
    return {};
  }

 private:
  std::vector<std::string> ready_ = {"b", "a"}, keys_;
};

TEST_F(RecordedStore, CountsDependentRoundTripsWhateverTheOrderOfReplies) {
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}}) {
    const auto recorder = std::make_shared<Recorder>();
    const auto store = recorded_store(std::make_shared<InOrder>(memory_store(), order), recorder);
    Chains chains;
    ASSERT_TRUE(store->read(chains).has_value());
    EXPECT_EQ(recorder->stats().round_trips, 2U);
    EXPECT_EQ(recorder->stats().requests, 4U);
  }
}

TEST_F(RecordedStore, CountsTheRoundTripsOfOneOperationAfterTheOther) {
  const auto round_trips = [&] { return recorder_->stats().round_trips; };
  store_->set("a", "0123456789").value();
  EXPECT_EQ(round_trips(), 1U);
  const auto source = store_->open("a").value();
  EXPECT_EQ(round_trips(), 1U) << "nothing was read";
  std::string into(2, ' ');
  const RangeRead range{1, std::as_writable_bytes(std::span(into))};
  source->read({&range, 1}).value();
  store_->list_dir("").value();
  store_->erase("a").value();
  EXPECT_EQ(round_trips(), 4U);
  EXPECT_EQ(recorder_->stats().requests, 4U);
}

TEST_F(RecordedStore, CountsRoundTripsOfThreadsThatOverlapOnce) {
  constexpr std::uint64_t each = 5;
  std::barrier both_have_asked(2);
  const auto slow = std::make_shared<TestStore>(memory_store());
  slow->before = [&](const Asked&) { both_have_asked.arrive_and_wait(); };
  const auto store = recorded_store(slow, recorder_);
  const auto read = [&] {
    for (std::uint64_t i = 0; i < each; ++i) static_cast<void>(store->get("a").value());
  };
  std::thread other(read);
  read();
  other.join();
  EXPECT_EQ(recorder_->stats().requests, 2 * each);
  EXPECT_EQ(recorder_->stats().round_trips, each);
}

}  // namespace recorded_test
}  // namespace sherd
