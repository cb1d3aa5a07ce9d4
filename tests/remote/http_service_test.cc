#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "src/store/archive_of.hpp"
#include "tests/remote/http_reads.hpp"
#include "tests/remote/scoped_variable.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::remote {
namespace http_service_test {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

TEST(HttpService, FollowsARedirectWithoutItsSecrets) {
  FaultProxy first, second;
  second.put("b/k", "x");
  first.add(redirect("http://127.0.0.1:" + std::to_string(second.port()) + "{target}"));
  const auto store = store_at(first, "/b", {{"bearer_token", "SECRET"}, {"headers", "X-Key: SECRET"}});
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  ASSERT_EQ(first.requests().size(), 1U);
  EXPECT_EQ(*find_header(first.requests()[0].headers, "Authorization"), "Bearer SECRET");
  EXPECT_EQ(*find_header(first.requests()[0].headers, "X-Key"), "SECRET");
  const std::vector<ServedRequest> elsewhere = second.requests();
  ASSERT_EQ(elsewhere.size(), 1U);
  for (const Header& header : elsewhere[0].headers) EXPECT_THAT(header.value, Not(HasSubstr("SECRET")));
}

TEST(HttpService, SendsPasswordsOfNetrcOnlyToTheServerOfItsUrl) {
  const TempDir home;
  std::ofstream(home / ".netrc") << "machine 127.0.0.1 login me password pw\n";
  const ScopedVariable variable("HOME", home.path());
  FaultProxy first, second;
  second.put("b/k", "x");
  first.add(redirect("http://127.0.0.1:" + std::to_string(second.port()) + "{target}"));
  const auto store = store_at(first, "/b", {{"netrc", "true"}});
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(header_value(first.requests().at(0).headers, "Authorization"), "Basic bWU6cHc=");
  EXPECT_EQ(header_value(second.requests().at(0).headers, "Authorization"), "");
}

TEST(HttpService, SendsItsQueryWithEachKeyAndShowsItNowhere) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  StoreUrl url{.scheme = "http", .userinfo = "me:pw", .host = "127.0.0.1", .port = std::to_string(proxy.port())};
  url.path = "/b";
  url.query = "sig=SECRET";
  const auto store = http_store(url, {}).value();
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.requests().at(0).url, "/b/k?sig=SECRET");
  EXPECT_EQ(*find_header(proxy.requests().at(0).headers, "Authorization"), "Basic bWU6cHc=");
  EXPECT_THAT(store->url(), Not(HasSubstr("SECRET")));
  proxy.set({{.status = 403}});
  EXPECT_THAT(read(*store, {.key = "k"}).text, Not(testing::AnyOf(HasSubstr("SECRET"), HasSubstr("pw"))));
  url.userinfo.clear();
  EXPECT_THAT(http_store(url, {}).value()->get("k").error().text(),
              testing::AllOf(HasSubstr("may have expired"), Not(HasSubstr("SECRET"))));
}

TEST(HttpService, HasTheQueryOfAnOptionWhereItsUrlShowsNone) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  StoreUrl url{.scheme = "http", .host = "127.0.0.1", .port = std::to_string(proxy.port()), .path = "/b"};
  const auto asked = [&](const std::string& query, const Options& options) {
    url.query = query;
    EXPECT_EQ(read(*http_store(url, {.storage_options = options}).value(), {.key = "k"}).text, "x");
    return proxy.requests().back().url;
  };
  EXPECT_EQ(asked("", {{"query", "sig=1 2"}}), "/b/k?sig=1%202");
  EXPECT_EQ(asked("...", {{"query", "?sig=1"}}), "/b/k?sig=1");
  EXPECT_EQ(asked("own=1", {{"query", "sig=1"}}), "/b/k?own=1");
  EXPECT_EQ(asked("", {}), "/b/k");
  url.query = "...";
  for (const Options& options : {Options{}, Options{{"query", "?"}}}) {
    const Error missing = http_store(url, {.storage_options = options}).error();
    EXPECT_EQ(missing.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(missing.member(), "storage_options.query");
    EXPECT_THAT(missing.text(), testing::AllOf(HasSubstr("is missing"), HasSubstr("SHERD_STORE_QUERY")));
  }
}

TEST(HttpService, TellsWhetherItHasAQuery) {
  StoreUrl url{.scheme = "http", .host = "127.0.0.1", .path = "/b"};
  EXPECT_FALSE(has_hidden_query(*http_store(url, {}).value()));
  url.query = "sig=SECRET";
  const auto store = http_store(url, {}).value();
  EXPECT_TRUE(has_hidden_query(*store));
  EXPECT_TRUE(has_hidden_query(*prefixed_store(recorded_store(store, std::make_shared<Recorder>()), "a/")));
}

TEST(HttpService, EscapesWhatAUrlMayNotContain) {
  FaultProxy proxy;
  proxy.put("b c/ü%/k", "x");
  const auto store = store_at(proxy, "/b c/\u00fc%25");
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(proxy.requests().at(0).url, "/b%20c/%C3%BC%25/k");
  EXPECT_EQ(store->url(), proxy.url("/b%20c/%C3%BC%25"));
}

TEST(HttpService, AsksForItsCredentialsWhenTheyExpire) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  int asked = 0;
  const Config config{.credentials = [&]() -> Result<Credentials> {
    ++asked;
    const auto now = std::chrono::system_clock::now();
    return Credentials{.bearer_token = "t" + std::to_string(asked),
                       .expires = now + (asked == 1 ? milliseconds(50) : std::chrono::hours(1))};
  }};
  const auto store =
      http_store({.scheme = "http", .host = "127.0.0.1", .port = std::to_string(proxy.port()), .path = "/b"}, config)
          .value();
  EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  std::this_thread::sleep_for(milliseconds(60));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(*store, {.key = "k"}).text, "x");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(*find_header(proxy.requests().at(2).headers, "Authorization"), "Bearer t2");
}

TEST(HttpService, RefusesWrongOptionsByName) {
  const StoreUrl url{.scheme = "http", .host = "127.0.0.1"};
  using Option = std::pair<std::string, std::string>;
  for (const auto& [name, value] : std::initializer_list<Option>{{"parallel_requests", "0"},
                                                                 {"attempts", "x"},
                                                                 {"timeout", "-1"},
                                                                 {"missing_status", "200"},
                                                                 {"headers", "SECRET without colon"},
                                                                 {"headers", R"({"X-Key": "SECRET"})"},
                                                                 {"netrc", "perhaps"}}) {
    const auto store = http_store(url, {.storage_options = {{name, value}}});
    ASSERT_FALSE(store.has_value()) << name;
    EXPECT_EQ(store.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(store.error().member(), "storage_options." + name);
    EXPECT_THAT(store.error().text(), Not(HasSubstr("SECRET")));
  }
}

}  // namespace http_service_test
}  // namespace sherd::remote
