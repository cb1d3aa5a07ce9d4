// The state behind a Writer.
#pragma once

#include <mutex>

#include "netcdf/definitions.hpp"

namespace sherd::netcdf {

struct Writer::State {
  std::mutex mutex;  ///< of all that follows; elements are written without it
  Form form;
  std::optional<Dataset> opened;  ///< as it was found
  bool overwrite = false, consolidated = true;
  bool defined = false;  ///< something that is not stored yet; lengths that have grown do not count
  GroupDefinition root;
};

/// A writer of a new dataset at `location`, which is writable and has its format. Nothing is stored yet.
Result<Writer> create_writer(NodeLocation location, const NewDataset& options);

/// A writer of the dataset at `location`, which is writable.
Result<Writer> open_writer(NodeLocation location, const Mode& mode);

/// Changes the metadata of an existing node: what `made` has of notes is merged into those that are stored, and
/// attributes that were touched are replaced. Everything else stays as it is.
Result<void> edit_node(const NodeLocation& location, NodeType type, const Json& made, const Touched& touched);

}  // namespace sherd::netcdf
