// What a copy or an import does when all objects of its destination are stored.
#pragma once

#include <memory>

#include "sherd/store.hpp"

namespace sherd {

/// Finishes a store that was filled as a whole. An archive whose name ends in .ozx with an OME-NGFF group at its root
/// gets the comment of RFC-9 of OME-NGFF, and its directory begins with the metadata documents, breadth first. A later
/// change drops the comment.
Result<void> finish_whole(const std::shared_ptr<Store>& store);

}  // namespace sherd
