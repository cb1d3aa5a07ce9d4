#include "remote/aws_reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sherd::remote {
namespace aws_reply_test {

using testing::HasSubstr;
using testing::Not;

std::int64_t seconds_of(std::string_view text) {
  const auto time = parse_timestamp(text);
  EXPECT_TRUE(time) << text;
  return time ? std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count() : -1;
}

TEST(Timestamp, IsReadInEveryFormThatServicesWrite) {
  EXPECT_EQ(seconds_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(seconds_of("2026-11-28T21:30:05Z"), 1795901405);
  EXPECT_EQ(seconds_of("2026-11-28T21:30:05.123456Z"), 1795901405);
  EXPECT_EQ(seconds_of("2026-11-28T22:30:05+01:00"), 1795901405);
  EXPECT_EQ(seconds_of("2026-11-28T16:00:05-0530"), 1795901405);
  EXPECT_EQ(seconds_of("2026-11-28 21:30:05"), 1795901405);
  EXPECT_EQ(seconds_of("9999-12-31T23:59:59Z"), seconds_of("2200-01-01T00:00:00Z"));
}

TEST(Timestamp, IsRefusedUnlessItIsATime) {
  for (const char* const text :
       {"", "2026", "2026-11-28", "2026-13-28T21:30:05Z", "2026-02-30T21:30:05Z", "2026-11-28T24:30:05Z",
        "2026-11-28T21:60:05Z", "2026-11-28T21:30:05Zx", "2026-11-28T21:30:05+1", "1795901405", "1969-01-01T00:00:00Z",
        "-026-11-28T21:30:05Z", "2026-11-28T21:30:05 Z"})
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
}

TEST(CredentialsOfJson, HaveTheMembersOfEveryService) {
  const auto instance =
      credentials_of_json(R"({"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"A","SecretAccessKey":"S","Token":"T",)"
                          R"("Expiration":"2026-11-28T21:30:05Z"})");
  EXPECT_EQ(instance->key_id, "A");
  EXPECT_EQ(instance->secret_key, "S");
  EXPECT_EQ(instance->session_token, "T");
  EXPECT_EQ(instance->expires, parse_timestamp("2026-11-28T21:30:05Z"));
  const auto process =
      credentials_of_json(R"({"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "S", "SessionToken": "U"})");
  EXPECT_EQ(process->session_token, "U");
  EXPECT_EQ(process->expires, std::nullopt);
}

TEST(CredentialsOfJson, AreRefusedWithoutShowingTheText) {
  for (const char* const text :
       {"secret", "[\"secret\"]", R"({"AccessKeyId":"secret"})", R"({"AccessKeyId":1,"SecretAccessKey":"secret"})",
        R"({"Version":2,"AccessKeyId":"secret","SecretAccessKey":"secret"})",
        R"({"Code":"secret","AccessKeyId":"secret","SecretAccessKey":"secret"})",
        R"({"AccessKeyId":"secret","SecretAccessKey":"secret","Expiration":"secret"})",
        R"({"AccessKeyId":"","SecretAccessKey":"secret"})", ""}) {
    const auto credentials = credentials_of_json(text);
    ASSERT_FALSE(credentials) << text;
    EXPECT_EQ(credentials.error().code(), ErrorCode::io);
    EXPECT_THAT(credentials.error().text(), Not(HasSubstr("secret")));
  }
}

TEST(CredentialsOfSts, AreInTheReplyToAssumeRole) {
  const auto credentials = credentials_of_sts(
      "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><AssumedRoleUser>"
      "<Arn>a</Arn></AssumedRoleUser><Credentials>\n <AccessKeyId>A</AccessKeyId>\n "
      "<SecretAccessKey>S/+=</SecretAccessKey>"
      "<SessionToken>\nT==\n</SessionToken><Expiration>2026-11-28T21:30:05Z</Expiration></Credentials></"
      "AssumeRoleResult>"
      "</AssumeRoleResponse>");
  EXPECT_EQ(credentials->key_id, "A");
  EXPECT_EQ(credentials->secret_key, "S/+=");
  EXPECT_EQ(credentials->session_token, "T==");
  EXPECT_EQ(credentials->expires, parse_timestamp("2026-11-28T21:30:05Z"));
  for (const char* const text : {"", "<Credentials>", "<Credentials></Credentials>", "secret",
                                 "<Credentials><AccessKeyId>secret</AccessKeyId></Credentials>"}) {
    ASSERT_FALSE(credentials_of_sts(text)) << text;
    EXPECT_THAT(credentials_of_sts(text).error().text(), Not(HasSubstr("secret")));
  }
}

TEST(ErrorOfSts, HasItsCodeAndNoOtherText) {
  EXPECT_EQ(
      error_code_of_sts("<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>"),
      "AccessDenied");
  EXPECT_EQ(error_code_of_sts("<Code>not a code</Code>"), "");
  EXPECT_EQ(error_code_of_sts("<Code>" + std::string(65, 'a') + "</Code>"), "");
  EXPECT_EQ(error_code_of_sts("Service Unavailable"), "");
}

TEST(CheckedCredentials, HaveNoCharactersThatWouldEndAHeader) {
  EXPECT_TRUE(check_credentials({.key_id = "AKIA", .secret_key = "s\n", .session_token = "a+/="}));
  EXPECT_THAT(check_credentials({.key_id = "AK\r\nIA"}).error().text(), HasSubstr("key id"));
  EXPECT_THAT(check_credentials({.session_token = "a\nX: y"}).error().text(), HasSubstr("session token"));
  EXPECT_THAT(check_credentials({.bearer_token = "a b"}).error().text(), HasSubstr("bearer token"));
  EXPECT_FALSE(check_credentials({.key_id = "\xc3\xa4"}));
}

}  // namespace aws_reply_test
}  // namespace sherd::remote
