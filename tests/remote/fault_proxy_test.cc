#include "tests/remote/fault_proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <vector>

namespace sherd::remote {
namespace fault_proxy_test {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

/// A connection to a proxy, as a client without any tolerance has it.
class Client {
 public:
  explicit Client(const FaultProxy& proxy) : socket_(Socket::connect(proxy.port())) {}

  /// Sends a request, and returns the reply's first line and headers as one text; empty if there is none.
  std::string head(const std::string& line, const std::string& headers = "") {
    socket_.send(line + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    const auto head = socket_.read_head();
    if (!head) return "";
    std::string text = head->line + "\n";
    for (const Header& each : head->headers) text += each.name + ": " + each.value + "\n";
    const std::string* length = find_header(head->headers, "Content-Length");
    length_ = length ? std::stoull(*length) : 0;
    return text;
  }
  /// The status and the body of a GET; "end" if the connection ends within it.
  std::string get(const std::string& target, const std::string& headers = "") {
    const std::string text = head("GET " + target, headers);
    return text.empty() ? "end" : text.substr(9, 3) + " " + socket_.read(length_).value_or("end");
  }
  /// What comes up to the connection's end.
  std::string rest() { return socket_.read_all(); }
  [[nodiscard]] bool is_reset() const {
    char byte = 0;
    return ::recv(socket_.fd(), &byte, 1, 0) < 0 && errno == ECONNRESET;
  }

 private:
  Socket socket_;
  std::uint64_t length_ = 0;
};

TEST(FaultProxy, ServesObjectsAndTheirRanges) {
  FaultProxy proxy;
  const std::string etag = proxy.put("b/a k", "0123456789");
  Client client(proxy);
  EXPECT_EQ(client.get("/b/a%20k"), "200 0123456789");
  EXPECT_EQ(client.get("/b/a%20k", "Range: bytes=2-4\r\n"), "206 234");
  EXPECT_EQ(client.get("/b/a%20k", "Range: bytes=-3\r\n"), "206 789");
  EXPECT_EQ(client.get("/b/a%20k", "range: bytes=8-99\r\n"), "206 89");
  EXPECT_EQ(client.get("/b/a%20k", "Range: bytes=10-\r\n"), "416 ");
  EXPECT_EQ(client.get("/b/a%20k", "If-Match: \"v0\"\r\n"), "412 ");
  EXPECT_EQ(client.get("/b/a%20k", "If-Match: " + etag + "\r\n"), "200 0123456789");
  EXPECT_THAT(client.head("GET /b/a%20k", "If-None-Match: " + etag + "\r\n"), HasSubstr("304"));
  EXPECT_THAT(client.get("/b/none"), HasSubstr("404"));
  EXPECT_THAT(client.head("HEAD /b/a%20k"),
              testing::AllOf(HasSubstr("Content-Length: 10\n"), HasSubstr("ETag: " + etag)));
  EXPECT_EQ(proxy.counts().requests, 10);
  EXPECT_EQ(proxy.counts().connections, 1);
}

TEST(FaultProxy, ListsItsObjectsByPages) {
  FaultProxy proxy;
  for (const char* key : {"b/a/1", "b/a/2", "b/b&", "b/c/1", "other/x"}) proxy.put(key, "x");
  Client client(proxy);
  const std::string first = client.get("/b?list-type=2&delimiter=%2F&max-keys=2");
  EXPECT_THAT(first, HasSubstr("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes><Contents><Key>b&amp;</Key>"));
  EXPECT_THAT(first, HasSubstr("<NextContinuationToken>b&amp;</NextContinuationToken>"));
  const std::string second = client.get("/b?list-type=2&delimiter=%2F&max-keys=2&continuation-token=b%26");
  EXPECT_THAT(second, HasSubstr("<IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>c/</Prefix>"));
  EXPECT_THAT(client.get("/b?list-type=2&prefix=a%2F"), HasSubstr("<KeyCount>2<"));
}

TEST(FaultProxy, CutsBodiesAsOftenAsItIsTold) {
  FaultProxy proxy;
  proxy.put("k", "0123456789");
  proxy.add({.target = "/k", .skip = 1, .times = 1, .cut_after = 4});
  Client client(proxy);
  EXPECT_EQ(client.get("/k"), "200 0123456789");
  EXPECT_THAT(client.head("GET /k"), HasSubstr("Content-Length: 10\n"));
  EXPECT_EQ(client.rest(), "0123");
  EXPECT_EQ(Client(proxy).get("/k"), "200 0123456789");
  proxy.set({{.cut_after = 4, .reset = true}});
  Client other(proxy);
  other.head("GET /k");
  while (other.rest().empty() && !other.is_reset()) continue;
}

TEST(FaultProxy, LosesRequestsOrTheirReplies) {
  FaultProxy server, proxy(server.port());
  proxy.add({.target = "/k", .times = 1, .unheard = true});
  proxy.add({.target = "/k", .skip = 1, .times = 1, .lost = true});
  const std::string put = "PUT /k", sized = "Content-Length: 0\r\n";
  for (std::uint64_t carried_out = 0; carried_out < 2; ++carried_out) {
    Client client(proxy);
    EXPECT_EQ(client.head(put, sized), "");
    EXPECT_EQ(server.counts().requests, carried_out);
  }
  EXPECT_THAT(Client(proxy).head(put, sized), HasSubstr("200"));
  Socket client = Socket::connect(proxy.port());
  client.send("PUT /k HTTP/1.1\r\nContent-Length: 5\r\n\r\n01234");
  EXPECT_TRUE(client.read_head());
  EXPECT_EQ(proxy.counts().request_bytes, 5U);
}

TEST(FaultProxy, StatesWrongLengths) {
  FaultProxy proxy;
  proxy.put("k", "0123456789");
  proxy.add({.times = 1, .missing = 5});
  proxy.add({.skip = 1, .surplus = 3});
  Client client(proxy);
  EXPECT_THAT(client.head("GET /k"), HasSubstr("Content-Length: 15\n"));
  EXPECT_EQ(client.rest(), "0123456789");
  Client next(proxy);
  EXPECT_EQ(next.get("/k"), "200 0123456789");
  EXPECT_EQ(next.head("GET /k").substr(0, 11), "!!!HTTP/1.1");
}

TEST(FaultProxy, SendsBodiesWithoutALength) {
  FaultProxy proxy;
  proxy.put("k", "0123456789");
  proxy.add({.times = 1, .chunked = true});
  proxy.add({.skip = 1, .unsized = true});
  Client client(proxy);
  EXPECT_THAT(client.head("GET /k", "Connection: close\r\n"), HasSubstr("Transfer-Encoding: chunked\n"));
  EXPECT_EQ(client.rest(), "a\r\n0123456789\r\n0\r\n\r\n");
  Client next(proxy);
  EXPECT_THAT(next.head("GET /k"), Not(HasSubstr("Content-Length")));
  EXPECT_EQ(next.rest(), "0123456789");
}

TEST(FaultProxy, RepliesWithWhatItIsTold) {
  FaultProxy proxy;
  proxy.put("k", "0123456789");
  proxy.add({.times = 1, .status = 500});
  Fault slow = slow_down("2");
  slow.skip = 1;
  slow.times = 1;
  proxy.add(slow);
  proxy.add({.skip = 2, .headers = {{"Content-Range", "bytes 0-1/7"}}});
  proxy.add(no_validators());
  Client client(proxy);
  EXPECT_EQ(client.get("/k"), "500 ");
  EXPECT_THAT(client.head("HEAD /k"), testing::AllOf(HasSubstr("503"), HasSubstr("Retry-After: 2\n")));
  const std::string head = client.head("GET /k", "Range: bytes=2-3\r\n");
  EXPECT_THAT(head, testing::AllOf(HasSubstr("206"), HasSubstr("Content-Range: bytes 0-1/7"), Not(HasSubstr("ETag")),
                                   Not(HasSubstr("Last-Modified"))));
}

TEST(FaultProxy, IgnoresRangesAndCompresses) {
  FaultProxy proxy;
  proxy.put("k", std::string(1000, 'x'));
  proxy.add({.times = 1, .no_ranges = true});
  proxy.add({.skip = 1, .gzip = true});
  Client client(proxy);
  EXPECT_EQ(client.get("/k", "Range: bytes=1-2\r\n").size(), 1004);
  const std::string head = client.head("GET /k", "Range: bytes=1-200\r\n");
  EXPECT_THAT(head, testing::AllOf(HasSubstr("Content-Encoding: gzip\n"), HasSubstr("bytes 1-200/1000"),
                                   Not(HasSubstr("Content-Length: 200"))));
}

TEST(FaultProxy, RedirectsAndChangesAndListsWithoutEnd) {
  FaultProxy proxy;
  proxy.put("k", "0123456789");
  proxy.add({.target = "list-type", .endless_list = true});
  proxy.add({.target = "/k", .changes = true, .header_bytes = 10000});
  Fault elsewhere = redirect("http://169.254.169.254{target}");
  elsewhere.target = "/there";
  proxy.add(elsewhere);
  Client client(proxy);
  EXPECT_THAT(client.get("/b?list-type=2"), HasSubstr("<NextContinuationToken>t1<"));
  EXPECT_THAT(client.get("/b?list-type=2"), HasSubstr("<NextContinuationToken>t2<"));
  EXPECT_THAT(client.head("HEAD /k"), HasSubstr("ETag: \"changed-3\""));
  const std::string changed = client.head("HEAD /k");
  EXPECT_THAT(changed, HasSubstr("ETag: \"changed-4\""));
  EXPECT_GT(changed.size(), 10000);
  EXPECT_THAT(client.head("HEAD /there/x"), HasSubstr("Location: http://169.254.169.254/there/x\n"));
}

TEST(FaultProxy, DelaysAndDrips) {
  FaultProxy proxy;
  proxy.put("k", "0123");
  proxy.add({.target = "/k", .delay = milliseconds(20), .tail = milliseconds(60), .tail_every = 2});
  proxy.add({.target = "drip", .drip = 1, .drip_every = milliseconds(10)});
  Client client(proxy);
  const auto time_of = [&](const std::string& target) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(client.get(target), "200 0123");
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_GE(time_of("/k"), milliseconds(20));
  EXPECT_GE(time_of("/k"), milliseconds(60));
  EXPECT_GE(time_of("/k?drip"), milliseconds(60));
}

TEST(FaultProxy, BodiesOfAllConnectionsShareALink) {
  FaultProxy proxy;
  proxy.put("k", std::string(20'000, 'x'));
  proxy.add({.rate = 1'000'000});
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { Client(proxy).get("/k"); });
  Client(proxy).get("/k");
  other.join();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(40));
}

TEST(FaultProxy, RecordsRequests) {
  FaultProxy proxy;
  proxy.set_hook([&](const ServedRequest& request) -> std::optional<ServedReply> {
    if (request.url == "/hook") return reply_of(200, "hooked");
    proxy.put("k", request.method);
    return {};
  });
  Client client(proxy);
  EXPECT_EQ(client.get("/k", "X-One: 1\r\n"), "200 GET");
  EXPECT_EQ(client.get("/hook"), "200 hooked");
  ASSERT_EQ(proxy.requests().size(), 1);
  EXPECT_EQ(proxy.requests()[0].url, "/k");
  EXPECT_EQ(*find_header(proxy.requests()[0].headers, "x-one"), "1");
  EXPECT_EQ(proxy.counts().body_bytes, 3);
  proxy.reset_counts();
  EXPECT_EQ(proxy.counts().requests, 0);
  EXPECT_EQ(proxy.counts().open_connections, 1);
}

TEST(FaultProxy, CountsRequestsThatAreOpenTogether) {
  FaultProxy proxy;
  proxy.put("k", "x");
  proxy.add({.delay = milliseconds(50)});
  std::vector<std::thread> threads;
  for (int each = 0; each < 8; ++each) threads.emplace_back([&] { Client(proxy).get("/k"); });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(proxy.counts().connections, 8);
  EXPECT_GT(proxy.counts().most_open_requests, 1);
  EXPECT_LT(proxy.counts().round_trips, 8);
}

TEST(FaultProxy, CountsRequestsThatFollowOneAnother) {
  FaultProxy proxy;
  proxy.put("k", "x");
  Client client(proxy);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/k"), "200 x");
  EXPECT_EQ(proxy.counts().round_trips, 3);
  proxy.reset_counts();
  EXPECT_EQ(client.get("/k"), "200 x");
  EXPECT_EQ(proxy.counts().round_trips, 1);
}

TEST(FaultProxy, ForwardsToAnotherServer) {
  FaultProxy server;
  const std::string large(3'000'000, 'y');
  server.put("large", large);
  server.put("k", "0123456789");
  FaultProxy proxy(server.port());
  Client client(proxy);
  EXPECT_EQ(client.get("/large"), "200 " + large);
  EXPECT_EQ(client.get("/k", "Range: bytes=2-4\r\n"), "206 234");
  EXPECT_THAT(client.head("HEAD /k"), HasSubstr("Content-Length: 10\n"));
  EXPECT_EQ(server.counts().connections, 1);
  server.add({.target = "/k", .chunked = true});
  EXPECT_EQ(client.get("/k"), "200 0123456789");
  server.clear();
  proxy.add({.target = "/k", .times = 1, .cut_after = 4});
  client.head("GET /k");
  EXPECT_EQ(client.rest(), "0123");
  Client next(proxy);
  EXPECT_EQ(next.get("/k"), "200 0123456789");
  EXPECT_EQ(next.head("PUT /new", "Expect: 100-continue\r\nContent-Length: 0\r\n").substr(0, 12), "HTTP/1.1 100");
}

TEST(FaultProxy, SaysWhenNoServerIsBehindIt) {
  std::uint16_t port = 0;
  {
    port = FaultProxy().port();
  }
  FaultProxy proxy(port);
  EXPECT_THAT(Client(proxy).get("/k"), HasSubstr("502"));
}

TEST(FaultProxy, EndsWhileRequestsAreOpen) {
  auto proxy = std::make_unique<FaultProxy>();
  proxy->add({.target = "/slow", .delay = std::chrono::hours(1)});
  proxy->add({.target = "/silent", .silent = true});
  Client slow(*proxy), silent(*proxy), idle(*proxy);
  std::thread one([&] { EXPECT_EQ(slow.get("/slow"), "end"); }), two([&] { EXPECT_EQ(silent.get("/silent"), "end"); });
  while (proxy->counts().open_requests < 2) std::this_thread::yield();
  proxy.reset();
  one.join();
  two.join();
  EXPECT_EQ(idle.get("/k"), "end");
}

}  // namespace fault_proxy_test
}  // namespace sherd::remote
