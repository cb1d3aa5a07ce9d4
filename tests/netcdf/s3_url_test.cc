#include "netcdf/s3_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace sherd::netcdf {
namespace s3_url_test {

using testing::HasSubstr;

using Map = std::map<std::string, std::string>;

ParsedUrl parse(std::string_view text) {
  static constexpr std::array<std::string_view, 4> stores = {"file", "http", "https", "s3"};
  static constexpr std::array<std::string_view, 1> layers = {"zip"};
  const UrlWords words{.stores = stores, .layers = layers, .formats = {}, .is_fragment = is_url_fragment};
  return read_fragment(parse_store_url(text, words).value()).value();
}

S3Files files_of(std::string_view rc, std::string_view config, std::string profile = "default") {
  S3Files files;
  files.rc.add(rc);
  remote::parse_aws_file(config, remote::AwsFile::config, files.config).value();
  files.profile = std::move(profile);
  return files;
}

struct Case {
  const char* url;
  const char* place;  ///< bucket and path; nullptr: not on S3
  Map options;
  const char* rc = "";
  const char* config = "";
  const char* profile = "default";  ///< of the environment
};

void PrintTo(const Case& each, std::ostream* to) { *to << each.url; }

class S3Urls : public testing::TestWithParam<Case> {};

TEST_P(S3Urls, NameAPlaceAndItsOptions) {
  const Case& each = GetParam();
  const auto dataset = s3_dataset(parse(each.url), files_of(each.rc, each.config, each.profile)).value();
  ASSERT_EQ(dataset.has_value(), each.place != nullptr);
  if (!dataset) return;
  EXPECT_EQ(dataset->place.scheme, "s3");
  EXPECT_EQ(dataset->place.host + dataset->place.path, each.place);
  EXPECT_EQ(dataset->place.port, "");
  EXPECT_EQ(dataset->options, each.options);
}

constexpr const char* kDefaultKeys = "[default]\naws_access_key_id = k\naws_secret_access_key = s\n[profile p]\n";
constexpr const char* kRegions = "[default]\naws_region = default-1\nregion = sdk-1\n[profile p]\naws_region = p-1\n";

// The examples of netCDF's documentation of NCZarr.
INSTANTIATE_TEST_SUITE_P(
    OfTheDocumentation, S3Urls,
    testing::Values(
        Case{"file:///home/user/dataset.file#mode=nczarr,file", nullptr, {}},
        Case{"file:///home/user/dataset.zip#mode=nczarr,zip", nullptr, {}},
        Case{"s3://s3.us-west-1.amazonaws.com/datasetbucket", "datasetbucket", {{"region", "us-west-1"}}},
        Case{"s3://s3.uswest-1.amazonaws.com/datasetbucket#mode=zarr", "datasetbucket", {{"region", "uswest-1"}}},
        Case{"s3://datasetbucket/rootkey#mode=nczarr,awsprofile=unidata",
             "datasetbucket/rootkey",
             {{"profile", "unidata"}}},
        Case{"https://s2.us-east-2.amazonaws.com/datasetbucket/rootkey#mode=nczarr,awsprofile=unidata",
             "datasetbucket/rootkey",
             {{"profile", "unidata"}, {"region", "us-east-2"}}},
        Case{"https://s3.us-east-1.amazonaws.com/noaa-goes16/ABI/2017/OR.nc#mode=bytes", nullptr, {}}));

INSTANTIATE_TEST_SUITE_P(
    OfHosts, S3Urls,
    testing::Values(Case{"s3://bucket/a/b", "bucket/a/b", {}},
                    Case{"s3://my.dotted.bucket/a", "my.dotted.bucket/a", {}}, Case{"s3:///bucket/a", "bucket/a", {}},
                    Case{"s3://bucket", "bucket", {}}, Case{"s3://bucket/x.nc#mode=bytes", "bucket/x.nc", {}},
                    Case{"s3://b.s3.eu-west-1.amazonaws.com/a", "b/a", {{"region", "eu-west-1"}}},
                    Case{"s3://127.0.0.1:9000/b/a", "b/a", {{"endpoint", "https://127.0.0.1:9000"}}},
                    Case{"https://s3.eu-west-1.amazonaws.com/b/a#mode=nczarr,s3", "b/a", {{"region", "eu-west-1"}}},
                    Case{"https://s3.eu-west-1.amazonaws.com/b/a#mode=zarr", "b/a", {{"region", "eu-west-1"}}},
                    Case{"https://b.s3.eu-west-1.amazonaws.com/a/c#mode=nczarr,s3", "b/a/c", {{"region", "eu-west-1"}}},
                    Case{"https://x.s3.y.s3.eu-west-1.amazonaws.com/a#s3", "x.s3.y/a", {{"region", "eu-west-1"}}},
                    Case{"https://b.s3-us-west-2.amazonaws.com/a#zarr", "b/a", {{"region", "us-west-2"}}},
                    Case{"https://s3.dualstack.us-west-2.amazonaws.com/b/a#zarr", "b/a", {{"region", "us-west-2"}}},
                    Case{"https://s3.cn-north-1.amazonaws.com.cn/b/a#zarr", "b/a", {{"region", "cn-north-1"}}},
                    Case{"https://s3.amazonaws.com/b/a#mode=nczarr,s3", "b/a", {}},
                    Case{"https://b.s3.amazonaws.com/a#mode=nczarr,s3", "b/a", {}},
                    Case{"https://minio.example.org:9000/b/a#mode=nczarr,s3",
                         "b/a",
                         {{"endpoint", "https://minio.example.org:9000"}}},
                    Case{"http://127.0.0.1:9000/b/a#mode=zarr,s3", "b/a", {{"endpoint", "http://127.0.0.1:9000"}}},
                    Case{"http://[::1]:9000/b/a#mode=zarr,s3", "b/a", {{"endpoint", "http://[::1]:9000"}}},
                    Case{"https://example.org/b/a#mode=nczarr", nullptr, {}},
                    Case{"https://example.org/b/a", nullptr, {}},
                    Case{"https://s3.eu-west-1.amazonaws.com/b/a", nullptr, {}},
                    Case{
                        "https://s3.eu-west-1.amazonaws.com/b/a%2Fc#mode=zarr", "b/a%2Fc", {{"region", "eu-west-1"}}}));

// Appendix E: fragment, rc file, default; `none` is anonymous. The region of the host comes first.
INSTANTIATE_TEST_SUITE_P(
    OfProfilesAndRegions, S3Urls,
    testing::Values(
        Case{"s3://b/a#aws.profile=f", "b/a", {{"profile", "f"}}, "AWS.PROFILE=r\n"},
        Case{"s3://b/a#awsprofile=f", "b/a", {{"profile", "f"}}, "AWS.PROFILE=r\n"},
        Case{"s3://b/a#AWS.Profile=F", "b/a", {{"profile", "F"}}},
        Case{"s3://b/a", "b/a", {{"profile", "r"}}, "AWS.PROFILE=r\n"},
        Case{"s3://b/a#aws.profile=none", "b/a", {{"anonymous", "true"}}, "", kRegions},
        Case{"s3://b/a#aws.profile=no", "b/a", {{"anonymous", "true"}}},
        Case{"s3://b/a", "b/a", {{"anonymous", "true"}}, "AWS.PROFILE=none\n"},
        Case{"s3://b/a#aws.profile=p", "b/a", {{"profile", "p"}}, "AWS.PROFILE=none\n"},
        Case{"s3://b/a", "b/a", {{"profile", "default"}}, "", kDefaultKeys},
        Case{"s3://b/a", "b/a", {{"profile", "r"}}, "AWS.PROFILE=r\n", kDefaultKeys},
        Case{"s3://b/a#aws.profile=none", "b/a", {{"anonymous", "true"}}, "", kDefaultKeys},
        Case{"s3://b/a", "b/a", {}, "", kDefaultKeys, "p"},
        Case{"s3://b/a#aws.region=f-1", "b/a", {{"region", "f-1"}}, "AWS.REGION=r-1\n", kRegions},
        Case{"s3://b/a#awsregion=f-1", "b/a", {{"region", "f-1"}}},
        Case{"s3://b/a", "b/a", {{"region", "default-1"}}, "AWS.REGION=r-1\n", kRegions},
        Case{"s3://b/a", "b/a", {{"region", "p-1"}}, "AWS.REGION=r-1\n", kRegions, "p"},
        Case{"s3://b/a#aws.profile=p", "b/a", {{"profile", "p"}, {"region", "p-1"}}, "", kRegions},
        Case{"s3://b/a#aws.profile=q", "b/a", {{"profile", "q"}, {"region", "r-1"}}, "AWS.REGION=r-1\n", kRegions},
        Case{"s3://b/a#aws.profile=none",
             "b/a",
             {{"anonymous", "true"}, {"region", "r-1"}},
             "AWS.REGION=r-1\n",
             kRegions},
        Case{"s3://b/a", "b/a", {{"region", "r-1"}}, "AWS.REGION=r-1\n"},
        Case{"https://s3.host-1.amazonaws.com/b/a#mode=nczarr,s3&aws.region=f-1",
             "b/a",
             {{"region", "host-1"}},
             "AWS.REGION=r-1\n",
             kRegions},
        Case{"https://s3.amazonaws.com/b/a#mode=nczarr,s3&aws.region=f-1", "b/a", {{"region", "f-1"}}},
        Case{"http://h:9/b/a#mode=zarr,s3&aws.profile=p",
             "b/a",
             {{"endpoint", "http://h:9"}, {"profile", "p"}, {"region", "p-1"}},
             "",
             kRegions},
        Case{"http://h:9/b/a#mode=zarr,s3",
             "b/a",
             {{"endpoint", "http://h:9"}, {"profile", "special"}},
             "[http://h:9]AWS.PROFILE=special\nAWS.PROFILE=general\n"}));

TEST(S3Url, WithoutABucketIsRefused) {
  for (const char* const url : {"s3://", "s3:///", "https://s3.us-east-1.amazonaws.com/#mode=zarr",
                                "https://s3.us-east-1.amazonaws.com#mode=zarr", "http://h:9/#mode=zarr,s3"}) {
    const auto dataset = s3_dataset(parse(url), {});
    ASSERT_FALSE(dataset) << url;
    EXPECT_EQ(dataset.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(dataset.error().text(), HasSubstr("names no bucket"));
  }
}

TEST(S3Url, KeepsTheZipFileThatItNames) {
  const auto dataset = s3_dataset(parse("s3://bucket/a.zip|zip:inner#mode=nczarr"), {}).value();
  ASSERT_EQ(dataset->place.layers.size(), 1U);
  EXPECT_EQ(dataset->place.path, "/a.zip");
  EXPECT_EQ(dataset->place.fragment, "mode=nczarr");
}

}  // namespace s3_url_test
}  // namespace sherd::netcdf
