// The tables of codecs, stores, formats and kinds of chunk storage. They are passed down from here; no layer looks up a
// table itself.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "node/node_location.hpp"
#include "sherd/store.hpp"
#include "store/store_url.hpp"

namespace sherd {

/// An object that contains a store.
struct OuterObject {
  std::shared_ptr<Store> store;
  std::string key;
};

/// One row of the store table: the scheme of its URLs, how a store is opened, and the names of the storage options that
/// `open` reads from its Config: `options` are shown and pickled with their values, `secrets` are not. `in` is nullopt
/// unless the row is a layer: a store inside an object of another one, which is found by its scheme, a suffix or its
/// first bytes.
struct StoreEntry {
  std::string_view scheme;
  Result<std::shared_ptr<Store>> (*open)(const StoreUrl& url, std::optional<OuterObject> in, const Config& config);
  std::span<const std::string_view> options = {};
  std::span<const std::string_view> secrets = {};
  bool is_read_only = false;
  bool is_layer = false;
  std::span<const std::string_view> suffixes = {};
  bool (*recognizes)(std::string_view first_bytes) = nullptr;
};

[[nodiscard]] Tables tables() noexcept;
[[nodiscard]] std::span<const StoreEntry> store_table() noexcept;
/// What a name means, with the store inside an object that its suffix, its fragment or the object's first bytes say.
[[nodiscard]] Result<StoreUrl> parse_url(std::string_view text, std::span<const StoreEntry> table = store_table());
/// Opens a store through the row of its scheme; `unsupported` if there is none. invalid_argument for a storage option
/// that none of the rows of its name has.
[[nodiscard]] Result<std::shared_ptr<Store>> open_store(const StoreUrl& url, const Config& config,
                                                        std::span<const StoreEntry> table = store_table());
/// Whether a storage option may be shown and stored with this value: not those that no row has.
[[nodiscard]] bool is_public_option(std::string_view name, std::string_view value);
/// The config for one of two stores to which a caller gives the same options: without those that only `other` has.
[[nodiscard]] Config config_beside(const StoreUrl& url, const StoreUrl& other, Config config);
/// open_store() for nodes: an archive that was made of one node begins in its directory (StoreUrl::Layer::seeks_root).
[[nodiscard]] Result<std::shared_ptr<Store>> open_sought(const StoreUrl& url, const Config& config,
                                                         std::span<const StoreEntry> table = store_table());
/// The format of a node: `given`, or that which its name says; empty if neither does. invalid_argument if they differ.
[[nodiscard]] Result<std::string> format_of(const StoreUrl& url, const std::string& given);
[[nodiscard]] const Format* find_format(std::string_view name) noexcept;

}  // namespace sherd
