// What a bucket of S3 learns from refusals: its region, its clock, and that credentials have expired.
#include "src/remote/s3_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/remote/bucket_at.hpp"
#include "tests/remote/scoped_variable.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::remote {
namespace s3_store_test {

using testing::HasSubstr;

TEST(S3Store, GoesToTheRegionThatTheServerNames) {
  const std::vector<Fault> answers = {
      {.times = 1,
       .status = 301,
       .body = error_document("PermanentRedirect"),
       .headers = {{"x-amz-bucket-region", "eu-west-1"}}},
      {.times = 1, .status = 400, .body = error_document("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")},
      {.times = 1,
       .status = 403,
       .body = error_document("AccessDenied"),
       .headers = {{"x-amz-bucket-region", "eu-west-1"}}}};
  for (const Fault& answer : answers) {
    FaultProxy proxy;
    proxy.put("b/p/k", "x");
    proxy.add(answer);
    const auto store = bucket_at(proxy);
    EXPECT_EQ(store->get("k").value(), "x") << answer.body;
    EXPECT_EQ(store->get("k").value(), "x");  // the region is known now
    const auto requests = proxy.requests();
    ASSERT_EQ(requests.size(), 3U) << answer.body;
    EXPECT_THAT(header_value(requests[0].headers, "Authorization"), HasSubstr("/us-east-1/s3/"));
    EXPECT_THAT(header_value(requests[1].headers, "Authorization"), HasSubstr("/eu-west-1/s3/"));
    EXPECT_THAT(header_value(requests[2].headers, "Authorization"), HasSubstr("/eu-west-1/s3/"));
  }
}

TEST(S3Store, MakesAgainWhatWasUnderWayBeforeItKnewTheRegion) {
  FaultProxy proxy;
  std::vector<ReadRequest> requests;
  for (int i = 0; i < 8; ++i) {
    proxy.put("b/p/" + std::to_string(i), std::to_string(i));
    requests.push_back({.key = std::to_string(i)});
  }
  proxy.add({.times = 8,
             .delay = std::chrono::milliseconds(50),
             .status = 301,
             .body = error_document("PermanentRedirect"),
             .headers = {{"x-amz-bucket-region", "eu-west-1"}}});
  std::string read(8, ' ');
  const auto done = bucket_at(proxy)->read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    if (!reply) return std::move(reply).error();
    read[i] = static_cast<char>(reply->bytes[0]);
    return {};
  });
  ASSERT_TRUE(done.has_value()) << done.error().text();
  EXPECT_EQ(read, "01234567");
  EXPECT_EQ(proxy.counts().requests, 16U);
}

TEST(S3Store, EndsRedirectionsFromRegionToRegion) {
  FaultProxy proxy;
  proxy.add(
      {.status = 301, .body = error_document("PermanentRedirect"), .headers = {{"x-amz-bucket-region", "r{count}"}}});
  EXPECT_FALSE(bucket_at(proxy)->get("k").has_value());
  EXPECT_LE(proxy.counts().requests, 4U);
}

TEST(S3Store, FollowsNoLocationWithItsSignature) {
  FaultProxy proxy, other;
  for (const int status : {301, 302, 307}) {
    proxy.set({redirect("http://127.0.0.1:" + std::to_string(other.port()) + "{target}", status)});
    const auto value = bucket_at(proxy)->get("k");
    ASSERT_FALSE(value.has_value());
    EXPECT_THAT(value.error().text(), HasSubstr(std::to_string(status)));
  }
  EXPECT_EQ(other.counts().requests, 0U);
}

TEST(S3Store, SignsWithTheClockOfTheServerIfItsOwnIsWrong) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  const std::time_t later = std::time(nullptr) + 7200;
  std::tm parts{};
  ::gmtime_r(&later, &parts);
  char date[64], stamp[32];
  const std::string served(date, std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts));
  const std::string hour(stamp, std::strftime(stamp, sizeof stamp, "%Y%m%dT%H", &parts));
  proxy.add({.times = 1, .status = 403, .body = error_document("RequestTimeTooSkewed"), .headers = {{"Date", served}}});
  const auto store = bucket_at(proxy);
  EXPECT_EQ(store->get("k").value(), "x");
  ASSERT_EQ(proxy.requests().size(), 2U);
  EXPECT_TRUE(header_value(proxy.requests()[1].headers, "x-amz-date").starts_with(hour))
      << header_value(proxy.requests()[1].headers, "x-amz-date");
}

