// Finds the archive of a store, also below wrappers.
#pragma once

#include <memory>

#include "sherd/store.hpp"
#include "store/capabilities.hpp"

namespace sherd {

/// The archive that a store shows as a whole, also below wrappers; otherwise nullptr.
[[nodiscard]] ArchiveStore* archive_of(Store& store);

/// The archive some or all of whose members a store shows; otherwise nullptr.
[[nodiscard]] ArchiveStore* archive_around(Store& store);

/// The store of that whole archive, found from a store that shows all or some of its members; nullptr if parents lead
/// to none.
[[nodiscard]] std::shared_ptr<Store> whole_archive(std::shared_ptr<Store> store);

/// Whether the URL of a store, or of the one that contains its archive, has a query that is not shown.
[[nodiscard]] bool has_hidden_query(const Store& store);

/// Whether a store shows members of an archive: without Store::finish(), what is written into it is lost.
[[nodiscard]] inline bool is_in_archive(Store& store) { return archive_around(store) != nullptr; }

}  // namespace sherd
