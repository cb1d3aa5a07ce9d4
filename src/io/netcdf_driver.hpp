// An HDF5 file that libhdf5 reads through a PartialCopy, by a virtual file driver. libnetcdf has no way to use one: it
// opens the local file, which therefore must have all metadata before.
#pragma once

#ifdef SHERD_NETCDF

#include <memory>

#include "io/netcdf_library.hpp"
#include "io/partial_copy.hpp"

namespace sherd {

/// The caller holds a NetcdfLock during every call, also when it is destroyed. As long as it exists, libhdf5 knows the
/// metadata that it has read.
class Hdf5Ranges {
 public:
  /// nullptr if libhdf5 does not accept the driver.
  static Result<std::shared_ptr<Hdf5Ranges>> open(const NetcdfLibrary& library, std::shared_ptr<PartialCopy> copy);
  ~Hdf5Ranges();
  Hdf5Ranges(const Hdf5Ranges&) = delete;
  Hdf5Ranges& operator=(const Hdf5Ranges&) = delete;

  /// The properties with which H5Fopen() opens the file by the path of its copy.
  [[nodiscard]] Hdf5Library::Id access() const noexcept { return access_; }
  [[nodiscard]] PartialCopy& copy() const noexcept { return *copy_; }

  /// Reads what libnetcdf may read of an attribute; values of more bytes are left out.
  static void load_attribute(const Hdf5Library& hdf5, Hdf5Library::Id attribute, std::uint64_t most_bytes);
  /// Reads the fill value of a dataset, which may be stored apart from its header.
  static void load_fill(const Hdf5Library& hdf5, Hdf5Library::Id dataset, Hdf5Library::Id type,
                        std::uint64_t most_bytes);
  /// Reads in which order the links of a group were created, which may be stored apart from their names.
  static void load_order(const Hdf5Library& hdf5, Hdf5Library::Id group);

 private:
  Hdf5Ranges(const Hdf5Library& hdf5, std::shared_ptr<PartialCopy> copy, Hdf5Library::Id access);
  const Hdf5Library& hdf5_;
  std::shared_ptr<PartialCopy> copy_;
  Hdf5Library::Id access_, file_;
};

}  // namespace sherd

#endif
