#include "remote/aws_settings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/text.hpp"

namespace sherd::remote {
namespace {

using StoreOptions = std::map<std::string, std::string>;

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kAwsDomain = ".amazonaws.com", kChina = ".cn";

/// Removes the option; empty if it is not there.
std::string take(StoreOptions& options, const std::string& name) {
  const auto found = options.extract(name);
  return found ? found.mapped() : std::string();
}

/// The name of two that the user has written.
std::string spelled(const StoreOptions& options, const std::string& name, const std::string& other) {
  return options.contains(other) ? other : name;
}

/// Removes an option with two names; empty if it is not there.
Result<std::string> take(StoreOptions& options, const std::string& name, const std::string& other) {
  std::string first = take(options, name), second = take(options, other);
  if (!first.empty() && !second.empty())
    return invalid_argument("options " + name + " and " + other + " mean the same; leave one of them out");
  return first.empty() ? second : first;
}

Result<std::optional<bool>> flag_option(std::string_view value, std::string_view name) {
  if (value.empty()) return std::optional<bool>();
  const auto flag = parse_flag(value);
  if (!flag) return invalid_argument("option " + std::string(name) + " must be true or false");
  return flag;
}

Result<std::optional<AddressingStyle>> parse_style(std::string_view text, std::string_view source) {
  const std::string style = lowered(text);
  if (style.empty()) return std::optional<AddressingStyle>();
  if (style == "auto") return std::optional(AddressingStyle::automatic);
  if (style == "path") return std::optional(AddressingStyle::path);
  if (style == "virtual") return std::optional(AddressingStyle::virtual_host);
  return invalid_argument(std::string(source) + " must be auto, path or virtual");
}

/// A region becomes part of a host.
Result<void> check_region(std::string_view region, std::string_view source) {
  const bool is_label =
      std::ranges::all_of(region, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
  if (is_label && region.size() <= 63) return {};
  return invalid_argument(std::string(source) + " is not the name of a region, such as us-east-1");
}

bool is_host_label(std::string_view bucket) {
  return bucket.size() >= 3 && bucket.size() <= 63 && bucket.front() != '-' && bucket.back() != '-' &&
         std::ranges::all_of(bucket, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; });
}

/// What is before `.amazonaws.com`; empty if the host is not one of AWS.
std::string_view before_domain(std::string_view host) {
  host = without_port(host);
  if (host.ends_with(kChina)) host.remove_suffix(kChina.size());
  return host.ends_with(kAwsDomain) ? host.substr(0, host.size() - kAwsDomain.size()) : std::string_view();
}

/// The authority of a normal endpoint.
std::string_view authority_of(std::string_view endpoint) {
  endpoint.remove_prefix(endpoint.find("://") + 3);
  return endpoint.substr(0, endpoint.find('/'));
}

std::string profile_setting(const AwsSources& sources, std::string_view name) {
  const std::string* const value = sources.config.find(sources.profile, name);
  return value != nullptr ? *value : std::string();
}

Result<std::string> ca_bundle(const AwsOptions& options, const AwsSources& sources) {
  std::string path = options.ca_bundle;
  if (path.empty()) path = sources.environment("AWS_CA_BUNDLE").value_or(profile_setting(sources, "ca_bundle"));
  return expand_home(std::move(path), sources.environment);
}

Result<void> find_region(S3Settings& settings, std::string_view url_region, const AwsSources& sources) {
  const std::string_view in_endpoint =
      settings.endpoint.empty() ? std::string_view() : region_of_host(authority_of(settings.endpoint));
  const std::array<std::pair<std::string, std::string>, 6> candidates = {{
      {settings.region, "option region"},
      {std::string(url_region), "the region of the URL"},
      {std::string(in_endpoint), "the region of the endpoint"},
      {sources.environment("AWS_REGION").value_or(""), "AWS_REGION"},
      {sources.environment("AWS_DEFAULT_REGION").value_or(""), "AWS_DEFAULT_REGION"},
      {profile_setting(sources, "region"), "region of profile '" + sources.profile + "'"},
  }};
  const auto found = std::ranges::find_if(candidates, [](const auto& each) { return !each.first.empty(); });
  settings.is_region_known = found != candidates.end();
  settings.region = settings.is_region_known ? found->first : std::string(kDefaultRegion);
  return settings.is_region_known ? check_region(found->first, found->second) : Result<void>();
}

}  // namespace

std::optional<bool> parse_flag(std::string_view text) {
  const std::string flag = lowered(text);
  if (flag == "true" || flag == "yes" || flag == "1") return true;
  if (flag == "false" || flag == "no" || flag == "0") return false;
  return std::nullopt;
}

Result<AwsOptions> take_aws_options(StoreOptions& options) {
  AwsOptions taken;
  const std::string anonymous_name = spelled(options, "anonymous", "anon");
  const std::string endpoint_name = spelled(options, "endpoint", "endpoint_url");
  SHERD_TRY(anonymous, take(options, "anonymous", "anon"));
  SHERD_TRY(is_anonymous, flag_option(anonymous, anonymous_name));
  taken.anonymous = is_anonymous;
  const std::string key = take(options, "key");
  const std::string secret = take(options, "secret");
  const std::string token = take(options, "token");
  if (key.empty() != secret.empty()) return invalid_argument("options key and secret can only be used together");
  if (!token.empty() && key.empty()) return invalid_argument("option token can only be used with key and secret");
  if (!key.empty() && taken.anonymous.value_or(false))
    return invalid_argument("option " + anonymous_name + " cannot be combined with key and secret");
  taken.credentials = {.key_id = key, .secret_key = secret, .session_token = token};
  taken.profile = take(options, "profile");
  taken.region = take(options, "region");
  SHERD_TRY(endpoint, take(options, "endpoint", "endpoint_url"));
  if (!endpoint.empty()) {
    SHERD_TRY(normal, normal_endpoint(endpoint, "option " + endpoint_name));
    taken.endpoint = normal;
  }
  SHERD_TRY(style, parse_style(take(options, "addressing_style"), "option addressing_style"));
  taken.style = style;
  SHERD_TRY(requester_pays, flag_option(take(options, "requester_pays"), "requester_pays"));
  taken.requester_pays = requester_pays.value_or(false);
  taken.ca_bundle = take(options, "ca_bundle");
  return taken;
}

Result<AwsSources> aws_sources(const AwsOptions& options, Environment environment) {
  SHERD_TRY(config, read_aws_config(environment));
  AwsSources sources{.environment = std::move(environment), .config = std::move(config), .profile = {}};
  sources.profile = profile_in_use(options.profile, sources.environment);
  if (!options.profile.empty() && sources.config.profile(options.profile) == nullptr) {
    return invalid_argument("option profile names " + sources.config.missing(options.profile));
  }
  return sources;
}

Result<std::string> normal_endpoint(std::string_view url, std::string_view source) {
  const auto colon = url.find("://");
  const std::string scheme = lowered(url.substr(0, colon));
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : url.substr(colon + 3);
  const std::string_view host = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(host.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  const bool is_plain = std::ranges::all_of(rest, [](char c) { return c > ' ' && c < 0x7f; }) &&
                        rest.find_first_of("?#@\\") == std::string_view::npos;
  if ((scheme != "http" && scheme != "https") || host.empty() || !is_plain) {
    return invalid_argument(std::string(source) + " is not an endpoint: it must be http(s)://HOST[:PORT][/PATH]");
  }
  return scheme + "://" + lowered(host) + std::string(path);
}

Result<std::string> configured_endpoint(std::string_view service, const AwsSources& sources) {
  const std::string ignored = sources.environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
                                  .value_or(profile_setting(sources, "ignore_configured_endpoint_urls"));
  if (parse_flag(ignored).value_or(false)) return std::string();
  std::string variable = "AWS_ENDPOINT_URL_";
  for (const char c : service) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string& name : {variable, std::string("AWS_ENDPOINT_URL")}) {
    if (const auto url = sources.environment(name.c_str())) return normal_endpoint(*url, name);
  }
  const auto services = sources.config.services.find(profile_setting(sources, "services"));
  if (services != sources.config.services.end()) {
    const auto url = services->second.find(std::string(service) + ".endpoint_url");
    if (url != services->second.end() && !url->second.empty())
      return normal_endpoint(url->second, "endpoint_url of services '" + services->first + "'");
  }
  const std::string url = profile_setting(sources, "endpoint_url");
  return url.empty() ? url : normal_endpoint(url, "endpoint_url of profile '" + sources.profile + "'");
}

Result<S3Settings> s3_settings(const AwsOptions& options, std::string_view url_region, const AwsSources& sources) {
  S3Settings settings{.region = options.region, .endpoint = options.endpoint, .requester_pays = options.requester_pays};
  if (settings.endpoint.empty()) {
    SHERD_TRY(endpoint, configured_endpoint("s3", sources));
    settings.endpoint = endpoint;
  }
  SHERD_TRY(find_region(settings, url_region, sources));
  SHERD_TRY(style, parse_style(profile_setting(sources, "s3.addressing_style"),
                               "s3 addressing_style of profile '" + sources.profile + "'"));
  settings.style = options.style.value_or(style.value_or(AddressingStyle::automatic));
  SHERD_TRY(bundle, ca_bundle(options, sources));
  settings.ca_bundle = bundle;
  return settings;
}

std::string bucket_url(const S3Settings& settings, std::string_view bucket) {
  std::string endpoint = settings.endpoint;
  if (endpoint.empty()) {
    endpoint = "https://s3." + settings.region + std::string(kAwsDomain);
    if (settings.region.starts_with("cn-")) endpoint += kChina;
  }
  const bool is_virtual =
      settings.style == AddressingStyle::virtual_host ||
      (settings.style == AddressingStyle::automatic && is_host_label(bucket) && is_aws_host(authority_of(endpoint)));
  if (!is_virtual) return endpoint + '/' + std::string(bucket);
  return endpoint.insert(endpoint.find("://") + 3, std::string(bucket) + '.');
}

bool is_aws_host(std::string_view host) { return !before_domain(host).empty(); }

std::string_view region_of_host(std::string_view host) {
  const std::string_view name = before_domain(host);
  const auto dot = name.rfind('.');
  std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  const std::string_view before = name.substr(0, name.size() - last.size());
  constexpr std::string_view kOldPrefix = "s3-";
  const bool has_prefix = last.starts_with(kOldPrefix);
  if (has_prefix) last.remove_prefix(kOldPrefix.size());
  const bool is_after_service =
      ("." + std::string(before)).ends_with(".s3.") || before.ends_with("dualstack.") || before.ends_with("s3-fips.");
  // Not s3-accelerate.
  const bool is_region = !last.empty() && is_digit(last.back()) && last.find('-') != std::string_view::npos;
  return is_region && (has_prefix || is_after_service) ? last : std::string_view();
}

}  // namespace sherd::remote
