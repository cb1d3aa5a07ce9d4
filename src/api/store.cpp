// Opens the store of a name according to the table's rows for its schemes.
#include "sherd/store.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "api/open_hints.hpp"
#include "api/process_options.hpp"
#include "api/registry.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/files.hpp"
#include "netcdf/s3_url.hpp"
#include "netcdf/url.hpp"
#include "node/document_keys.hpp"
#include "os/calls.hpp"

namespace sherd {

namespace {

using Rows = std::span<const StoreEntry>;
using Words = std::vector<std::string_view>;

/// Schemes of formats in pipelines and in the sources of Neuroglancer.
constexpr UrlWords::FormatWord kFormatWords[] = {{"zarr3", "zarr3"},
                                                 {"zarr2", "zarr2"},
                                                 {"zarr", ""},
                                                 {"draft2022", "draft2022"},
                                                 {"precomputed", "precomputed"},
                                                 {"neuroglancer-precomputed", "precomputed"}};

Words schemes(Rows table, bool layers) {
  Words words;
  for (const StoreEntry& row : table)
    if (row.is_layer == layers) words.push_back(row.scheme);
  return words;
}

/// The row of the store inside the file at `path`, which may not exist yet; nullptr if there is none.
const StoreEntry* layer_in_file(Rows table, const std::string& path, const struct stat* status) {
  if (status != nullptr && !S_ISREG(status->st_mode)) return nullptr;
  const std::string head = status != nullptr ? first_bytes(path) : std::string();
  for (const StoreEntry& row : table)
    if (row.is_layer && (has_suffix(path, row.suffixes) || (!head.empty() && row.recognizes(head)))) return &row;
  return nullptr;
}

void set_layer(StoreUrl& url, const StoreEntry& row, std::size_t size) {
  std::string inner = url.path.substr(std::min(size, url.path.size()));
  while (inner.starts_with('/')) inner.erase(0, 1);
  while (inner.ends_with('/')) inner.pop_back();
  url.path.resize(size);
  if (url.scheme != "file")
    if (auto decoded = percent_decode(inner)) inner = *std::move(decoded);
  url.layers.push_back({.scheme = std::string(row.scheme), .path = std::move(inner), .seeks_root = true});
}

/// Finds the file on the way to a path that is a store, or will be one.
void find_layer_in_files(Rows table, StoreUrl& url) {
  const StoreEntry* found = nullptr;
  std::size_t size = 0;
  for (std::filesystem::path part = url.path; part.has_relative_path(); part = part.parent_path()) {
    struct stat status{};
    const bool exists = os::fstatat(AT_FDCWD, part.c_str(), status) == 0;
    if (const auto* const row = layer_in_file(table, part.string(), exists ? &status : nullptr)) {
      found = row;
      size = part.string().size();
    }
    if (exists) break;
  }
  if (found != nullptr) set_layer(url, *found, size);
}

void find_layer(Rows table, StoreUrl& url) {
  if (url.has_all_layers || !url.layers.empty()) return;
  url.has_all_layers = true;
  if (url.scheme == "file") return find_layer_in_files(table, url);
  // A server has no directories that could be looked at: the first name with a suffix is that of an object.
  for (std::size_t end = 0; end < url.path.size();) {
    end = std::min(url.path.find('/', end + 1), url.path.size());
    for (const StoreEntry& row : table)
      if (row.is_layer && has_suffix(std::string_view(url.path).substr(0, end), row.suffixes))
        return set_layer(url, row, end);
  }
}

/// A fragment says that the path is that of an archive, but it may also lead through one.
void enter_archive_in_path(Rows table, StoreUrl& url) {
  StoreUrl through = url;
  through.layers.clear();
  through.has_all_layers = false;
  find_layer(table, through);
  if (!through.layers.empty()) url = std::move(through);
}

const StoreEntry* find_row(Rows table, std::string_view scheme) {
  const auto row = std::ranges::find(table, scheme, &StoreEntry::scheme);
  return row == table.end() ? nullptr : &*row;
}

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The options of the stores of a name, and the schemes of these for a message.
struct KnownOptions {
  Words names;
  std::string stores;

