// Archives as a whole: what a copy or an import does before and after all objects are stored, and what is checked.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sherd/store.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Whether a key is that of a document of Zarr v3.
[[nodiscard]] bool is_zarr3_document(std::string_view key);

/// Before a store is filled as a whole, or a part of it is copied, imported, repaired or compacted: an archive whose
/// name ends in .ozx begins with the documents of Zarr v3, breadth first, as RFC-9 of OME-NGFF recommends.
void begin_whole(Store& store);

/// Finishes such a store. With an OME-NGFF group at its root the archive also gets the comment of RFC-9. A later change
/// drops the comment.
Result<void> finish_whole(const std::shared_ptr<Store>& store);

/// Warns of what an archive as a whole lacks: members that readers cannot see, an order that its comment promises, and
/// what RFC-9 requires and recommends for .ozx files.
Result<void> check_archive(const std::shared_ptr<Store>& store, CheckReport& report);

/// Reads the members of an archive below `prefix`, and compares them with the archive's checksums. Reports those that
/// cannot be read, and have not been reported with an error.
Result<void> check_members(Store& store, const std::string& prefix, const Config& config, CheckReport& report);

}  // namespace sherd
