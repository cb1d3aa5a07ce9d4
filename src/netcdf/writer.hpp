// The state of a Writer.
#pragma once

#include <mutex>

#include "netcdf/definitions.hpp"

namespace sherd::netcdf {

struct Writer::State {
  std::mutex mutex;  ///< guards everything below; elements are written without it
  Form form;
  std::optional<Dataset> opened;  ///< as it was found
  bool consolidated = true;
  bool defined = false;  ///< something is not stored yet; lengths that have grown do not count
  bool behind = false;   ///< it was opened with lengths of arrays and dimensions that differ, as after a kill
  GroupDefinition root;
  std::vector<std::string> lost_before = {};  ///< losses() of the dataset when it was opened, which are not new
};

/// The sentences of Writer::losses() for everything that is defined.
[[nodiscard]] std::vector<std::string> losses_of(const Writer::State& state);

/// For changes of many nodes, which mostly wait for the store: as many threads as are worthwhile for that.
[[nodiscard]] Config waiting(const Form& form);

Result<void> check_attribute_name(const std::string& name);
Result<void> check_dimension_name(const std::string& name);
/// `conflict` if the group has a member of this name.
Result<void> check_new_name(const Writer::State& state, const GroupDefinition& group, const std::string& name);
/// Stores all definitions and changes; the caller holds the mutex, as for consolidate().
Result<void> store_all(Writer::State& state);
/// Writes consolidated metadata, if the dataset has them.
Result<void> consolidate(const Writer::State& state);

/// The state of a writer of a new dataset at `location`, which is writable and has a format. Its root group is stored;
/// `conflict` if anything exists there. `options.overwrite` is ignored.
Result<std::shared_ptr<Writer::State>> create_writer(NodeLocation location, const NewDataset& options);
/// The paths of everything that is defined below the root, without the leading slash; groups before their members.
[[nodiscard]] std::vector<std::string> member_paths(const Writer::State& state);

/// A writer of the dataset at `location`, which is writable.
Result<Writer> open_writer(NodeLocation location, const Mode& mode);

/// A lasting `conflict` if the dimensions or members in `document`, the metadata of a stored group, are not those that
/// the writer read or stored last: another process has changed them. Pure Zarr has no such metadata, so there this
/// always succeeds.
Result<void> check_known(const Form& form, const GroupDefinition& group, const Json& document);
/// As check_known(), reading the metadata of the group; `below`: also those of all groups below it.
Result<void> check_definitions(const Form& form, const GroupDefinition& group, bool below);
/// Stores what was defined, set and grown in a stored group or variable since it was last stored. Everything else in
/// the present metadata is kept, also attributes that others have set. `conflict` as check_known() if dimensions or
/// members are stored; `not_found` if the node was erased.
Result<void> store_changes(const Form& form, GroupDefinition& group);
Result<void> store_changes(const Form& form, const std::string& group, const VariableDefinition& variable);

/// Writes a fill value that the array's own cannot express into the new parts of a variable; what is left after an
/// error is filled by the next call.
Result<void> fill_new_parts(VariableDefinition& variable);

/// `unsupported` if the elements of the variable cannot be written.
Result<void> check_writable(const VariableDefinition& variable);

/// Extends variables that were shorter than their dimensions when the dataset was opened. An unlimited dimension is as
/// long as its longest variable; its length is recorded when its group is stored.
Result<void> catch_up(Writer::State& state);

/// Extends unlimited dimensions, and all variables that have them, to the length needed for a box. If one of these
/// cannot grow, none does. `conflict` if another process has extended one, or changed the definitions of a group.
Result<void> grow(Writer::State& state, VariableDefinition& variable, const Box& box);

/// The LengthsHook of NCZarr. If the group belongs to a dataset: records the length of unlimited dimensions, to which
/// their variables have grown, and extends other variables along them.
Result<void> lengths_changed(const NodeLocation& group);

}  // namespace sherd::netcdf