  [[nodiscard]] bool has(std::string_view name) const { return is_in(names, name); }
};
KnownOptions options_of(Rows table, const StoreUrl& url) {
  KnownOptions known;
  const auto add = [&](std::string_view scheme) {
    const StoreEntry* const row = find_row(table, scheme);
    if (row == nullptr) return;
    for (const auto names : {row->options, row->secrets})
      known.names.insert(known.names.end(), names.begin(), names.end());
    known.stores += (known.stores.empty() ? "'" : " and '") + std::string(scheme) + "'";
  };
  add(url.scheme);
  for (const StoreUrl::Layer& layer : url.layers) add(layer.scheme);
  return known;
}

struct ProcessOptions {
  std::mutex mutex;
  std::map<std::string, std::string> options;
};
ProcessOptions& process_options() {
  static auto* const options = new ProcessOptions;
  return *options;
}

bool is_of_any_store(Rows table, std::string_view name) {
  return std::ranges::any_of(
      table, [&](const StoreEntry& row) { return is_in(row.options, name) || is_in(row.secrets, name); });
}

Config without_others(Rows table, const StoreUrl& url, Config config) {
  const KnownOptions known = options_of(table, url);
  ProcessOptions& process = process_options();
  const std::lock_guard lock(process.mutex);
  std::erase_if(config.storage_options, [&](const auto& option) {
    const auto same = process.options.find(option.first);
    return same != process.options.end() && same->second == option.second && !known.has(option.first) &&
           is_of_any_store(table, option.first);
  });
  return config;
}

Result<void> check_storage_options(Rows table, const StoreUrl& url, const Config& config) {
  const auto [known, stores] = options_of(table, url);
  for (const auto& [name, value] : config.storage_options) {
    if (is_in(known, name)) continue;
    std::string names;
    for (const std::string_view each : known) names += (names.empty() ? "" : ", ") + std::string(each);
    return std::move(invalid_argument("'" + name + "' is not a storage option: " + stores + " stores have " +
                                      (known.empty() ? "none" : names) + did_you_mean(name, known)))
        .in_member("storage_options");
  }
  return {};
}

/// Adds the options of the environment, SHERD_STORE_<NAME>, that the stores of a name have and the caller does not
/// give.
Config with_options(Rows table, const StoreUrl& url, Config config) {
  for (const auto& [name, value] : url.options) config.storage_options.emplace(name, value);
  for (const std::string_view name : options_of(table, url).names) {
    std::string variable = "SHERD_STORE_" + std::string(name);
    for (char& c : variable)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (const char* const value = std::getenv(variable.c_str()); value != nullptr)
      config.storage_options.emplace(name, value);
  }
  return config;
}

/// The only directory of an archive that was made of a node, as `zip -r a.zip a.zarr` does; empty if there is anything
/// else.
Result<std::string> only_directory(Store& store) {
  std::string name;
  SHERD_TRY(is_only, store.visit("", ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    if (!entry.is_prefix || !name.empty()) return false;
    name = entry.name;
    return true;
  }));
  if (!is_only || name.empty()) return std::string();
  const auto is_document = [](const ListEntry& entry) {
    return !entry.is_prefix && is_document_of(tables().formats, entry.name);
  };
  SHERD_TRY(has_none, store.visit(name + "/", ListDepth::children,
                                  [&](const ListEntry& entry) -> Result<bool> { return !is_document(entry); }));
  return has_none ? std::string() : name;
}

/// One name for each file, however the user spelled it.
std::string name_of_file(const std::filesystem::path& file) {
  std::error_code failed;
  const auto canonical = std::filesystem::weakly_canonical(file, failed);
  return file_url(failed ? file.string() : canonical.string());
}

Result<std::shared_ptr<Store>> open_layers(Rows table, StoreUrl url,
                                           const Config& config) {  // NOLINT(misc-no-recursion)
  const StoreEntry* const row = find_row(table, url.layers.empty() ? url.scheme : url.layers.back().scheme);
  if (row == nullptr) return unsupported("no store for '" + url.shown + "'");
  if (url.layers.empty()) return row->open(url, std::nullopt, config);
  const StoreUrl whole = url;
  const StoreUrl::Layer layer = url.layers.back();
  url.layers.pop_back();
  auto outer = parent_of(std::move(url));
  if (!outer)
    return invalid_argument("'" + whole.shown + "' names no object that could be opened as " +
                            std::string(row->scheme));
  SHERD_TRY(store, open_layers(table, std::move(outer->store), config));
  // What reading an archive on a server costs are the requests to the server, including those that open it.
  const bool has_latency = store->traits().parallel_requests > 1;
  if (has_latency && config.recorder) store = recorded_store(std::move(store), config.recorder);
  const auto path_of_outer = path_of_store(store->url());
  const std::filesystem::path file = path_of_outer ? std::filesystem::path(*path_of_outer) / outer->key : "";
  if (path_of_outer && os::is_directory(file.c_str()))
    return invalid_argument("'" + whole.shown + "' is a directory, and cannot be opened as " + layer.scheme);
  const auto open = [&] { return row->open(whole, OuterObject{store, outer->key}, config); };
  // Only what is in files can be changed, by all handles together. On servers, handles may have different credentials.
  const bool is_shared = config.open_stores && path_of_outer;
  const std::string name = is_shared ? name_of_file(file) + "|" + std::string(row->scheme) + ":" : "";
  SHERD_TRY(opened, is_shared ? config.open_stores->share(name, open) : open());
  SHERD_TRY(root, layer.seeks_root ? only_directory(*opened) : std::string());
  std::string path = root + (root.empty() || layer.path.empty() ? "" : "/") + layer.path;
  if (layer.path == root || layer.path.starts_with(root + "/")) path = layer.path;
  return path.empty() ? std::move(opened) : prefixed_store(std::move(opened), path + "/");
}

}  // namespace

