#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/remote/reply_times.hpp"
#include "src/remote/transport.hpp"
#include "tests/remote/http_reads.hpp"
#include "tests/remote/scoped_variable.hpp"

namespace sherd::remote {
namespace transport_test {

using testing::HasSubstr;

TEST(Transport, KeepsItsConnectionsFromCallToCall) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  const auto store = store_at(proxy);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().connections, 1U);
}

TEST(Transport, RefusesRedirectsToOtherProtocolsAndInwards) {
  FaultProxy proxy;
  const std::string port = std::to_string(proxy.port());
  for (const std::string& location :
       {std::string("file:///etc/passwd"), std::string("ftp://127.0.0.1/x"), std::string("http://169.254.169.254/"),
        "http://localhost:" + port + "/b/k", "http://[::ffff:127.0.0.1]:" + port + "/b/k", "http://0.0.0.0:" + port}) {
    proxy.set({redirect(location)});
    const Outcome outcome = read(*store_at(proxy), {.key = "k"});
    ASSERT_TRUE(outcome.error) << location;
    EXPECT_THAT(outcome.text, HasSubstr("refused")) << location;
  }
  EXPECT_EQ(proxy.counts().requests, 6U);
}

std::shared_ptr<Store> store_through(const Options& options) {
  Options all = {{"netrc", "false"}};
  all.insert(options.begin(), options.end());
  return http_store({.scheme = "http", .host = "server.example", .path = "/b"}, {.storage_options = all}).value();
}

TEST(Transport, RefusesAnAddressOfThisMachineBehindAProxyWithoutAsking) {
  FaultProxy proxy;
  for (const char* const host : {"127.0.0.1", "localhost", "[::1]", "169.254.169.254"}) {
    proxy.set({redirect(std::string("http://") + host + "/secret")});
    proxy.reset_counts();
    const Outcome outcome = read(*store_through({{"proxy", proxy.url()}}), {.key = "k"});
    EXPECT_THAT(outcome.text, HasSubstr("refused to connect")) << host;
    EXPECT_EQ(proxy.counts().requests, 1U) << host;
  }
}

TEST(Transport, DoesNotRepeatTheUrlOfAProxyThatCannotBeUsed) {
  const std::string query(300, 'q');
  for (const std::string& proxy : {std::string("http://me:SECRET@h:port"), std::string("ftp://me:SECRET@h:21"),
                                   std::string("me:SECRET"), "ftp://me:SECRET@h/?" + query}) {
    const std::string option = read(*store_through({{"proxy", proxy}}), {.key = "k"}).text;
    const ScopedVariable variable("http_proxy", proxy);
    for (const std::string& text : {option, read(*store_through({}), {.key = "k"}).text}) {
      EXPECT_THAT(text, HasSubstr("the URL of the proxy cannot be used")) << proxy;
      EXPECT_THAT(text, testing::Not(HasSubstr("SECRET"))) << proxy;
    }
  }
}

TEST(Transport, FollowsARedirectThroughAProxyOfThisMachine) {
  FaultProxy proxy;
  proxy.set_hook([](const ServedRequest& request) -> std::optional<ServedReply> {
    if (request.url == "http://elsewhere.example/k") return reply_of(200, "x");
    return reply_of(302, "", {{"Location", "http://elsewhere.example/k"}});
  });
  EXPECT_EQ(read(*store_through({{"proxy", proxy.url()}}), {.key = "k"}).text, "x");
  const ScopedVariable variable("http_proxy", proxy.url());
  EXPECT_EQ(read(*store_through({}), {.key = "k"}).text, "x");
}

TEST(Transport, GivesUpAServerThatIsStill) {
  FaultProxy proxy;
  proxy.put("b/k", digits(4000));
  const auto store = store_at(proxy, "/b", {{"timeout", "1"}, {"attempts", "1"}});
  proxy.set({{.silent = true}});
  EXPECT_EQ(read(*store, {.key = "k"}).error.value().code(), ErrorCode::io);
  proxy.set({{.drip = 1}});
  EXPECT_EQ(read(*store, {.key = "k"}).error.value().code(), ErrorCode::io);
}

TEST(Transport, RefusesTooManyHeaders) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  proxy.add({.header_bytes = 1 << 20});
  const Outcome outcome = read(*store_at(proxy, "/b", {{"attempts", "1"}}), {.key = "k"});
  EXPECT_EQ(outcome.error.value().code(), ErrorCode::io) << outcome.text;
}

class Received final : public Exchange {
 public:
  Result<bool> head(HttpHead) override { return true; }
  Result<bool> body(std::span<const std::byte> bytes) override { return size += bytes.size(), true; }
  std::size_t size = 0;
};

/// The end of the only exchange.
Ended end_of(Transport& transport) {
  std::vector<Ended> ended;
  while (ended.empty()) ended = transport.wait(std::chrono::milliseconds(10)).value();
  return std::move(ended.front());
}

TEST(Transport, RefusesAnAddressOfThisMachineOverAKeptConnection) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  auto transport = Transport::make({}).value();
  Received reply;
  const HttpRequest request{.url = "http://127.1:" + std::to_string(proxy.port()) + "/b/k"};
  transport.send(request, reply, {}).value();
  EXPECT_FALSE(end_of(transport).failure);
  transport.send(request, reply, {.is_trusted = false}).value();
  EXPECT_THAT(end_of(transport).failure.value().text(), HasSubstr("refused to connect"));
  EXPECT_EQ(proxy.counts().requests, 1U);
}

