#include "remote/gcs_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/remote/fault_proxy.hpp"

namespace sherd::remote {
namespace gcs_store_test {

using testing::HasSubstr;
using testing::Not;

const StoreUrl kUrl{.scheme = "gs", .host = "b", .path = "/p", .shown = "gs://b/p"};

TEST(GcsStore, RefusesAnEndpointWithAPasswordWithoutRepeatingIt) {
  for (const char* const endpoint : {"http://me:SECRET@host", "me:SECRET@host", "ftp://SECRET", "http://h/?SECRET"}) {
    const auto store = gcs_store(kUrl, {.storage_options = {{"endpoint", endpoint}}});
    ASSERT_FALSE(store.has_value()) << endpoint;
    EXPECT_EQ(store.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(store.error().text(), HasSubstr("endpoint"));
    EXPECT_THAT(store.error().text(), Not(HasSubstr("SECRET")));
  }
}

TEST(GcsStore, RefusesATokenOfSeveralLines) {
  for (const char* const name : {"bearer_token", "token"}) {
    const auto store = gcs_store(kUrl, {.storage_options = {{name, "SECRET\r\nX-Other: 1"}}});
    ASSERT_FALSE(store.has_value()) << name;
    EXPECT_EQ(store.error().member(), std::string("storage_options.") + name);
    EXPECT_THAT(store.error().text(), Not(HasSubstr("SECRET")));
  }
  FaultProxy proxy;
  const Config config{.storage_options = {{"endpoint", proxy.url()}},
                      .credentials = [] { return Credentials{.bearer_token = "SECRET\r\nX-Other: 1"}; }};
  EXPECT_THAT(gcs_store(kUrl, config).value()->get("k").error().text(), HasSubstr("bearer token"));
  EXPECT_EQ(proxy.counts().requests, 0U);
}

TEST(GcsStore, RefusesATokenThatNamesAnotherWayToLogIn) {
  for (const char* const token :
       {"google_default", "cloud", "/home/me/key.json", "~/key", R"({"client_email": "SECRET"})"}) {
    const auto store = gcs_store(kUrl, {.storage_options = {{"token", token}}});
    ASSERT_FALSE(store.has_value()) << token;
    EXPECT_EQ(store.error().member(), "storage_options.token");
    EXPECT_THAT(store.error().text(), HasSubstr("OAuth access token"));
    EXPECT_THAT(store.error().text(), Not(HasSubstr("SECRET")));
  }
}

TEST(GcsStore, HasTheNamesOfFsspecForItsOptions) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  for (const std::map<std::string, std::string>& options : {std::map<std::string, std::string>{{"anon", "true"}},
                                                            {{"anonymous", "true"}},
                                                            {{"token", "anon"}},
                                                            {{"token", "T"}}}) {
    proxy.reset_counts();
    Config config{.storage_options = options};
    config.storage_options.emplace("endpoint_url", proxy.url());
    EXPECT_EQ(gcs_store(kUrl, config).value()->get("k").value(), "x");
    const std::string sent = header_value(proxy.requests().at(0).headers, "Authorization");
    EXPECT_EQ(sent, options.begin()->second == "T" ? "Bearer T" : "");
  }
  for (const std::map<std::string, std::string>& options :
       {std::map<std::string, std::string>{{"anon", "true"}, {"token", "T"}},
        {{"endpoint", "http://a"}, {"endpoint_url", "http://b"}},
        {{"bearer_token", "T"}, {"token", "U"}}})
    EXPECT_EQ(gcs_store(kUrl, {.storage_options = options}).error().code(), ErrorCode::invalid_argument);
}

TEST(GcsStore, AcceptsAnEndpointWithoutAScheme) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  const std::string host = "127.0.0.1:" + std::to_string(proxy.port()) + "/";
  EXPECT_EQ(gcs_store(kUrl, {.storage_options = {{"endpoint", host}}}).value()->get("k").value(), "x");
}

}  // namespace gcs_store_test
}  // namespace sherd::remote