bool is_public_option(std::string_view name, std::string_view value) {
  // A URL, such as that of a proxy, may have a password.
  return value.find('@') == value.npos &&
         std::ranges::any_of(store_table(), [&](const StoreEntry& row) { return is_in(row.options, name); });
}

Result<StoreUrl> parse_url(std::string_view text, std::span<const StoreEntry> table) {
  const Words stores = schemes(table, false), layers = schemes(table, true);
  SHERD_TRY(url, parse_store_url(text, {stores, layers, kFormatWords, netcdf::is_url_fragment}));
  SHERD_TRY(netcdf::place_on_s3(url));
  const bool has_layers = !url.layers.empty();
  SHERD_TRY(netcdf::apply_fragment(url));
  if (!has_layers && !url.layers.empty()) enter_archive_in_path(table, url);
  find_layer(table, url);
  return url;
}

Result<std::shared_ptr<Store>> open_store(const StoreUrl& url, const Config& config,
                                          std::span<const StoreEntry> table) {
  StoreUrl from_root = url;
  for (StoreUrl::Layer& layer : from_root.layers) layer.seeks_root = false;
  return open_sought(from_root, config, table);
}

Config config_beside(const StoreUrl& url, const StoreUrl& other, Config config) {
  const KnownOptions own = options_of(store_table(), url), others = options_of(store_table(), other);
  std::erase_if(config.storage_options,
                [&](const auto& option) { return others.has(option.first) && !own.has(option.first); });
  return config;
}

Result<std::shared_ptr<Store>> open_sought(const StoreUrl& url, const Config& config,
                                           std::span<const StoreEntry> table) {
  Config own = without_others(table, url, config);
  SHERD_TRY(check_storage_options(table, url, own));
  return open_layers(table, url, with_options(table, url, std::move(own)));
}

void set_process_options(std::map<std::string, std::string> options) {
  ProcessOptions& process = process_options();
  const std::lock_guard lock(process.mutex);
  process.options = std::move(options);
}

Config without_process_options(std::string_view url, Config config) {
  const auto parsed = parse_url(url);
  return parsed ? without_others(store_table(), *parsed, std::move(config)) : config;
}

Result<std::shared_ptr<Store>> open_store(std::string_view url, const Config& config) {
  SHERD_TRY(parsed, parse_url(url));
  return open_store(parsed, config);
}

Result<std::string> format_of(const StoreUrl& url, const std::string& given) {
  if (given.empty() || url.format.empty() || url.format == given) return given.empty() ? url.format : given;
  return invalid_argument("'" + url.shown + "' says the format " + url.format + ", and " + given + " was asked for");
}

}  // namespace sherd
