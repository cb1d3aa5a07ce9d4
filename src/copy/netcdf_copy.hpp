// The parts of a copy of a netCDF dataset: the filters and chunks of a variable, and the boxes in which it is
// copied.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "netcdf/sink.hpp"
#include "sherd/netcdf_copy.hpp"

namespace sherd::netcdf {

/// Whether a user's name, "v" or "/g1/v", names this variable.
[[nodiscard]] bool is_named(const std::string& wanted, const Variable& variable);

/// How a destination stores filters.
enum class FilterForm : std::uint8_t { zarr2, zarr3, hdf5, none };

/// Sets the filters of `to`, the copy of a variable, and returns those for which NewVariable has no members.
/// `unsupported` if the destination cannot have one that the source has or the options request; a warning if it cannot
/// have the source's checksum together with the options' compression.
[[nodiscard]] Result<std::vector<Filter>> choose_filters(const Variable& source, const DatasetCopyOptions& options,
                                                         FilterForm form, NewVariable& to,
                                                         std::vector<std::string>& warnings);

/// The chunks set in the options; nullopt if they are not set.
[[nodiscard]] Result<std::optional<Shape>> chosen_chunks(const Variable& source, const DatasetCopyOptions& options);
/// Chunks for a variable whose source has none. An unlimited dimension is used with its present length.
/// `string_bytes`: of a string in the copy.
[[nodiscard]] Shape usual_chunks(const Variable& source, std::uint64_t string_bytes);

/// The input for the shape of boxes. Shapes have the variable's rank; a source without chunks has none.
struct BoxPlan {
  Shape shape, source_chunks, objects;  ///< objects: the units that a write of the destination replaces
  std::uint64_t element_bytes = 1;
};
/// The shape of the boxes in which a variable is copied: whole objects, so that no two boxes share one, and if
/// `most` bytes allow it whole chunks of the source, so that each is read once. Small boxes are joined up to
/// `enough` bytes.
[[nodiscard]] Shape box_shape(const BoxPlan& plan, std::uint64_t most, std::uint64_t enough);

/// Boxes that cover a variable.
struct Boxes {
  Shape shape, box, grid;
  std::uint64_t count = 1;

  [[nodiscard]] Box at(std::uint64_t index) const;
};
[[nodiscard]] Result<Boxes> boxes_of(const Shape& shape, const Shape& box);

/// Small boxes are joined up to this many bytes.
inline constexpr std::uint64_t kEnough = std::uint64_t{16} << 20U;
/// The number of copying threads, which may be more than the cores: while some wait for the disk or for libnetcdf's
/// lock, others encode.
inline constexpr unsigned kWaiting = 8;

/// The heap is trimmed each time this part of the memory budget was copied: threads keep the memory of freed strings.
inline constexpr std::uint64_t kTrimsPerBudget = 4;

/// The sizes of the strings of a variable, in bytes.
struct StringSizes {
  std::uint64_t longest = 0;
  std::uint64_t mean = 0;   ///< of the box with the longest strings
  std::uint64_t fixed = 0;  ///< of each in the copy, if that has strings of a fixed length

  [[nodiscard]] std::uint64_t stored() const { return std::max(mean, fixed); }
  /// The memory of a string while it is copied.
  [[nodiscard]] std::uint64_t memory() const;
};
/// What is known without reading elements: their fixed size, if they have one.
[[nodiscard]] std::optional<StringSizes> known_sizes(const Variable& source);
/// Reads all elements, in boxes of whole chunks. Boxes of several chunks have few strings, since their sizes are not
/// known before they are read.
[[nodiscard]] Result<StringSizes> measured_sizes(const Variable& source, const Config& config);

/// Copies a whole dataset into a sink, which as yet has no definitions except the root's attributes.
struct CopyTask {
  const Dataset& source;
  Sink& sink;
  FilterForm form;
  const DatasetCopyOptions& options;
  Mode mode = {};       ///< of a copy in Zarr
  bool sparse = false;  ///< variables without stored chunks are only defined: their elements are fill values
};
[[nodiscard]] Result<DatasetCopyReport> copy_dataset(const CopyTask& task, DatasetCopyReport report);

/// Attributes in the form that the copy has: text that is not UTF-8 cannot be stored in Zarr and is read as Latin-1;
/// names that describe storage are left out. Each is reported with a warning.
[[nodiscard]] std::vector<Attribute> copied_attributes(const std::vector<Attribute>& attributes, FilterForm form,
                                                       const std::string& place, std::vector<std::string>& warnings);

}  // namespace sherd::netcdf
