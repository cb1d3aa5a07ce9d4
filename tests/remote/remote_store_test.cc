#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/remote/http_reads.hpp"

namespace sherd::remote {
namespace remote_store_test {

using std::chrono::milliseconds;

TEST(RemoteStore, ReadsALargeRangeInPartsAtTheSameTime) {
  FaultProxy proxy;
  const std::string bytes = digits(20 << 20);
  proxy.put("b/k", bytes);
  proxy.add({.delay = milliseconds(50)});
  const auto store = store_at(proxy);
  const auto source = store->open("k").value();
  const Outcome outcome = read(*store, {.of = source, .offset = 5, .length = bytes.size() - 5});
  EXPECT_TRUE(outcome.text == bytes.substr(5));
  EXPECT_EQ(outcome.requests, 3U);
  EXPECT_EQ(proxy.counts().most_open_requests, 3U);
}

TEST(RemoteStore, HasAsManyRequestsUnderWayAsItsOptionSays) {
  FaultProxy proxy;
  std::vector<ReadRequest> requests;
  for (int i = 0; i < 60; ++i) {
    proxy.put("b/" + std::to_string(i), std::to_string(i));
    requests.push_back({.key = std::to_string(i)});
  }
  proxy.add({.delay = milliseconds(20)});
  const auto store = store_at(proxy, "/b", {{"parallel_requests", "12"}});
  std::size_t right = 0;
  ASSERT_TRUE(store->read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    right += text_of(reply.value().bytes) == std::to_string(i);
    return {};
  }));
  EXPECT_EQ(right, 60U);
  EXPECT_EQ(proxy.counts().most_open_requests, 12U);
}

TEST(RemoteStore, DividesALargeRangeWithinTheLimitOfRequests) {
  FaultProxy proxy;
  const std::string bytes = digits(40 << 20);
  proxy.put("b/k", bytes);
  proxy.add({.delay = milliseconds(20)});
  const auto store = store_at(proxy, "/b", {{"parallel_requests", "2"}});
  const Outcome outcome = read(*store, {.of = store->open("k").value(), .length = bytes.size()});
  EXPECT_TRUE(outcome.text == bytes);
  EXPECT_EQ(outcome.requests, 5U);
  EXPECT_EQ(proxy.counts().most_open_requests, 2U);
}

TEST(RemoteStore, HasAStoreAboveItUpToTheHost) {
  FaultProxy proxy;
  const auto store = store_at(proxy, "/a/b%20c");
  const auto above = store->parent().value();
  ASSERT_TRUE(above);
  EXPECT_EQ(above->name, "b c");
  EXPECT_EQ(above->store->url(), proxy.url("/a"));
  const auto top = above->store->parent().value();
  ASSERT_TRUE(top);
  EXPECT_EQ(top->store->url(), proxy.url(""));
  EXPECT_FALSE(top->store->parent().value());
}

}  // namespace remote_store_test
}  // namespace sherd::remote
