// The parameters in a URL's fragment, and which modes imply which.
#include "netcdf/url.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd::netcdf {

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;
using Modes = std::set<std::string, std::less<>>;

constexpr std::string_view kMode = "mode";
/// Longer fragments are refused; no list of parameters is so long.
constexpr std::size_t kMaxFragment = 4096;

/// Words that are modes if used as keys without a value.
constexpr std::string_view kMacros[] = {"nczarr", "zarr", "noxarray", "xarray", "file", "zip", "s3", "bytes"};
/// Keys that netcdf-c reads, other than modes.
constexpr std::string_view kKeys[] = {"mode",       "compat", "log",  "show",  "aws.profile",
                                      "aws.region", "dap2",   "dap4", "cache", "endpoint"};

struct Inference {
  std::string_view given, implied;
};
constexpr Inference kInferences[] = {
    {"zarr", "nczarr"}, {"xarray", "zarr"}, {"xarray", "nczarr"}, {"noxarray", "nczarr"}};
/// The first excludes the second.
constexpr Inference kNegations[] = {{"bytes", "nczarr"}, {"bytes", "zarr"}, {"noxarray", "xarray"}};

bool is_any_of(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

void add(Parameters& all, std::string key, std::string_view value) {
  const auto found = std::ranges::find(all, key, &Parameters::value_type::first);
  if (found == all.end())
    all.emplace_back(std::move(key), value);
  else
    found->second += (found->second.empty() || value.empty() ? "" : ",") + std::string(value);
}

Parameters parse_fragment(std::string_view fragment) {
  Parameters all;
  for (const std::string_view part : split(fragment, '&')) {
    const std::size_t equals = part.find('=');
    std::string key = lower(part.substr(0, equals));
    if (key.empty()) continue;
    if (equals == part.npos && is_any_of(kMacros, key))
      add(all, std::string(kMode), key);
    else
      add(all, std::move(key), equals == part.npos ? std::string_view() : part.substr(equals + 1));
  }
  return all;
}

/// Whether a path's `#…` contains parameters rather than being part of the name.
bool is_fragment(std::string_view text) {
  const Parameters all = parse_fragment(text);
  return !all.empty() && std::ranges::any_of(all, [](const auto& each) { return is_any_of(kKeys, each.first); });
}

Modes modes_of(const Parameters& parameters) {
  Modes modes;
  for (const auto& [key, value] : parameters)
    if (key == kMode)
      for (const std::string_view mode : split(value, ','))
        if (!mode.empty()) modes.insert(lower(mode));
  for (const auto& [given, implied] : kInferences)
    if (modes.contains(given)) modes.insert(std::string(implied));
  for (const auto& [given, excluded] : kNegations)
    if (modes.contains(given))
      if (const auto found = modes.find(excluded); found != modes.end()) modes.erase(found);
  return modes;
}

Result<Driver> driver_of(const Modes& modes) {
  std::optional<Driver> driver;
  constexpr std::pair<std::string_view, Driver> drivers[] = {
      {"file", Driver::file}, {"zip", Driver::zip}, {"s3", Driver::s3}};
  for (const auto& [name, each] : drivers) {
    if (!modes.contains(name)) continue;
    if (driver) return invalid_argument("a dataset has one driver: choose one of mode=file, mode=zip and mode=s3");
    driver = each;
  }
  return driver.value_or(Driver::any);
}

/// A misspelled mode would otherwise choose another form of the dataset without a word.
Result<void> check_known(const Modes& modes) {
  constexpr std::string_view known[] = {"nczarr", "zarr", "noxarray", "xarray", "file",
                                        "zip",    "s3",   "bytes",    "dap2",   "dap4"};
  for (const std::string& mode : modes)
    if (!is_any_of(known, mode))
      return invalid_argument("the mode '" + mode.substr(0, 80) +
                              "' is unknown; choose from nczarr, zarr, noxarray, file");
  return {};
}

Result<void> check_driver(const ParsedUrl& url, const Modes& modes, std::string_view scheme) {
  if (modes.contains("bytes") || modes.contains("dap2") || modes.contains("dap4"))
    return unsupported("mode=bytes and DAP are not supported: only NCZarr and Zarr datasets are");
  if (url.driver == Driver::zip) return unsupported("mode=zip is not supported by this version; unpack the file");
  const bool remote = scheme == "s3" || scheme == "gs3" || scheme == "http" || scheme == "https";
  if (url.driver == Driver::s3 || scheme == "s3" || scheme == "gs3")
    return unsupported("S3 is not supported by this version; copy the dataset to a directory");
  if (remote) return unsupported("'" + std::string(scheme) + ":' is not supported by this version");
  return {};
}

}  // namespace

const std::string* ParsedUrl::parameter(std::string_view key) const noexcept {
  const auto found = std::ranges::find(parameters, key, &Parameters::value_type::first);
  return found == parameters.end() ? nullptr : &found->second;
}

Result<void> check_compat(std::string_view name, std::string_view value) {
  if (value == "seed") return {};
  const std::string key = std::string(name) + "=";
  return invalid_argument(key + std::string(value.substr(0, 80)) + " is not known; " + key + "seed is the only one");
}

Result<ParsedUrl> parse_dataset_url(std::string_view text) {
  ParsedUrl url;
  std::string_view prefix, fragment;
  if (text.starts_with('[')) {  // [mode=nczarr,file]path, an older form of the fragment
    const std::size_t end = text.find(']');
    if (end != text.npos && is_fragment(text.substr(1, end - 1))) {
      prefix = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
    }
  }
  const std::string scheme = is_url(text) ? scheme_of(text) : std::string();
  if (const std::size_t hash = text.rfind('#'); hash != text.npos) {
    if (is_url(text) || is_fragment(text.substr(hash + 1))) {
      fragment = text.substr(hash + 1);
      text = text.substr(0, hash);
    }
  }
  if (prefix.size() + fragment.size() > kMaxFragment)
    return invalid_argument("the fragment of a URL is longer than " + std::to_string(kMaxFragment) + " bytes");
  url.parameters = parse_fragment(prefix);
  for (auto& [key, value] : parse_fragment(fragment)) add(url.parameters, std::move(key), value);
  if (text.empty()) return invalid_argument("the URL of a dataset has no path");
  const Modes modes = modes_of(url.parameters);
  SHERD_TRY(check_known(modes));
  SHERD_TRY(driver, driver_of(modes));
  url.driver = driver;
  SHERD_TRY(check_driver(url, modes, scheme));
  url.mode = {.pure = modes.contains("zarr"), .noxarray = modes.contains("noxarray")};
  if (const std::string* compat = url.parameter("compat")) {
    SHERD_TRY(check_compat("compat", *compat));
    url.mode.compat_seed = true;
  }
  url.modes.assign(modes.begin(), modes.end());
  url.store = text;
  return url;
}

}  // namespace sherd::netcdf
