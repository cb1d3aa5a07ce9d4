#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/call.hpp"
#include "src/remote/transfer.hpp"
#include "tests/remote/http_reads.hpp"

namespace sherd::remote {
namespace transfer_test {

using testing::HasSubstr;

TEST(Transfer, AsksABusyServerAgain) {
  for (const int status : {429, 500, 502, 503, 504}) {
    FaultProxy proxy;
    proxy.put("b/k", "x");
    proxy.add({.times = 2, .status = status, .headers = {{"Retry-After", "0"}}});
    const Outcome outcome = read(*store_at(proxy), {.key = "k"});
    EXPECT_EQ(outcome.text, "x") << status;
    EXPECT_EQ(outcome.retries, 2U) << status;
    EXPECT_EQ(outcome.requests, 3U) << status;
  }
}

TEST(Transfer, WaitsAsLongAsTheServerAsks) {
  using std::chrono::milliseconds;
  const auto delay = [](const std::string& after, const std::string& date) {
    return retry_after({{"Retry-After", after}, {"Date", date}});
  };
  const std::string now = "Mon, 30 Nov 2026 00:00:00 GMT";
  EXPECT_EQ(delay("7", now), milliseconds(7000));
  EXPECT_EQ(delay("Mon, 30 Nov 2026 00:00:07 GMT", now), milliseconds(7000));
  EXPECT_EQ(delay("Mon, 30 Nov 2026 00:00:07 GMT", ""), milliseconds(0)) << "it is past";
  EXPECT_EQ(delay("Sun, 29 Nov 2026 00:00:00 GMT", now), milliseconds(0));
  for (const char* const far : {"4000000000", "Tue, 30 Nov 2027 00:00:00 GMT", "Tue, 30 Nov 9999 00:00:00 GMT"})
    EXPECT_EQ(delay(far, now), milliseconds(60'000)) << far;
  for (const char* const wrong : {"", "soon", "-7", "99999999999"})
    EXPECT_EQ(delay(wrong, now), milliseconds(0)) << wrong;
}

TEST(Transfer, GivesUpAfterItsAttempts) {
  FaultProxy proxy;
  proxy.put("b/k", "x");
  proxy.add({.status = 503});
  const Outcome outcome = read(*store_at(proxy, "/b", {{"attempts", "3"}}), {.key = "k"});
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code(), ErrorCode::io);
  EXPECT_EQ(outcome.text,
            "'k': GET " + proxy.url("/b/k") + ": after 3 requests: the server is busy or has failed (status 503)");
  EXPECT_EQ(proxy.counts().requests, 3U);
}

TEST(Transfer, TakesAbsenceForNothingButAbsence) {
  FaultProxy proxy;
  for (const int status : {400, 401, 403, 405, 418}) {
    proxy.set({{.status = status}});
    const Outcome outcome = read(*store_at(proxy), {.key = "k"});
    ASSERT_TRUE(outcome.error) << status;
    EXPECT_EQ(outcome.error->is_denied(), status == 401 || status == 403);
    EXPECT_THAT(outcome.text, HasSubstr(std::to_string(status)));
  }
  EXPECT_EQ(proxy.counts().requests, 5U);
  proxy.set({{.status = 403}});
  EXPECT_EQ(read(*store_at(proxy, "/b", {{"missing_status", "401,403"}}), {.key = "k"}).text, "absent");
  proxy.set({{.status = 410}});
  EXPECT_EQ(read(*store_at(proxy), {.key = "k"}).text, "absent");
}

TEST(Transfer, EndsALoopOfRedirects) {
  FaultProxy proxy;
  proxy.add(redirect("{target}"));
  EXPECT_THAT(read(*store_at(proxy), {.key = "k"}).text, HasSubstr("redirects more than 5 times"));
}

TEST(Transfer, EndsWhenTheCallIsInterrupted) {
  FaultProxy proxy;
  proxy.add({.silent = true});
  const auto store = store_at(proxy);
  int polls = 0;
  const Config config{.interrupted = [&] { return ++polls > 3; }};
  const Outcome outcome = as_call(config, [&] { return read(*store, {.key = "k"}); });
  EXPECT_EQ(outcome.error.value().code(), ErrorCode::unavailable) << outcome.text;
}

}  // namespace transfer_test
}  // namespace sherd::remote
