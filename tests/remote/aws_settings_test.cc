#include "remote/aws_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sherd::remote {
namespace aws_settings_test {

using testing::HasSubstr;
using testing::Not;

using Map = std::map<std::string, std::string>;

Environment environment_of(Map variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

AwsSources sources_of(Map variables, std::string_view config = {}) {
  AwsSources sources{.environment = environment_of(std::move(variables)), .config = {}, .profile = {}};
  parse_aws_file(config, AwsFile::config, sources.config).value();
  sources.profile = profile_in_use("", sources.environment);
  return sources;
}

AwsOptions options_of(Map options) { return take_aws_options(options).value(); }

Error refused(Map options) {
  const auto taken = take_aws_options(options);
  EXPECT_FALSE(taken);
  return taken ? Error(ErrorCode::io, "none") : taken.error();
}

S3Settings settings_of(const Map& options, const Map& variables, std::string_view config = {},
                       std::string_view url_region = {}) {
  return s3_settings(options_of(options), url_region, sources_of(variables, config)).value();
}

std::string url_of(const Map& options, std::string_view bucket) { return bucket_url(settings_of(options, {}), bucket); }

TEST(AwsOptions, AreTakenUnderBothNamesAndOthersAreLeft) {
  Map options{{"anon", "True"},          {"endpoint_url", "HTTP://LocalHost:9000/"},
              {"missing_status", "403"}, {"region", "r"},
              {"requester_pays", "1"},   {"addressing_style", "virtual"}};
  const AwsOptions taken = take_aws_options(options).value();
  EXPECT_EQ(taken.anonymous, true);
  EXPECT_EQ(taken.endpoint, "http://localhost:9000");
  EXPECT_EQ(taken.region, "r");
  EXPECT_TRUE(taken.requester_pays);
  EXPECT_EQ(taken.style, AddressingStyle::virtual_host);
  EXPECT_EQ(options, (Map{{"missing_status", "403"}}));
}

TEST(AwsOptions, WithWrongValuesAreRefusedByNameWithoutTheValue) {
  const Map wrong{{"anonymous", "secretly"},
                  {"anon", "secretly"},
                  {"endpoint_url", "host:9000"},
                  {"requester_pays", "secretly"},
                  {"addressing_style", "secretly"},
                  {"endpoint", "host:9000"},
                  {"secret", "secretly"},
                  {"key", "secretly"},
                  {"token", "secretly"},
                  {"region", "secretly.evil/"}};
  for (const auto& [name, value] : wrong) {
    Map options{{name, value}};
    auto taken = take_aws_options(options);
    const Error error = taken ? s3_settings(*taken, "", sources_of({})).error() : taken.error();
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << name;
    EXPECT_THAT(error.text(), HasSubstr(name));
    EXPECT_THAT(error.text(), Not(HasSubstr("secretly")));
  }
}

TEST(AwsOptions, ThatContradictEachOtherAreRefused) {
  EXPECT_THAT(refused({{"anon", "true"}, {"anonymous", "true"}}).text(), HasSubstr("anonymous and anon"));
  EXPECT_THAT(refused({{"anon", "true"}, {"key", "k"}, {"secret", "s"}}).text(), HasSubstr("option anon cannot"));
  EXPECT_THAT(refused({{"endpoint", "http://a"}, {"endpoint_url", "http://a"}}).text(), HasSubstr("endpoint_url"));
}

TEST(AwsOptions, NameAProfileThatExists) {
  const auto sources = aws_sources(options_of({{"profile", "nobody's"}}), environment_of({}));
  EXPECT_EQ(sources.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(sources.error().text(), HasSubstr("profile 'nobody's'"));
  EXPECT_EQ(aws_sources({}, environment_of({{"AWS_PROFILE", "absent"}})).value().profile, "absent");
}

TEST(AwsOptions, SayHowAProfileIsWrittenInTheConfigFile) {
  AwsConfig config;
  parse_aws_file("[unidata]\nregion = r-1\n", AwsFile::config, config).value();
  EXPECT_THAT(config.missing("unidata"), HasSubstr("must be [profile unidata]"));
  EXPECT_THAT(config.missing("other"), Not(HasSubstr("[profile")));
}

TEST(AwsRegion, IsTheFirstOneSaid) {
  const std::string_view config = "[default]\nregion = profile-1\n[profile p]\nregion = profile-2\n";
  const Map all{{"AWS_REGION", "env-1"}, {"AWS_DEFAULT_REGION", "env-2"}, {"AWS_PROFILE", "p"}};
  EXPECT_EQ(settings_of({{"region", "option-1"}}, all, config, "url-1").region, "option-1");
  EXPECT_EQ(settings_of({{"endpoint", "https://s3.eu-west-3.amazonaws.com"}}, all, config, "url-1").region, "url-1");
  EXPECT_EQ(settings_of({{"endpoint", "https://s3.eu-west-3.amazonaws.com"}}, all, config).region, "eu-west-3");
  EXPECT_EQ(settings_of({}, all, config).region, "env-1");
  EXPECT_EQ(settings_of({}, {{"AWS_DEFAULT_REGION", "env-2"}, {"AWS_PROFILE", "p"}}, config).region, "env-2");
  EXPECT_EQ(settings_of({}, {{"AWS_PROFILE", "p"}}, config).region, "profile-2");
  EXPECT_EQ(settings_of({}, {}, config).region, "profile-1");
  EXPECT_TRUE(settings_of({}, {}, config).is_region_known);
  EXPECT_EQ(settings_of({}, {}).region, "us-east-1");
  EXPECT_FALSE(settings_of({}, {}).is_region_known);
}

TEST(AwsRegion, ThatCouldNameAnotherHostIsRefused) {
  const auto settings = s3_settings({}, "", sources_of({{"AWS_REGION", "x.evil.org/"}}));
  EXPECT_EQ(settings.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(settings.error().text(), HasSubstr("AWS_REGION"));
}

TEST(AwsRegion, IsFoundInHostsOfS3) {
  EXPECT_EQ(region_of_host("s3.us-west-2.amazonaws.com"), "us-west-2");
  EXPECT_EQ(region_of_host("s3-us-west-2.amazonaws.com:443"), "us-west-2");
  EXPECT_EQ(region_of_host("a.b.s3.us-gov-west-1.amazonaws.com"), "us-gov-west-1");
  EXPECT_EQ(region_of_host("b.s3-eu-west-1.amazonaws.com"), "eu-west-1");
  EXPECT_EQ(region_of_host("s3.dualstack.us-west-2.amazonaws.com"), "us-west-2");
  EXPECT_EQ(region_of_host("s3-fips.us-west-2.amazonaws.com"), "us-west-2");
  EXPECT_EQ(region_of_host("s3.cn-north-1.amazonaws.com.cn"), "cn-north-1");
  EXPECT_EQ(region_of_host("s3.amazonaws.com"), "");
  EXPECT_EQ(region_of_host("b.s3.amazonaws.com"), "");
  EXPECT_EQ(region_of_host("b.s3-accelerate.amazonaws.com"), "");
  EXPECT_EQ(region_of_host("s3.us-west-2.example.org"), "");
  EXPECT_EQ(region_of_host(""), "");
}

TEST(AwsEndpoint, IsTheFirstOneConfigured) {
  const std::string_view config =
      "[default]\nservices = local\nendpoint_url = http://profile\n[services local]\ns3 =\n  endpoint_url = "
      "http://services\n"
      "[profile bare]\nendpoint_url = http://bare\n";
  const Map all{{"AWS_ENDPOINT_URL_S3", "http://s3"}, {"AWS_ENDPOINT_URL", "http://all"}};
  EXPECT_EQ(settings_of({{"endpoint", "http://option"}}, all, config).endpoint, "http://option");
  EXPECT_EQ(settings_of({}, all, config).endpoint, "http://s3");
  EXPECT_EQ(settings_of({}, {{"AWS_ENDPOINT_URL", "http://all"}}, config).endpoint, "http://all");
  EXPECT_EQ(settings_of({}, {}, config).endpoint, "http://services");
  EXPECT_EQ(settings_of({}, {{"AWS_PROFILE", "bare"}}, config).endpoint, "http://bare");
  EXPECT_EQ(settings_of({}, {{"AWS_PROFILE", "absent"}}, config).endpoint, "");
  EXPECT_EQ(configured_endpoint("sts", sources_of({}, config)).value(), "http://profile");
  EXPECT_EQ(configured_endpoint("sts", sources_of({{"AWS_ENDPOINT_URL_STS", "http://sts"}}, config)).value(),
            "http://sts");
}

TEST(AwsEndpoint, OfTheConfigurationCanBeIgnored) {
  const Map ignored{{"AWS_ENDPOINT_URL", "http://all"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}};
  EXPECT_EQ(settings_of({}, ignored).endpoint, "");
  EXPECT_EQ(settings_of({{"endpoint", "http://option"}}, ignored).endpoint, "http://option");
  const std::string_view config = "[default]\nendpoint_url = http://x\nignore_configured_endpoint_urls = true\n";
  EXPECT_EQ(settings_of({}, {}, config).endpoint, "");
}

TEST(AwsEndpoint, IsRefusedUnlessItIsAUrlOfAHost) {
  for (const char* const url : {"localhost:9000", "ftp://h", "http://", "https:///p", "http://u:p@h", "http://h?q",
                                "http://h#f", "http://h h", "http://h\r\nX: y", ""}) {
    const auto endpoint = normal_endpoint(url, "AWS_ENDPOINT_URL");
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(endpoint.error().text(), HasSubstr("AWS_ENDPOINT_URL"));
  }
  EXPECT_EQ(normal_endpoint("https://[FD00::1]:7480/Prefix//", "x").value(), "https://[fd00::1]:7480/Prefix");
}

TEST(BucketUrl, IsAVirtualHostAtAwsAndAPathElsewhere) {
  EXPECT_EQ(url_of({}, "bucket"), "https://bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(url_of({{"region", "cn-north-1"}}, "bucket"), "https://bucket.s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(url_of({}, "a.bucket"), "https://s3.us-east-1.amazonaws.com/a.bucket");
  EXPECT_EQ(url_of({}, "Old_Bucket"), "https://s3.us-east-1.amazonaws.com/Old_Bucket");
  EXPECT_EQ(url_of({{"endpoint", "http://127.0.0.1:9000/"}}, "bucket"), "http://127.0.0.1:9000/bucket");
  EXPECT_EQ(url_of({{"endpoint", "https://h/prefix"}}, "bucket"), "https://h/prefix/bucket");
  EXPECT_EQ(url_of({{"endpoint", "https://s3.eu-west-1.amazonaws.com"}}, "bucket"),
            "https://bucket.s3.eu-west-1.amazonaws.com");
}

TEST(BucketUrl, HasTheStyleThatWasAskedFor) {
  EXPECT_EQ(url_of({{"addressing_style", "path"}}, "bucket"), "https://s3.us-east-1.amazonaws.com/bucket");
  EXPECT_EQ(url_of({{"addressing_style", "virtual"}, {"endpoint", "http://h:90/p"}}, "b.c"), "http://b.c.h:90/p");
  EXPECT_EQ(url_of({{"addressing_style", "AUTO"}}, "bucket"), "https://bucket.s3.us-east-1.amazonaws.com");
  const std::string_view config = "[default]\ns3 =\n  addressing_style = path\n";
  EXPECT_EQ(settings_of({}, {}, config).style, AddressingStyle::path);
  EXPECT_EQ(settings_of({{"addressing_style", "auto"}}, {}, config).style, AddressingStyle::automatic);
  const auto wrong = s3_settings({}, "", sources_of({}, "[default]\ns3 =\n  addressing_style = x\n"));
  EXPECT_THAT(wrong.error().text(), HasSubstr("profile 'default'"));
}

TEST(AwsCaBundle, IsTheFirstOneNamed) {
  const std::string_view config = "[default]\nca_bundle = ~/profile.pem\n";
  const Map all{{"AWS_CA_BUNDLE", "/env.pem"}, {"HOME", "/home/me"}};
  EXPECT_EQ(settings_of({{"ca_bundle", "/option.pem"}}, all, config).ca_bundle, "/option.pem");
  EXPECT_EQ(settings_of({}, all, config).ca_bundle, "/env.pem");
  EXPECT_EQ(settings_of({}, {{"HOME", "/home/me"}}, config).ca_bundle, "/home/me/profile.pem");
  EXPECT_EQ(settings_of({}, {}).ca_bundle, "");
}

}  // namespace aws_settings_test
}  // namespace sherd::remote
