// Opens the store of a URL according to the table's row for its scheme.
#include "sherd/store.hpp"

#include <algorithm>
#include <vector>

#include "api/registry.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd {

namespace {

Result<void> check_storage_options(const StoreEntry& entry, const Config& config) {
  const std::vector<std::string_view> known(entry.options.begin(), entry.options.end());
  for (const auto& [name, value] : config.storage_options) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string names;
    for (const std::string_view each : known) names += (names.empty() ? "" : ", ") + std::string(each);
    const std::string has = "'" + std::string(entry.scheme) + "' stores have ";
    return std::move(invalid_argument("'" + name + "' is not a storage option: " + has +
                                      (known.empty() ? "none" : names) + did_you_mean(name, known)))
        .in_member("storage_options");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Store>> open_store_of(std::span<const StoreEntry> table, std::string_view url,
                                             const Config& config) {
  if (url.empty()) return invalid_argument("the path of a store is empty");
  const std::string scheme = scheme_of(url);
  auto row = std::ranges::find(table, scheme, &StoreEntry::scheme);
  if (row == table.end() && is_url(url)) {
    std::string known;
    for (const StoreEntry& entry : table) known += ", " + std::string(entry.scheme) + ":";
    return unsupported("no store for the scheme '" + scheme + "'; known are plain paths" + known);
  }
  if (row == table.end()) row = std::ranges::find(table, kPlainPaths, &StoreEntry::scheme);
  if (row == table.end()) return unsupported("plain paths are not supported here; use a URL");
  SHERD_TRY(check_storage_options(*row, config));
  return row->open(url, config);
}

Result<std::shared_ptr<Store>> open_store(std::string_view url, const Config& config) {
  return open_store_of(store_table(), url, config);
}

}  // namespace sherd
