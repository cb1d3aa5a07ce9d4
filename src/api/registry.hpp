// The tables of codecs, stores, formats and kinds of chunk storage. They are passed down from here; no layer looks up a
// table itself.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "node/node_location.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The scheme of the row that also opens plain paths.
inline constexpr std::string_view kPlainPaths = "file";

/// One row of the store table: the scheme of its URLs, how a store is opened, and the names of the storage options that
/// `open` reads from its Config.
struct StoreEntry {
  std::string_view scheme;
  Result<std::shared_ptr<Store>> (*open)(std::string_view url, const Config& config);
  std::span<const std::string_view> options = {};
};

[[nodiscard]] Tables tables() noexcept;
[[nodiscard]] std::span<const StoreEntry> store_table() noexcept;
/// Opens the store of a URL through the row of its scheme; `unsupported` if there is none. invalid_argument for a
/// storage option that the row does not have.
[[nodiscard]] Result<std::shared_ptr<Store>> open_store_of(std::span<const StoreEntry> table, std::string_view url,
                                                           const Config& config);
[[nodiscard]] const Format* find_format(std::string_view name) noexcept;

}  // namespace sherd
