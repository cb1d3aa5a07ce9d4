// Finds the archive of a store, also below wrappers.
#pragma once

#include "sherd/store.hpp"
#include "store/capabilities.hpp"

namespace sherd {

/// The archive that a store shows as a whole, also below wrappers; otherwise nullptr.
[[nodiscard]] ArchiveStore* archive_of(Store& store);

/// Whether a store shows members of an archive: without Store::finish(), what is written into it is lost.
[[nodiscard]] bool is_in_archive(Store& store);

}  // namespace sherd
