// The order of a zip archive's directory: some members may be first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "store/capabilities.hpp"
#include "store/zip_archive.hpp"

namespace sherd {

/// Members that are first are sorted by this: by depth, then by key.
using ZipOrder = std::pair<std::ptrdiff_t, std::string_view>;
[[nodiscard]] ZipOrder zip_order(std::string_view key) noexcept;

/// The records of `directory`, those that are first in their order, and then all others as they are.
Result<std::string> with_zip_first(const std::string& directory, std::uint64_t count, const KeyTest& is_first);

/// Whether an archive begins with all members that are first, by depth.
Result<ArchiveStore::Order> has_zip_first(const ZipArchive& archive, const KeyTest& is_first);

}  // namespace sherd