TEST(Transport, AdvancesThoughItMayNotWait) {
  FaultProxy proxy;
  proxy.put("b/k", digits(4000));
  auto transport = Transport::make({}).value();
  Received replies[4];
  for (Received& each : replies) transport.send({.url = proxy.url("/b/k")}, each, {}).value();
  for (std::size_t ended = 0; ended < 4;) ended += transport.wait(std::chrono::milliseconds(0)).value().size();
  for (const Received& each : replies) EXPECT_EQ(each.size, 4000U);
}

/// A store whose replies have been fast, with one attempt for each request.
std::shared_ptr<Store> fast_store_at(FaultProxy& proxy, const Options& options = {}) {
  proxy.put("b/k", "x");
  Options all = {{"attempts", "1"}};
  all.insert(options.begin(), options.end());
  auto store = store_at(proxy, "/b", all);
  for (std::size_t i = 0; i < ReplyTimes::least_seen; ++i) read(*store, {.key = "k"});
  proxy.reset_counts();
  return store;
}

TEST(Transport, AsksOnceMoreIfAReplyIsLate) {
  FaultProxy proxy;
  const auto store = fast_store_at(proxy);
  proxy.set({{.times = 1, .silent = true}});
  const Outcome outcome = read(*store, {.key = "k"});
  EXPECT_EQ(outcome.text, "x");
  EXPECT_EQ(outcome.requests, 2U);
  EXPECT_EQ(outcome.retries, 1U);
  EXPECT_EQ(proxy.counts().requests, 2U);
}

TEST(Transport, UsesTheFirstOfTwoReplies) {
  FaultProxy proxy;
  const auto store = fast_store_at(proxy);
  proxy.set({{.times = 1, .delay = ReplyTimes::least_late * 4}, {.skip = 1, .times = 1, .silent = true}});
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().requests, 2U);
  proxy.clear();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
}

TEST(Transport, WaitsForTheOtherReplyIfOneBreaksOff) {
  FaultProxy proxy;
  const auto store = fast_store_at(proxy);
  proxy.set({{.times = 1, .delay = ReplyTimes::least_late * 4}, {.skip = 1, .times = 1, .unheard = true}});
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().requests, 2U);
}

TEST(Transport, WaitsForTheOtherReplyIfOneIsARefusal) {
  for (const int status : {401, 403, 429, 500, 503}) {
    FaultProxy proxy;
    const auto store = fast_store_at(proxy);
    proxy.set({{.times = 1, .delay = ReplyTimes::least_late * 4}, {.skip = 1, .times = 1, .status = status}});
    EXPECT_EQ(read(*store, {.key = "k"}).text, "x") << status;
    EXPECT_EQ(proxy.counts().requests, 2U);
  }
}

TEST(Transport, ReadsNoMoreThanTheFirstBytesOfAnObject) {
  FaultProxy proxy;
  proxy.put("b/k", digits(1 << 20));
  const auto store = store_at(proxy);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(*store, {.key = "k", .length = 100}).text, digits(1 << 20).substr(0, 100));
  EXPECT_EQ(ranges_of(proxy), std::vector<std::string>(3, "bytes=0-99"));
  EXPECT_EQ(proxy.counts().connections, 1U);
}

TEST(Transport, FailsIfBothRepliesBreakOff) {
  FaultProxy proxy;
  const auto store = fast_store_at(proxy);
  proxy.set({{.delay = ReplyTimes::least_late * 4, .unheard = true}});
  EXPECT_EQ(read(*store, {.key = "k"}).error.value().code(), ErrorCode::io);
  EXPECT_EQ(proxy.counts().requests, 3U);  // libcurl repeats the first one, whose connection was kept
}

TEST(Transport, AsksOnceIfFewRepliesWereSeen) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  proxy.set({{.delay = ReplyTimes::least_late * 3}});
  EXPECT_EQ(read(*store_at(proxy), {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().requests, 1U);
}

TEST(Transport, AsksOnceWhileAllRequestsOfTheCallAreUnderWay) {
  FaultProxy proxy;
  const auto store = fast_store_at(proxy, {{"parallel_requests", "1"}});
  proxy.set({{.delay = ReplyTimes::least_late * 3}});
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().requests, 1U);
}

TEST(Transport, NeverRepeatsAChangeBecauseItsReplyIsLate) {
  FaultProxy proxy;
  fast_store_at(proxy);
  proxy.set({{.delay = ReplyTimes::least_late * 3}});
  auto transport = Transport::make({}).value();
  Received reply;
  transport.send({.method = "PUT", .url = proxy.url("/b/k"), .body = "y"}, reply, {}).value();
  EXPECT_FALSE(end_of(transport).is_repeated);
  EXPECT_EQ(proxy.counts().requests, 1U);
}

/// Sends a request over each of so many transports, which exist at the same time.
void use_at_once(const FaultProxy& proxy, std::size_t count) {
  std::vector<Transport> transports;
  Received reply;
  for (std::size_t i = 0; i < count; ++i) {
    transports.push_back(Transport::make({}).value());
    transports.back().send({.url = proxy.url("/b/k")}, reply, {}).value();
    for (bool is_answered = false; !is_answered;)
      is_answered = !transports.back().wait(std::chrono::milliseconds(10)).value().empty();
  }
}

TEST(Transport, KeepsNoMoreConnectionsThanOneCallHas) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  use_at_once(proxy, 50);
  EXPECT_EQ(proxy.counts().connections, 50U);
  use_at_once(proxy, 50);
  EXPECT_EQ(proxy.counts().connections, 50U + 50U - 32U);
}

TEST(Transport, IsUsableInAForkedChild) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  const auto store = store_at(proxy);
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  const pid_t child = fork();
  if (child == 0) _exit(read(*store, {.key = "k"}).text == "x" ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.counts().connections, 2U);
}

}  // namespace transport_test
}  // namespace sherd::remote
