// The parameters in a URL's fragment, and which modes imply which.
#include "netcdf/url.hpp"

#include <algorithm>
#include <set>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace sherd::netcdf {

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;
using Modes = std::set<std::string, std::less<>>;

constexpr std::string_view kMode = "mode", kCompat = "compat", kSeed = "seed";

/// Words that are modes if used as keys without a value.
constexpr std::string_view kMacros[] = {"nczarr", "zarr", "noxarray", "xarray", "file", "zip", "s3", "bytes"};
/// All modes. Those that only a dataset of Zarr can have are first.
constexpr std::string_view kModes[] = {"nczarr", "zarr", "noxarray", "xarray", "file",
                                       "zip",    "s3",   "bytes",    "dap2",   "dap4"};
constexpr auto kZarrModes = std::span(kModes).first(4);
/// Keys that netcdf-c reads, other than modes.
constexpr std::string_view kKeys[] = {"mode",       "compat",    "log",  "show", "aws.profile", "awsprofile",
                                      "aws.region", "awsregion", "dap2", "dap4", "cache",       "endpoint"};

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

void add(Parameters& all, std::string key, std::string_view value) {
  const auto found = std::ranges::find(all, key, &Parameters::value_type::first);
  if (found == all.end())
    all.emplace_back(std::move(key), value);
  else
    found->second += (found->second.empty() || value.empty() ? "" : ",") + std::string(value);
}

/// The list of modes may contain other parameters: mode=nczarr,awsprofile=name.
void add_modes(Parameters& all, std::string_view list) {
  std::string modes;
  Parameters others;
  for (const std::string_view each : split(list, ',')) {
    const std::size_t equals = each.find('=');
    if (equals == each.npos)
      modes += (modes.empty() ? "" : ",") + std::string(each);
    else
      others.emplace_back(lowered(each.substr(0, equals)), each.substr(equals + 1));
  }
  add(all, std::string(kMode), modes);
  for (auto& [key, value] : others) add(all, std::move(key), value);
}

