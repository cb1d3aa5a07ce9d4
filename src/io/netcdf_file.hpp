// netCDF files, classic and netCDF-4, through the optional libnetcdf: without it they are recognized and refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.hpp"
#include "io/partial_copy.hpp"
#include "netcdf/sink.hpp"
#include "sherd/netcdf.hpp"

namespace sherd {

/// Whether a path is a regular file with the signature of netCDF classic or HDF5.
[[nodiscard]] bool is_netcdf_file(const std::string& path);

[[nodiscard]] Result<bool> is_netcdf_file(FileBytes& file);

/// Opens the dataset in such a file. Elements are read by one thread at a time.
Result<netcdf::Dataset> open_netcdf_file(const std::string& path, const Config& config);
/// Opens the dataset in a file on a server: reads only the definitions, and later the elements that are wanted. The
/// whole file is read if libnetcdf needs more of it.
Result<netcdf::Dataset> open_netcdf_file(std::shared_ptr<PartialCopy> copy, const Config& config);

/// The kind of a netCDF file for a name that users may give: "classic", "nc3" or "3" are "classic", and so on.
/// invalid_argument for other names.
Result<std::string> netcdf_kind(std::string_view word);

struct NewNetcdfFile {
  std::string path;
  std::string kind;  ///< as returned by Dataset::kind()
  std::vector<netcdf::Attribute> attributes = {};
  WriteMode mode = {};
  bool fills = false;  ///< elements that are never written are fill values, even in classic files
};
/// Creates a file, which appears under its name when it is finished. `conflict` if it exists.
Result<std::unique_ptr<netcdf::Sink>> create_netcdf_file(const NewNetcdfFile& file);

struct ClassicVariable {
  std::uint64_t begin = 0;   ///< of its bytes in the file
  std::uint64_t bytes = 0;   ///< of the variable or, if it has records, of one record
  std::uint64_t stride = 0;  ///< the bytes from one record to the next; 0 without records
  bool record = false;
};

struct ClassicFile {
  /// The number of records, if the header leaves it open; libnetcdf would read 4,294,967,295.
  std::optional<std::uint64_t> records;
  std::uint64_t header_bytes = 0;
  std::vector<ClassicVariable> variables;  ///< in the order of the header
};
/// Refuses a classic file that is shorter than its header says, because libnetcdf would read zeros. nullopt for other
/// files.
Result<std::optional<ClassicFile>> check_classic_file(FileBytes& file);

}  // namespace sherd
