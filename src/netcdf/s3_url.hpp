// Datasets of netCDF on S3: which bucket and key a URL names, and which profile and region are used.
//
// These URLs name a dataset on S3 (the other parts of a URL stay as they are):
//   s3://BUCKET/KEY                            the bucket is the host
//   s3://HOST/BUCKET/KEY                       HOST is one of AWS, or has a port
//   https://s3.REGION.amazonaws.com/BUCKET/KEY#mode=nczarr,s3
//   https://BUCKET.s3.REGION.amazonaws.com/KEY#mode=nczarr,s3
//   https://HOST[:PORT]/BUCKET/KEY#mode=nczarr,s3
// A host of AWS needs no mode `s3` beside another mode of Zarr. `mode=bytes` leaves `https` as it is.
// Profile: `aws.profile` or `awsprofile` of the fragment, AWS.PROFILE of an rc file, otherwise that of the environment
// or `default`. The profiles `none` and `no` stand for anonymous requests. Credentials of the profile `default` are
// used instead of those in the environment. Region: that of the host, `aws.region` or `awsregion` of the fragment, the
// profile's aws_region, AWS.REGION of an rc file, otherwise as for every URL of S3.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "netcdf/rc_file.hpp"
#include "netcdf/url.hpp"
#include "remote/aws_config.hpp"
#include "sherd/result.hpp"
#include "store/store_url.hpp"

namespace sherd::netcdf {

struct S3Dataset {
  StoreUrl place;  ///< s3://BUCKET/KEY, with the layers and the fragment of the URL
  /// Options of the store: region, endpoint, profile, anonymous. Those that the user gives win.
  std::map<std::string, std::string> options;
};

/// What the user's files say.
struct S3Files {
  RcFile rc;
  remote::AwsConfig config;
  std::string profile = "default";  ///< of the environment
};

/// nullopt if the URL does not name a dataset on S3; invalid_argument if it names no bucket.
[[nodiscard]] Result<std::optional<S3Dataset>> s3_dataset(const ParsedUrl& url, const S3Files& files);
/// Makes a URL with a fragment, or with a host of AWS after `s3://`, that names a dataset on S3 that of its bucket, by
/// the files of the user. Leaves any other.
[[nodiscard]] Result<void> place_on_s3(StoreUrl& url);

}  // namespace sherd::netcdf