Parameters parse_fragment(std::string_view fragment) {
  Parameters all;
  for (const std::string_view part : split(fragment, '&')) {
    const std::size_t equals = part.find('=');
    std::string key = lowered(part.substr(0, equals));
    if (key.empty()) continue;
    if (equals == part.npos && is_any_of(kMacros, key))
      add(all, std::string(kMode), key);
    else if (key == kMode && equals != part.npos)
      add_modes(all, part.substr(equals + 1));
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

std::vector<std::string_view> names(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

/// A list of modes without misspellings; nullopt for other text. `of_zarr`: one of them must be a mode of Zarr.
std::optional<std::string> modes_meant(std::string_view text, bool of_zarr) {
  std::string modes;
  bool has_zarr = false;
  for (const std::string_view each : split(text, ',')) {
    std::string mode = lowered(each);
    // Other words that are close to a mode, such as "part", are names.
    const bool is_like_zarr = mode.find("zar") != mode.npos || mode.find("xar") != mode.npos;
    if (!is_any_of(kModes, mode)) mode = is_like_zarr ? nearest_name(mode, names(kZarrModes)) : "";
    if (mode.empty() || each.find('.') != each.npos) return std::nullopt;
    has_zarr |= is_any_of(kZarrModes, mode);
    modes += (modes.empty() ? "" : ",") + mode;
  }
  return has_zarr || !of_zarr ? std::optional(std::move(modes)) : std::nullopt;
}

/// What a part of a fragment means that is misspelled: `mod=zarr`, `mode:zarr`, `nczarr,file`, `mode`. nullopt if it is
/// spelled well, or is part of a name.
std::optional<std::string> part_meant(std::string_view part) {
  const std::size_t end = part.find_first_of("=:");
  const std::string key = lowered(part.substr(0, end));
  const bool is_key = is_any_of(kKeys, key), has_value = end != part.npos;
  const std::string_view value = has_value ? part.substr(end + 1) : std::string_view();
  const auto with_modes = [](std::optional<std::string> modes) {
    return modes ? std::optional("mode=" + *modes) : std::nullopt;
  };
  if (key == kMode && std::ranges::all_of(value, [](char c) { return c == ','; })) return "mode=nczarr";
  if (!has_value) return is_key || is_any_of(kMacros, key) ? std::nullopt : with_modes(modes_meant(part, true));
  if (is_key && part[end] == '=') return std::nullopt;
  const std::string_view nearest = nearest_name(key, {kMode, kCompat});
  if (nearest == kCompat && nearest_name(value, {kSeed}) == kSeed) return "compat=seed";
  return with_modes(modes_meant(value, nearest != kMode));
}

/// invalid_argument for a fragment that is misspelled, which would otherwise be part of a name, or ignored.
Result<void> check_spelling(std::string_view fragment) {
  std::string meant;
  bool is_misspelled = false;
  for (const std::string_view part : split(fragment, '&')) {
    const auto better = part_meant(part);
    is_misspelled |= better.has_value();
    meant += (meant.empty() ? "" : "&") + better.value_or(std::string(part));
  }
  if (!is_misspelled) return {};
  return invalid_argument("'" + std::string(fragment.substr(0, 80)) +
                          "' says how a dataset is stored, but is misspelled; did you mean '" + meant.substr(0, 80) +
                          "'? It is part of a name only if a directory of that name exists");
}

Modes modes_of(const Parameters& parameters) {
  Modes modes;
  for (const auto& [key, value] : parameters)
    if (key == kMode)
      for (const std::string_view mode : split(value, ','))
        if (!mode.empty()) modes.insert(lowered(mode));
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
  for (const std::string& mode : modes)
    if (!is_any_of(kModes, mode))
      return invalid_argument("the mode '" + mode.substr(0, 80) +
                              "' is unknown; choose from nczarr, zarr, noxarray, file, zip, s3, bytes" +
                              did_you_mean(mode, names(kModes)));
  return {};
}

Result<void> check_driver(const ParsedUrl& url) {
  const auto has = [&](std::string_view mode) { return std::ranges::find(url.modes, mode) != url.modes.end(); };
  if (has("dap2") || has("dap4")) return unsupported("DAP is not supported: only files, NCZarr and Zarr datasets are");
  if (url.is_file && url.place.scheme == "file")
    return invalid_argument("mode=bytes is for a netCDF file on a server; name a local one without it");
  if (url.driver == Driver::s3 && !url.place.scheme.starts_with("s3"))
    return invalid_argument("mode=s3 needs the URL of a dataset on S3, such as s3://bucket/dataset");
  return {};
}

}  // namespace

const std::string* ParsedUrl::parameter(std::string_view key) const noexcept {
  const auto found = std::ranges::find(parameters, key, &Parameters::value_type::first);
  return found == parameters.end() ? nullptr : &found->second;
}

Result<void> check_compat(std::string_view name, std::string_view value) {
  if (value == kSeed) return {};
  const std::string key = std::string(name) + "=";
  return invalid_argument(key + std::string(value.substr(0, 80)) + " is not known; " + key + "seed is the only one");
}

Result<bool> is_url_fragment(std::string_view text, bool is_url) {
  SHERD_TRY(check_spelling(text));
  return is_url || is_fragment(text);
}

Result<void> apply_fragment(StoreUrl& url) {
  if (url.fragment.empty()) return {};
  if (!is_fragment(url.fragment))
    return invalid_argument("'" + url.shown + "' has a fragment that netCDF does not know; in a name, write # as %23");
  SHERD_TRY(parsed, dataset_url(url));
  if (parsed.driver == Driver::zip && url.layers.empty()) url.layers.push_back({.scheme = "zip", .seeks_root = true});
  url.has_all_layers |= parsed.driver == Driver::file;
  return {};
}

Result<ParsedUrl> dataset_url(StoreUrl place) {
  SHERD_TRY(url, read_fragment(std::move(place)));
  SHERD_TRY(check_driver(url));
  return url;
}

Result<ParsedUrl> read_fragment(StoreUrl place) {
  ParsedUrl url;
  url.place = std::move(place);
  url.parameters = parse_fragment(url.place.fragment);
  const Modes modes = modes_of(url.parameters);
  SHERD_TRY(check_known(modes));
  SHERD_TRY(driver, driver_of(modes));
  url.driver = driver;
  url.is_file = modes.contains("bytes");
  url.mode = {.pure = modes.contains("zarr"), .noxarray = modes.contains("noxarray")};
  if (const std::string* compat = url.parameter("compat")) {
    SHERD_TRY(check_compat("compat", *compat));
    url.mode.compat_seed = true;
  }
  url.modes.assign(modes.begin(), modes.end());
  return url;
}

}  // namespace sherd::netcdf
