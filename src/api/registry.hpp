// The tables: which codecs, stores, formats and kinds of chunk storage there are. Handed down from here; no layer looks
// a table up.
#pragma once

#include <memory>
#include <span>

#include "array/state.hpp"
#include "base/url.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// One row of the store table: a kind of URL, and how its store is opened.
struct StoreEntry {
  StoreUrl::Kind kind;
  Result<std::shared_ptr<Store>> (*open)(const StoreUrl& url, const Config& config);
};

[[nodiscard]] Tables tables() noexcept;
[[nodiscard]] std::span<const StoreEntry> store_table() noexcept;
[[nodiscard]] const Format* find_format(std::string_view name) noexcept;

}  // namespace sherd
