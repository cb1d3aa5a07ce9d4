// What a copy or an import does before and after all objects of its destination are stored.
#pragma once

#include <memory>
#include <string_view>

#include "sherd/store.hpp"

namespace sherd {

/// Whether a key is that of a document of Zarr v3.
[[nodiscard]] bool is_zarr3_document(std::string_view key);

/// Before a store is filled as a whole: an archive whose name ends in .ozx begins with the documents of Zarr v3,
/// breadth first, as RFC-9 of OME-NGFF recommends.
void begin_whole(Store& store);

/// Finishes such a store. With an OME-NGFF group at its root the archive also gets the comment of RFC-9. A later change
/// drops the comment.
Result<void> finish_whole(const std::shared_ptr<Store>& store);

}  // namespace sherd
