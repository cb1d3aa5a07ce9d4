// The elements of a variable in a netCDF file.
#pragma once

#ifdef SHERD_NETCDF

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/netcdf_library.hpp"
#include "io/netcdf_texts.hpp"
#include "netcdf/model.hpp"

namespace sherd {

struct OpenNetcdfFile {
  const NetcdfLibrary& library;
  int id;
  std::string path;

  OpenNetcdfFile(const NetcdfLibrary& with, int file, std::string at) : library(with), id(file), path(std::move(at)) {}
  OpenNetcdfFile(const OpenNetcdfFile&) = delete;
  OpenNetcdfFile& operator=(const OpenNetcdfFile&) = delete;
  ~OpenNetcdfFile();
};

struct NetcdfElements {
  std::shared_ptr<const OpenNetcdfFile> file;
  int group = -1, variable = -1;
  netcdf::Type type = netcdf::Type::int32;
  std::optional<FixedTexts> fixed_texts = {};  ///< set if libnetcdf may not read the elements
};
/// Each read holds the lock of the library.
std::shared_ptr<const netcdf::ElementSource> make_elements(NetcdfElements elements,
                                                           const std::vector<netcdf::Dimension>& dimensions);

/// Copies of texts; `nulls` receives the positions of null pointers, which are empty.
std::vector<std::string> owned_texts(const std::vector<char*>& texts, std::vector<std::uint64_t>& nulls);

}  // namespace sherd

#endif
