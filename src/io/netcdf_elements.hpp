// The elements of a variable in a netCDF file.
#pragma once

#ifdef SHERD_NETCDF

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/netcdf_dataset.hpp"
#include "io/netcdf_driver.hpp"
#include "io/netcdf_file.hpp"
#include "io/netcdf_library.hpp"
#include "netcdf/model.hpp"

namespace sherd {

/// A local file, or one on a server. Closes what is open.
struct OpenNetcdfFile {
  const NetcdfLibrary& library;
  std::string path;
  std::shared_ptr<PartialCopy> copy;        ///< of the file on a server; nullptr for a local one
  std::shared_ptr<Hdf5Ranges> ranges = {};  ///< nullptr unless it is a netCDF-4 file that is read in parts
  int id = -1;                              ///< for libnetcdf

  OpenNetcdfFile(const NetcdfLibrary& with, std::string at, std::shared_ptr<PartialCopy> copied)
      : library(with), path(std::move(at)), copy(std::move(copied)) {}
  OpenNetcdfFile(const OpenNetcdfFile&) = delete;
  OpenNetcdfFile& operator=(const OpenNetcdfFile&) = delete;
  ~OpenNetcdfFile();

  /// What errors call it.
  [[nodiscard]] const std::string& name() const noexcept { return copy ? copy->shown() : path; }
};

struct NetcdfElements {
  std::shared_ptr<const OpenNetcdfFile> file;
  int group = -1, variable = -1;
  netcdf::Type type = netcdf::Type::int32;
  std::optional<Hdf5Dataset> dataset = {};  ///< set if libnetcdf may not read the elements
  std::vector<std::byte> fill = {};         ///< an element beyond the end of `dataset`
  std::string text_fill = {};               ///< a string beyond the end of `dataset`
};
/// Each read holds the lock of the library.
std::shared_ptr<const netcdf::ElementSource> make_elements(NetcdfElements elements,
                                                           const std::vector<netcdf::Dimension>& dimensions);

/// The elements of a variable in a classic file on a server.
std::shared_ptr<const netcdf::ElementSource> classic_elements(std::shared_ptr<PartialCopy> copy,
                                                              const ClassicVariable& variable, netcdf::Type type,
                                                              const std::vector<netcdf::Dimension>& dimensions);

}  // namespace sherd

#endif
