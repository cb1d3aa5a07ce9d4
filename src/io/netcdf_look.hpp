// What a netCDF-4 file contains according to libhdf5, to know beforehand what libnetcdf misreads, does not list, or
// crashes on.
#pragma once

#ifdef SHERD_NETCDF

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/netcdf_elements.hpp"
#include "sherd/netcdf.hpp"

namespace sherd {

/// Members are identified by their paths in the dataset: "/", "/g", "/g/v".
struct NetcdfLook {
  struct Variable {
    std::string stored;                       ///< its path in HDF5
    std::string elements;                     ///< what they are, if libnetcdf does not list it
    std::string fault = {};                   ///< why it may not be read; empty if it may
    bool is_lost = false;                     ///< because of the fault, though netCDF has a type for it
    std::vector<std::uint64_t> lengths = {};  ///< of its dimensions
    bool is_fixed_text = false;               ///< its elements are texts of a fixed length above 1
  };
  struct Attribute {
    std::string name;
    std::string fault;  ///< why it is missing if it is
  };
  std::map<std::string, Variable> variables;
  /// The attributes of groups and variables, without those that libnetcdf hides.
  std::map<std::string, std::vector<Attribute>> listed;
  /// By group: its attributes, if libnetcdf can read none of them. Those without a netCDF type are left out.
  std::map<std::string, std::vector<netcdf::Attribute>> attributes;
  /// Links to dimension scales that have another link in the same group or above, with the path of that one.
  std::map<std::string, std::string> second_links;
  /// What makes libnetcdf fail, if it does.
  std::vector<std::string> suspects;

  /// Empty if it is not an HDF5 file that can be opened, which libnetcdf will report. `unsupported` if libnetcdf would
  /// crash or never return. Of a file that is read in parts, everything is read that libnetcdf may read when it opens
  /// the file.
  static Result<NetcdfLook> take(const NetcdfLibrary& library, const OpenNetcdfFile& file, const Config& config,
                                 NetcdfLock& lock);
};

}  // namespace sherd

#endif
