#include "netcdf/s3_url.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/aws_settings.hpp"

namespace sherd::netcdf {
namespace {

constexpr std::string_view kDefault = "default";

bool has_mode(const ParsedUrl& url, std::string_view mode) {
  return std::ranges::find(url.modes, mode) != url.modes.end();
}

bool is_on_s3(const ParsedUrl& url) {
  const StoreUrl& place = url.place;
  if (place.scheme == "s3") return true;
  if (place.scheme != "https" && place.scheme != "http") return false;
  return has_mode(url, "s3") || (has_mode(url, "nczarr") && remote::is_aws_host(place.host));
}

/// The bucket and the region in a host of AWS; empty where the host has none.
struct AwsHost {
  std::string bucket, region;
};

AwsHost parts_of_host(const std::string& host) {
  const auto labels = split(host, '.');
  // The last label that names the service: a bucket may have the same name. Some documents of netCDF write s2.
  const auto service = std::ranges::find_if(labels.rbegin(), labels.rend(), [](std::string_view label) {
    return label == "s3" || label == "s2" || label.starts_with("s3-");
  });
  AwsHost parts;
  if (service == labels.rend()) return parts;
  const std::string_view name = *service;
  const auto begin = static_cast<std::size_t>(name.data() - host.data());
  if (begin > 0) parts.bucket = host.substr(0, begin - 1);
  const std::string rest = host.substr(begin);
  parts.region = remote::region_of_host(name == "s2" ? "s3" + rest.substr(name.size()) : rest);
  return parts;
}

std::string authority_of_place(const StoreUrl& place) {
  return place.port.empty() ? place.host : place.host + ':' + place.port;
}

/// Moves the bucket from the path to the host.
Result<void> take_bucket(StoreUrl& place) {
  std::string_view path = place.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  if (end == 0)
    return invalid_argument("'" + place.shown + "' names no bucket; write it as the first part of the path");
  place.host = path.substr(0, end);
  place.path = std::string(path.substr(end));
  return {};
}

/// The first value that is not empty.
std::string first_of(const std::vector<std::string>& values) {
  const auto found = std::ranges::find_if(values, [](const std::string& value) { return !value.empty(); });
  return found == values.end() ? std::string() : *found;
}

std::string parameter_of(const ParsedUrl& url, std::string_view name, std::string_view other) {
  const std::string* value = url.parameter(name);
  if (value == nullptr) value = url.parameter(other);
  return value == nullptr ? std::string() : *value;
}

/// Whether the profile `default`, which comes before the environment then, says who asks.
bool has_credentials(const remote::AwsConfig& config) {
  constexpr std::string_view kSettings[] = {"aws_access_key_id", "role_arn", "credential_process"};
  return std::ranges::any_of(kSettings, [&](std::string_view each) { return config.find(kDefault, each) != nullptr; });
}

/// Sets scheme, host and path, and the options that the host implies.
Result<void> set_place(S3Dataset& dataset) {
  StoreUrl& place = dataset.place;
  const bool has_bucket_as_host = place.scheme == "s3" && place.port.empty() && !remote::is_aws_host(place.host);
  if (has_bucket_as_host) {
    if (place.host.empty()) return take_bucket(place);
    return {};
  }
  if (remote::is_aws_host(place.host)) {
    AwsHost parts = parts_of_host(place.host);
    if (!parts.region.empty()) dataset.options["region"] = parts.region;
    if (parts.bucket.empty()) {
      SHERD_TRY(take_bucket(place));
    } else {
      place.host = std::move(parts.bucket);
    }
  } else {
    dataset.options["endpoint"] = (place.scheme == "http" ? "http://" : "https://") + authority_of_place(place);
    SHERD_TRY(take_bucket(place));
  }
  place.scheme = "s3";
  place.port.clear();
  return {};
}

}  // namespace

Result<std::optional<S3Dataset>> s3_dataset(const ParsedUrl& url, const S3Files& files) {
  if (!is_on_s3(url)) return std::optional<S3Dataset>();
  S3Dataset dataset{.place = url.place, .options = {}};
  SHERD_TRY(set_place(dataset));
  std::string profile =
      first_of({parameter_of(url, "aws.profile", "awsprofile"), files.rc.find("AWS.PROFILE", url.place).value_or("")});
  const bool is_anonymous = profile == "none" || profile == "no";
  if (is_anonymous) {
    dataset.options["anonymous"] = "true";
  } else if (!profile.empty()) {
    dataset.options["profile"] = profile;
  } else {
    profile = files.profile;
    if (profile == kDefault && has_credentials(files.config)) dataset.options["profile"] = profile;
  }
  const std::string* const in_profile = is_anonymous ? nullptr : files.config.find(profile, "aws_region");
  const std::string region =
      first_of({dataset.options["region"], parameter_of(url, "aws.region", "awsregion"),
                in_profile == nullptr ? "" : *in_profile, files.rc.find("AWS.REGION", url.place).value_or("")});
  dataset.options["region"] = region;
  if (region.empty()) dataset.options.erase("region");
  return std::optional(std::move(dataset));
}

Result<void> place_on_s3(StoreUrl& url) {
  const bool has_host = url.scheme == "s3" && remote::is_aws_host(url.host);
  if (url.fragment.empty() && !has_host) return {};
  if (url.scheme != "s3" && url.scheme != "https" && url.scheme != "http") return {};
  const remote::Environment environment = remote::process_environment();
  SHERD_TRY(parsed, read_fragment(url));
  SHERD_TRY(rc, read_rc_files(environment));
  SHERD_TRY(config, remote::read_aws_config(environment));
  const S3Files files{
      .rc = std::move(rc), .config = std::move(config), .profile = remote::profile_in_use("", environment)};
  SHERD_TRY(dataset, s3_dataset(parsed, files));
  if (!dataset) return {};
  url = std::move(dataset->place);
  url.options = std::move(dataset->options);
  return {};
}

}  // namespace sherd::netcdf
