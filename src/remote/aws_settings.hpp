// Where S3 is and how it is addressed: region, endpoint, style, profile.
//
// Profile: option `profile`, AWS_PROFILE, AWS_DEFAULT_PROFILE, `default`.
// Region: option `region`, the URL's or the endpoint's, AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1. The
// store replaces one that nothing has said by the bucket's own answer.
// Endpoint: option `endpoint`, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of the profile's services section,
// `endpoint_url` of the profile; all but the option are ignored if AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or the profile's
// ignore_configured_endpoint_urls is true. Without any, AWS's of the region.
// Style: option `addressing_style`, the profile's `s3` `addressing_style`; `auto` is the virtual host of the bucket at
// AWS, unless the bucket's name is not a label of a host (a certificate is not valid for more labels), and otherwise
// the path.
// CA bundle: option `ca_bundle`, AWS_CA_BUNDLE, the profile's ca_bundle.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "remote/aws_config.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

enum class AddressingStyle : std::uint8_t { automatic, path, virtual_host };

/// The options of a store that concern AWS, as the user gave them.
struct AwsOptions {
  std::optional<bool> anonymous = {};
  Credentials credentials = {};  ///< empty, or with a key id and a secret key
  std::string profile = {}, region = {}, endpoint = {}, ca_bundle = {};
  std::optional<AddressingStyle> style = {};
  bool requester_pays = false;
};

/// Removes these options from `options` and returns them; `anon` and `endpoint_url`, as in fsspec, mean the same as
/// `anonymous` and `endpoint`. invalid_argument, naming the option, for a value that is wrong or that
/// contradicts another option. Values of options are not in errors.
[[nodiscard]] Result<AwsOptions> take_aws_options(std::map<std::string, std::string>& options);

/// `true`, `yes`, `1`, `false`, `no` or `0`, in any case.
[[nodiscard]] std::optional<bool> parse_flag(std::string_view text);

/// Everything but the options from which settings and credentials come.
struct AwsSources {
  Environment environment;
  AwsConfig config;
  std::string profile;
};
/// Reads the files. invalid_argument if they do not have the profile that the options name.
[[nodiscard]] Result<AwsSources> aws_sources(const AwsOptions& options, Environment environment);

/// The endpoint that the environment or the profile configures for a service (`s3`, `sts`), as normal_endpoint(); empty
/// if none does.
[[nodiscard]] Result<std::string> configured_endpoint(std::string_view service, const AwsSources& sources);
/// `http(s)://HOST[:PORT][/PATH]`, with scheme and host in lower case and without `/` at the end; otherwise
/// invalid_argument, which names `source`.
[[nodiscard]] Result<std::string> normal_endpoint(std::string_view url, std::string_view source);

struct S3Settings {
  std::string region;
  bool is_region_known = false;  ///< false: it is only the default
  std::string endpoint = {};     ///< without `/` at the end; empty: AWS's
  AddressingStyle style = AddressingStyle::automatic;
  bool requester_pays = false;
  std::string ca_bundle = {};  ///< a path; empty: the transport's
};
/// `url_region` is the one that the URL names, or empty.
[[nodiscard]] Result<S3Settings> s3_settings(const AwsOptions& options, std::string_view url_region,
                                             const AwsSources& sources);

/// The URL of a bucket, without `/` at the end, to which `/` and encode_key() of a key are appended.
[[nodiscard]] std::string bucket_url(const S3Settings& settings, std::string_view bucket);
/// Whether a host, perhaps with a port, is one of AWS: `s3.us-west-2.amazonaws.com`.
[[nodiscard]] bool is_aws_host(std::string_view host);
/// The region in a host of S3: that of `s3.us-west-2.amazonaws.com`, `b.s3-us-west-2.amazonaws.com` and
/// `s3.dualstack.us-west-2.amazonaws.com`; empty if it has none.
[[nodiscard]] std::string_view region_of_host(std::string_view host);

}  // namespace sherd::remote
