// The parts of a copy of a netCDF dataset: which filters and chunks a variable gets, and the boxes in which it is
// copied.
#pragma once

#include <string>
#include <vector>

#include "netcdf/sink.hpp"
#include "sherd/netcdf_copy.hpp"

namespace sherd::netcdf {

/// Whether a user's name, "v" or "/g1/v", means a variable.
[[nodiscard]] bool is_named(const std::string& wanted, const Variable& variable);

/// How a destination stores filters.
enum class FilterForm : std::uint8_t { zarr2, zarr3, hdf5, none };

/// Sets the filters of `to`, the copy of a variable, and returns those that NewVariable has no members for.
/// `unsupported` where the destination cannot have one that the source has or the options ask for.
[[nodiscard]] Result<std::vector<Filter>> choose_filters(const Variable& source, const DatasetCopyOptions& options,
                                                         FilterForm form, NewVariable& to);

/// Chunks as the options ask for; nullopt if they do not.
[[nodiscard]] Result<std::optional<Shape>> chosen_chunks(const Variable& source, const DatasetCopyOptions& options);
/// Chunks for a variable whose source has none. An unlimited dimension counts with its present length.
[[nodiscard]] Shape usual_chunks(const Variable& source);

/// What a box of a copy depends on. Shapes are of the variable's rank; a source without chunks has none.
struct BoxPlan {
  Shape shape, source_chunks, objects;  ///< objects: what one write of the destination makes whole
  std::uint64_t element_bytes = 1;
};
/// The shape of the boxes in which a variable is copied: of whole objects, so that two never meet in one, and where
/// `most` bytes allow it of whole chunks of the source, so that each is read once. Small ones are joined up to
/// `enough` bytes.
[[nodiscard]] Shape box_shape(const BoxPlan& plan, std::uint64_t most, std::uint64_t enough);

/// Copies all of a dataset into a sink, which has no definitions but the root's attributes yet.
struct CopyTask {
  const Dataset& source;
  Sink& sink;
  FilterForm form;
  const DatasetCopyOptions& options;
  bool pure = false;  ///< into Zarr without NCZarr's metadata
};
[[nodiscard]] Result<DatasetCopyReport> copy_dataset(const CopyTask& task, DatasetCopyReport report);

/// Adds warnings of what pure Zarr changes, of a group without its members (`fixed`: its dimensions are
/// to be), and of a variable.
void warn_of_pure_group(const Group& group, bool fixed, std::vector<std::string>& warnings);
void warn_of_pure_variable(const Variable& variable, FilterForm form, std::vector<std::string>& warnings);

/// Attributes as the copy has them: text that is not UTF-8 cannot be stored in Zarr and is taken for Latin-1, and names
/// that describe storage are left out, each with a warning.
[[nodiscard]] std::vector<Attribute> copied_attributes(const std::vector<Attribute>& attributes, FilterForm form,
                                                       const std::string& place, std::vector<std::string>& warnings);

}  // namespace sherd::netcdf
