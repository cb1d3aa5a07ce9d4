// The state behind a Writer.
#pragma once

#include <mutex>

#include "netcdf/definitions.hpp"

namespace sherd::netcdf {

struct Writer::State {
  std::mutex mutex;  ///< of all that follows; elements are written without it
  Form form;
  decltype(Tables::notes) notes = {};  ///< of nodes that are moved; `form` has none, since the writer makes its own
  std::optional<Dataset> opened;       ///< as it was found
  bool overwrite = false, consolidated = true;
  bool defined = false;  ///< something that is not stored yet; lengths that have grown do not count
  GroupDefinition root;
};

/// For changes of many nodes: most of the time is spent waiting for the store, by as many threads as that is worth.
[[nodiscard]] Config waiting(const Form& form);

Result<void> check_attribute_name(const std::string& name);
Result<void> check_dimension_name(const std::string& name);
/// `conflict` if the group has a member of this name.
Result<void> check_new_name(const Writer::State& state, const GroupDefinition& group, const std::string& name);
/// Stores everything that is defined and has changed; the caller holds the mutex, as for consolidate().
Result<void> store_all(Writer::State& state);
/// Writes consolidated metadata, if the dataset is to have them.
Result<void> consolidate(const Writer::State& state);

/// A writer of a new dataset at `location`, which is writable and has its format. Nothing is stored yet.
Result<Writer> create_writer(NodeLocation location, const NewDataset& options);

/// A writer of the dataset at `location`, which is writable.
Result<Writer> open_writer(NodeLocation location, const Mode& mode);

/// Stores what was defined, set and grown in a stored group or variable since it was stored: merged into the metadata
/// as they are by then, so that what others have changed in the meantime stays as it is. One that was erased is
/// `not_found` if there is anything to store. A group that others erased and a new member brought back is no longer
/// `listed`, and its own group has changed. What others have erased is not listed.
Result<void> store_changes(const Form& form, GroupDefinition& group);
Result<void> store_changes(const Form& form, const std::string& group, const VariableDefinition& variable);

/// What no array's fill value can say is written into every element of a box.
Result<void> fill_text(const VariableDefinition& variable, const Box& box);

/// `unsupported` if the elements of the variable cannot be written.
Result<void> check_writable(const VariableDefinition& variable);

/// Makes unlimited dimensions as long as a box needs them, and with them all variables that have them. Where one of
/// these cannot grow, none has.
Result<void> grow(Writer::State& state, VariableDefinition& variable, const Box& box);

/// Makes the variables that others have made as long as those dimensions of the group that have grown since it was
/// stored.
Result<void> grow_others(const Form& form, const GroupDefinition& group);

}  // namespace sherd::netcdf
