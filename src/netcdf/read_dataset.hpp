// Reads the metadata of a whole dataset.
#pragma once

#include <memory>

#include "netcdf/model.hpp"

namespace sherd::netcdf {

/// The dataset for a writer, if the location is writable: consolidated metadata are not used, and documents of Zarr v2
/// are kept as stored, except for element types that represent others.
Result<std::shared_ptr<Dataset::State>> read_state(NodeLocation location, const Mode& mode, bool consolidated = true);
/// Reads the dataset whose root group, or only array, is at `location`; determines its format.
Result<Dataset> read_dataset(NodeLocation location, const Mode& mode, bool consolidated = true);

}  // namespace sherd::netcdf
