#include "remote/aws_credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "remote/aws_metadata.hpp"
#include "tests/remote/aws_fakes.hpp"
#include "tests/remote/scoped_variable.hpp"

namespace sherd::remote {
namespace aws_credentials_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class AwsCredentials : public testing::Test {
 protected:
  AwsCredentials() : home(testing::UnitTest::GetInstance()->current_test_info()->name()) {
    access.environment = home.environment();
    access.fetch = aws.fetch();
  }

  void config(const std::string& text) { home.write(".aws/config", text); }
  [[nodiscard]] std::string key_id() const {
    const auto found = find_aws_credentials(access);
    return found ? found->key_id : found.error().text();
  }
  [[nodiscard]] Error error() const {
    const auto found = find_aws_credentials(access);
    EXPECT_FALSE(found);
    return found ? Error(ErrorCode::io, "none") : found.error();
  }
  void use_environment() {
    home.variables["AWS_ACCESS_KEY_ID"] = "ENVIRONMENT";
    home.variables["AWS_SECRET_ACCESS_KEY"] = "SECRET";
  }
  void use_web_identity() {
    home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = home.write("token", "WEB TOKEN\n");
    home.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/web";
  }
  void use_container() { home.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/credentials"; }
  void use_instance() { home.variables.erase("AWS_EC2_METADATA_DISABLED"); }

  FakeHome home;
  FakeAws aws;
  AwsAccess access;
};

TEST_F(AwsCredentials, AreTheFirstOnesConfigured) {
  use_instance();
  EXPECT_THAT(key_id(), StartsWith("INSTANCE"));
  use_container();
  EXPECT_THAT(key_id(), StartsWith("CONTAINER"));
  config("[default]\naws_access_key_id = PROFILE\naws_secret_access_key = SECRET\n");
  EXPECT_EQ(key_id(), "PROFILE");
  use_web_identity();
  EXPECT_THAT(key_id(), StartsWith("WEB"));
  use_environment();
  EXPECT_EQ(key_id(), "ENVIRONMENT");
  access.callback = [] { return Credentials{.key_id = "CALLBACK", .secret_key = "SECRET"}; };
  EXPECT_EQ(key_id(), "CALLBACK");
  access.options.credentials = {.key_id = "OPTION", .secret_key = "SECRET"};
  EXPECT_EQ(key_id(), "OPTION");
}

TEST_F(AwsCredentials, OfNobodyAreAnErrorThatListsWhatWasTried) {
  const Error none = error();
  EXPECT_EQ(none.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(none.message(),
            "no credentials for S3; set option anonymous=true if the data is public. These were tried:\n"
            "  options: no key and secret\n"
            "  environment: AWS_ACCESS_KEY_ID is not set\n"
            "  web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set\n"
            "  profile 'default': is not in the AWS configuration files\n"
            "  container: neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor ..._FULL_URI is set\n"
            "  instance: AWS_EC2_METADATA_DISABLED is true");
  EXPECT_THAT(aws.requests, IsEmpty());
  use_instance();
  aws.is_reachable = false;
  config("[default]\nregion = us-east-1\n");
  EXPECT_THAT(error().message(),
              AllOf(HasSubstr("profile 'default': has no credentials"), HasSubstr("instance: timed out")));
}

TEST_F(AwsCredentials, AreNotLookedForElsewhereIfTheConfiguredOnesFail) {
  use_instance();
  use_container();
  use_web_identity();
  aws.refusals["sts"] = 403;
  const Error refused = error();
  EXPECT_EQ(refused.code(), ErrorCode::io);
  EXPECT_EQ(refused.text(), "web identity: STS refused with status 403 AccessDenied");
  home.variables.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  aws.refusals["169.254.170.2"] = 500;
  EXPECT_EQ(error().text(), "container: the container's endpoint answered with status 500");
  EXPECT_EQ(aws.requests.size(), 2U);
}

TEST_F(AwsCredentials, ThatAreIncompleteAreRefused) {
  home.variables["AWS_ACCESS_KEY_ID"] = "ENVIRONMENT";
  EXPECT_THAT(error().text(), HasSubstr("AWS_SECRET_ACCESS_KEY is not"));
  home.variables.erase("AWS_ACCESS_KEY_ID");
  home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "token";
  EXPECT_THAT(error().text(), HasSubstr("AWS_ROLE_ARN is not"));
  home.variables.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  config("[default]\naws_access_key_id = PROFILE\n");
  EXPECT_THAT(error().text(), HasSubstr("profile 'default': it has only one of"));
  access.callback = [] { return Credentials{.bearer_token = "SECRET"}; };
  EXPECT_THAT(error().text(), HasSubstr("callback returned no key id"));
}

TEST_F(AwsCredentials, ThatDoNotFitIntoAHeaderAreRefused) {
  use_environment();
  home.variables["AWS_ACCESS_KEY_ID"] = "A\r\nX-Other: 1";
  EXPECT_THAT(error().text(), AllOf(HasSubstr("key id"), Not(HasSubstr("X-Other"))));
}

TEST_F(AwsCredentials, AreTheProfilesAloneIfAnOptionNamesIt) {
  use_environment();
  use_container();
  config("[profile a]\naws_access_key_id = A\naws_secret_access_key = SECRET\n[profile empty]\nregion = x\n");
  access.options.profile = "a";
  EXPECT_EQ(key_id(), "A");
  access.options.profile = "empty";
  EXPECT_THAT(error().text(), HasSubstr("profile 'empty': has no credentials"));
  access.options.profile = "absent";
  EXPECT_THAT(error().text(), HasSubstr("profile 'absent'"));
}

TEST_F(AwsCredentials, OfAProfileThatDoesNotExistAreNotReplacedByOthers) {
  use_container();
  home.variables["AWS_PROFILE"] = "absent";
  EXPECT_EQ(error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error().text(), HasSubstr("AWS_PROFILE names profile 'absent'"));
}

TEST_F(AwsCredentials, NeverLookLikeAnObjectThatIsAbsent) {
  access.callback = []() -> Result<Credentials> { return not_found("no such secret"); };
  EXPECT_EQ(error().code(), ErrorCode::io);
}

TEST_F(AwsCredentials, AreReadAgainFromFilesAtEachCall) {
  config("[default]\naws_access_key_id = A\naws_secret_access_key = SECRET\n");
  EXPECT_EQ(key_id(), "A");
  config("[default]\naws_access_key_id = B\naws_secret_access_key = SECRET\n");
  EXPECT_EQ(key_id(), "B");
}

TEST_F(AwsCredentials, AreNeverPartOfAnError) {
  home.write(".aws/credentials", "[default]\naws_access_key_id = A\naws_secret_access_key = SECRET\n");
  config("[default]\nrole_arn = arn\nsource_profile = default\n");
  use_container();
  for (const char* const part : {"sts", "169.254"}) aws.refusals[part] = 500;
  EXPECT_THAT(error().text(), Not(HasSubstr("SECRET")));
  home.write(".aws/credentials", "");
  EXPECT_THAT(error().text(), Not(HasSubstr("SECRET")));
}

TEST_F(AwsCredentials, OfARoleAreRefreshedBeforeTheyExpire) {
  use_container();
  CredentialCache cache([this] { return find_aws_credentials(access); }, [this] { return aws.now; });
  EXPECT_EQ(cache.get()->key_id, "CONTAINER1");
  aws.now += std::chrono::minutes(54);
  EXPECT_EQ(cache.get()->key_id, "CONTAINER1");
  aws.now += std::chrono::minutes(1);
  EXPECT_EQ(cache.get()->key_id, "CONTAINER2");
  aws.refusals["169.254"] = 500;
  aws.now += std::chrono::minutes(56);
  EXPECT_EQ(cache.get()->key_id, "CONTAINER2");
  aws.now += std::chrono::minutes(5);
  EXPECT_FALSE(cache.get());
}

TEST_F(AwsCredentials, AreOnlyMissingIfAnonymousAccessIsAskedFor) {
  EXPECT_FALSE(is_anonymous_access(access));
  home.variables["AWS_NO_SIGN_REQUEST"] = "YES";
  EXPECT_TRUE(is_anonymous_access(access));
  access.options.anonymous = false;
  EXPECT_FALSE(is_anonymous_access(access));
  access.options.anonymous.reset();
  access.options.profile = "p";
  EXPECT_FALSE(is_anonymous_access(access));
  access.options.profile.clear();
  access.options.credentials.key_id = "k";
  EXPECT_FALSE(is_anonymous_access(access));
  access.options.credentials = {};
  access.callback = [] { return Credentials{}; };
  EXPECT_FALSE(is_anonymous_access(access));
  access.options.anonymous = true;
  EXPECT_TRUE(is_anonymous_access(access));
}

TEST_F(AwsCredentials, OfWebIdentityUseTheTokenInTheFile) {
  use_web_identity();
  home.variables["AWS_ROLE_SESSION_NAME"] = "my session";
  EXPECT_EQ(key_id(), "WEB1");
  EXPECT_EQ(aws.requests[0].url, "https://sts.amazonaws.com/");
  EXPECT_EQ(aws.requests[0].body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fweb&"
            "RoleSessionName=my%20session&WebIdentityToken=WEB%20TOKEN");
  home.write("token", "RENEWED");
  access.region = "cn-north-1";
  EXPECT_EQ(key_id(), "WEB2");
  EXPECT_EQ(aws.requests[1].url, "https://sts.cn-north-1.amazonaws.com.cn/");
  EXPECT_THAT(aws.requests[1].body, HasSubstr("WebIdentityToken=RENEWED"));
  home.variables["AWS_ENDPOINT_URL_STS"] = "http://sts.local:1/";
  EXPECT_EQ(key_id(), "WEB3");
  EXPECT_EQ(aws.requests[2].url, "http://sts.local:1/");
  home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/absent/token";
  EXPECT_EQ(error().code(), ErrorCode::io);
}

TEST_F(AwsCredentials, OfARoleComeFromItsSource) {
  config(
      "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = SECRET\naws_session_token = BASESESSION\n"
      "[profile middle]\nrole_arn = arn:middle\nsource_profile = base\n"
      "[profile top]\nrole_arn = arn:top\nsource_profile = middle\nexternal_id = ex\nrole_session_name = me\n"
      "duration_seconds = 900\n"
      "[profile self]\nrole_arn = arn:self\nsource_profile = self\naws_access_key_id = SELF\n"
      "aws_secret_access_key = SECRET\n");
  access.region = "eu-west-1";
  access.options.profile = "top";
  EXPECT_EQ(key_id(), "ROLE2");
  ASSERT_EQ(aws.requests.size(), 2U);
  EXPECT_EQ(aws.requests[0].url, "https://sts.eu-west-1.amazonaws.com/");
  EXPECT_THAT(aws.requests[0].body, HasSubstr("RoleArn=arn%3Amiddle&RoleSessionName=sherd-1795901405"));
  EXPECT_THAT(*find_header(aws.requests[0].headers, "Authorization"),
              HasSubstr("Credential=BASE/20261128/eu-west-1/sts/aws4_request"));
  EXPECT_EQ(*find_header(aws.requests[0].headers, "x-amz-security-token"), "BASESESSION");
  EXPECT_THAT(aws.requests[1].body,
              HasSubstr("RoleArn=arn%3Atop&RoleSessionName=me&ExternalId=ex&DurationSeconds=900"));
  EXPECT_THAT(*find_header(aws.requests[1].headers, "Authorization"), HasSubstr("Credential=ROLE1/"));
  access.options.profile = "self";
  EXPECT_EQ(key_id(), "ROLE3");
  EXPECT_THAT(*find_header(aws.requests[2].headers, "Authorization"), HasSubstr("Credential=SELF/"));
}

TEST_F(AwsCredentials, OfARoleMayComeFromThePlaceOfTheMachine) {
  use_environment();
  use_container();
  use_instance();
  const auto signer = [&](const std::string& place) {
    config("[profile p]\nrole_arn = arn\ncredential_source = " + place + "\n");
    access.options.profile = "p";
    EXPECT_THAT(key_id(), StartsWith("ROLE")) << place;
    const std::string* const authorization = find_header(aws.requests.back().headers, "Authorization");
    return authorization != nullptr ? *authorization : "(absent)";
  };
  EXPECT_THAT(signer("Environment"), HasSubstr("Credential=ENVIRONMENT/"));
  EXPECT_THAT(signer("EcsContainer"), HasSubstr("Credential=CONTAINER"));
  EXPECT_THAT(signer("Ec2InstanceMetadata"), HasSubstr("Credential=INSTANCE"));
}

TEST_F(AwsCredentials, OfARoleWithWebIdentityAreThoseOfItsToken) {
  home.write("token", "T");
  config("[profile p]\nrole_arn = arn\nweb_identity_token_file = ~/token\n");
  access.options.profile = "p";
  EXPECT_EQ(key_id(), "WEB1");
}

TEST_F(AwsCredentials, OfARoleThatCannotBeAssumedAreRefusedByName) {
  access.options.profile = "p";
  const auto refused = [&](const std::string& settings) {
    config("[profile p]\nrole_arn = arn\n" + settings +
           "[profile q]\nrole_arn = arn\nsource_profile = p\n[profile none]\n");
    const Error refusal = error();
    EXPECT_THAT(refusal.text(), StartsWith("profile 'p': ")) << settings;
    return refusal.text();
  };
  EXPECT_THAT(refused(""), HasSubstr("either source_profile or credential_source"));
  EXPECT_THAT(refused("source_profile = q\ncredential_source = Environment\n"), HasSubstr("either"));
  EXPECT_THAT(refused("source_profile = q\n"), HasSubstr("leads back"));
  EXPECT_THAT(refused("source_profile = p\n"), HasSubstr("source_profile 'p' has no credentials"));
  EXPECT_THAT(refused("source_profile = none\n"), HasSubstr("source_profile 'none' has no credentials"));
  EXPECT_THAT(refused("source_profile = absent\n"), HasSubstr("source_profile 'absent' has no credentials"));
  EXPECT_THAT(refused("credential_source = Environment\n"), HasSubstr("credential_source Environment has no"));
  EXPECT_THAT(refused("credential_source = Moon\n"), HasSubstr("must be Environment"));
  EXPECT_THAT(refused("source_profile = p\nmfa_serial = arn\n"),
              HasSubstr("(mfa_serial) are not supported; AWS's command asks for it: eval \"$(aws configure "
                        "export-credentials --format env --profile p)\""));
}

TEST_F(AwsCredentials, OfIdentityCenterAreRefusedWithWhatToDo) {
  config("[default]\nsso_session = s\nsso_account_id = 1\n");
  EXPECT_EQ(error().code(), ErrorCode::unsupported);
  EXPECT_THAT(error().text(), HasSubstr("aws configure export-credentials --profile default"));
}

TEST_F(AwsCredentials, MayBePrintedByACommand) {
  const std::string json =
      R"({"Version": 1, "AccessKeyId": "PRINTED", "SecretAccessKey": "SECRET", "Expiration": "2026-11-28T22:30:05Z"})";
  config("[default]\ncredential_process = cat '" + home.write("a file; echo", json) + "'\n");
  EXPECT_EQ(key_id(), "PRINTED");
  EXPECT_EQ(find_aws_credentials(access)->expires, aws.now + std::chrono::hours(1));
  config("[default]\ncredential_process = sh -c 'echo SECRET; exit 3'\n");
  EXPECT_EQ(error().text(), "profile 'default': credential_process: 'sh' failed with exit code 3");
  config("[default]\ncredential_process = echo SECRET\n");
  EXPECT_EQ(error().text(), "profile 'default': credential_process: the reply is not a JSON object");
}

TEST_F(AwsCredentials, OfAnInstanceNeedATokenAndARole) {
  use_instance();
  EXPECT_EQ(key_id(), "INSTANCE1");
  ASSERT_EQ(aws.requests.size(), 3U);
  EXPECT_EQ(aws.requests[0].method, "PUT");
  EXPECT_EQ(aws.requests[0].url, "http://169.254.169.254/latest/api/token");
  aws.role = "";
  EXPECT_THAT(error().text(), HasSubstr("instance: the list of roles answered with status 404"));
  aws.refusals["/latest/api/token"] = 403;
  EXPECT_THAT(error().text(), HasSubstr("instance: the token service answered with status 403"));
}

TEST_F(AwsCredentials, OfAnInstanceMayComeFromAnotherAddress) {
  use_instance();
  home.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"] = "IPv6";
  EXPECT_EQ(key_id(), "INSTANCE1");
  EXPECT_THAT(aws.requests.back().url, StartsWith("http://[fd00:ec2::254]/latest/"));
  home.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1338/";
  EXPECT_EQ(key_id(), "INSTANCE2");
  EXPECT_THAT(aws.requests.back().url, StartsWith("http://127.0.0.1:1338/latest/"));
  home.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "elsewhere";
  EXPECT_EQ(error().code(), ErrorCode::invalid_argument);
}

TEST_F(AwsCredentials, OfAContainerHaveItsTokenReadEachTime) {
  home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials";
  home.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "unused";
  home.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = home.write("token", "Basic one\n");
  aws.container_token = "Basic one";
  EXPECT_EQ(key_id(), "CONTAINER1");
  home.write("token", "two");
  aws.container_token = "two";
  EXPECT_EQ(key_id(), "CONTAINER2");
  home.variables.erase("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  EXPECT_THAT(error().text(), HasSubstr("status 401"));
  home.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "a\r\nX: SECRET";
  EXPECT_THAT(error().text(), AllOf(HasSubstr("headers do not allow"), Not(HasSubstr("SECRET"))));
}

TEST_F(AwsCredentials, OfAContainerAreNotAskedForAtOtherHosts) {
  home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://evil.example.org/credentials";
  EXPECT_EQ(error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(aws.requests, IsEmpty());
}

TEST_F(AwsCredentials, AreSharedByStoresThatFindTheSameOnes) {
  const auto key = [&] { return key_of(access, aws_sources(access.options, access.environment).value()); };
  config("[default]\ncredential_process = one\n[profile other]\nregion = eu-west-1\n");
  std::vector<std::string> keys{key()};
  EXPECT_EQ(key(), keys.back());
  config("[default]\ncredential_process = two\n[profile other]\nregion = eu-west-1\n");
  keys.push_back(key());
  access.options.profile = "other";
  keys.push_back(key());
  access.region = "eu-west-1";
  keys.push_back(key());
  const ScopedVariable variable("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
  keys.push_back(key());
  access.callback = CredentialFunction{.ask = {}, .identity = &access};
  keys.push_back(key());
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
  access.callback = [] { return Result<Credentials>(Credentials()); };
  EXPECT_EQ(key(), "");
  access.options.credentials = {.key_id = "k", .secret_key = "s"};
  EXPECT_EQ(key(), "") << "they are there already";
}

TEST(ContainerEndpoint, IsTlsOrAnAddressOfTheMachine) {
  for (const char* const url : {"https://example.org/c", "http://127.0.0.1/c", "http://127.255.0.1:8080",
                                "http://localhost:80/c", "http://[::1]:1/c", "http://169.254.170.2/c",
                                "http://169.254.170.23/v1", "http://[fd00:ec2::23]/c", "HTTP://LOCALHOST/c"})
    EXPECT_TRUE(is_container_endpoint(url)) << url;
  for (const char* const url :
       {"", "ftp://127.0.0.1", "http://", "http://example.org", "http://127.evil.org", "http://127.0.0.1.evil.org",
        "http://127.0.0.1@evil.org", "http://169.254.169.254/c", "http://127.0.0.1\\@evil.org", "http://[fd00::1]/",
        "http://127.0.0.1/c d", "https://u:p@example.org", "127.0.0.1", "http://1270.0.0.1",
        "http://127.0.0.1?@evil.org"})
    EXPECT_FALSE(is_container_endpoint(url)) << url;
}

}  // namespace aws_credentials_test
}  // namespace sherd::remote