TEST(S3Store, AsksForNewCredentialsIfTheyHaveExpired) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  proxy.add({.times = 1, .status = 400, .body = error_document("ExpiredToken")});
  std::atomic<int> asked = 0;
  Config config;
  config.credentials = [&]() -> Result<Credentials> {
    return Credentials{.key_id = "AK" + std::to_string(++asked), .secret_key = "SK", .session_token = "T"};
  };
  EXPECT_EQ(bucket_at(proxy, {}, config)->get("k").value(), "x");
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(header_value(proxy.requests().at(1).headers, "Authorization"), HasSubstr("Credential=AK2/"));
  proxy.set({{.status = 400, .body = error_document("ExpiredToken")}});
  const auto value = bucket_at(proxy, {}, config)->get("k");
  ASSERT_FALSE(value.has_value());
  EXPECT_THAT(value.error().text(), HasSubstr("ExpiredToken"));
}

TEST(S3Store, AsksForNewCredentialsIfTheKeyIsNotKnownAnyMore) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  proxy.add({.times = 1, .status = 403, .body = error_document("InvalidAccessKeyId")});
  int asked = 0;
  Config config;
  config.credentials = [&]() -> Result<Credentials> {
    return Credentials{.key_id = "AK" + std::to_string(++asked), .secret_key = "SK"};
  };
  EXPECT_EQ(bucket_at(proxy, {}, config)->get("k").value(), "x");
  EXPECT_EQ(asked, 2);
}

TEST(S3Store, RunsTheCredentialProcessOnceForSeveralStores) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  const TempDir home;
  std::ofstream(home / "keys") << "#!/bin/sh\necho >> " << home / "runs" << R"(
echo '{"Version": 1, "AccessKeyId": "PROCESS", "SecretAccessKey": "SK"}')";
  const auto configure = [&](const std::string& profile) {
    std::ofstream(home / "config") << "[profile " << profile << "]\ncredential_process = sh " << home / "keys" << "\n";
  };
  const auto runs = [&] {
    std::ifstream file(home / "runs");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  const ScopedVariable file("AWS_CONFIG_FILE", home / "config"), profile("AWS_PROFILE", "first");
  const auto read = [&] { return bucket_at(proxy, {{"key", ""}, {"secret", ""}})->get("k").value(); };
  configure("first");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(), "x");
  EXPECT_EQ(runs(), 1);
  const ScopedVariable other("AWS_PROFILE", "second");
  configure("second");
  EXPECT_EQ(read(), "x");
  EXPECT_EQ(runs(), 2);
}

TEST(S3Store, FailsAtOnceIfExpiredCredentialsCannotBeReplaced) {
  FaultProxy proxy;
  proxy.set({{.status = 400, .body = error_document("ExpiredToken")}});
  const auto store = bucket_at(proxy, {{"token", "T"}, {"attempts", "6"}});
  EXPECT_THAT(store->get("k").error().text(), HasSubstr("get new credentials"));
  EXPECT_EQ(proxy.counts().requests, 2U);
  EXPECT_FALSE(store->get("k"));
  EXPECT_EQ(proxy.counts().requests, 3U);
}

TEST(S3Store, AsksOnceForCredentialsThatManyRequestsFoundExpired) {
  constexpr std::size_t kRequests = 16;
  FaultProxy proxy;
  std::vector<ReadRequest> requests;
  for (std::size_t i = 0; i < kRequests; ++i) {
    requests.push_back({.key = "k" + std::to_string(10 + i)});
    proxy.put("b/p/" + requests.back().key, "x");
    // Their replies arrive one after the other.
    proxy.add({.target = "/" + requests.back().key,
               .times = 1,
               .delay = std::chrono::milliseconds(100 + 20 * i),
               .status = 400,
               .body = error_document("ExpiredToken")});
  }
  int asked = 0;
  Config config;
  config.credentials = [&]() -> Result<Credentials> {
    return Credentials{.key_id = "AK", .secret_key = "SK", .session_token = "T" + std::to_string(++asked)};
  };
  std::size_t read = 0;
  const auto store = bucket_at(proxy, {{"parallel_requests", "16"}}, config);
  const auto done = store->read_all(requests, [&](std::size_t, Result<ReadReply> reply) -> Result<void> {
    read += reply.has_value() && reply->bytes.size() == 1;
    return {};
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(read, kRequests);
  EXPECT_EQ(asked, 2);
}

}  // namespace s3_store_test
}  // namespace sherd::remote
