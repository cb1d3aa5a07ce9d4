// Texts of fixed length in netCDF-4 files, read by libhdf5 itself: libnetcdf 4.9.0 returns other texts, or writes
// beyond its memory.
#pragma once

#ifdef SHERD_NETCDF

#include <string>
#include <vector>

#include "io/netcdf_library.hpp"
#include "sherd/box.hpp"

namespace sherd {

/// The caller holds a NetcdfLock during every call.
class FixedTexts {
 public:
  /// `dataset`: its path in an HDF5 file that libnetcdf has opened.
  static Result<FixedTexts> open(const NetcdfLibrary& library, std::string path, std::string dataset);
  /// The texts of a box without the NULs that pad them; empty where the dataset ends before the box.
  [[nodiscard]] Result<std::vector<std::string>> read(const Box& box) const;

 private:
  FixedTexts(const Hdf5Library& hdf5, std::string path, std::string dataset, Hdf5Identity identity)
      : hdf5_(&hdf5), path_(std::move(path)), dataset_(std::move(dataset)), identity_(identity) {}

  const Hdf5Library* hdf5_;
  std::string path_, dataset_;
  Hdf5Identity identity_;
};

}  // namespace sherd

#endif
