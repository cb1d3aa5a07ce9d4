// Elements of netCDF-4 files that libhdf5 itself reads: texts of fixed length, because libnetcdf 4.9.0 returns other
// texts or writes beyond its memory, and everything in a file that is read in parts.
#pragma once

#ifdef SHERD_NETCDF

#include <string>
#include <vector>

#include "io/netcdf_library.hpp"
#include "netcdf/model.hpp"
#include "sherd/box.hpp"

namespace sherd {

/// The caller holds a NetcdfLock during every call.
class Hdf5Dataset {
 public:
  /// `dataset`: its path in an HDF5 file that is open. `access`: the properties with which it was opened.
  static Result<Hdf5Dataset> open(const NetcdfLibrary& library, std::string path, std::string dataset,
                                  Hdf5Library::Id access);
  /// The elements of a box that are stored; others in `to` are left unchanged. Not for texts.
  [[nodiscard]] Result<void> read(const Box& box, netcdf::Type type, std::byte* to) const;
  /// The texts of a box without the NULs that pad them; empty where the dataset ends before the box, or `fill` if texts
  /// have any length. `nulls` receives the positions of null pointers, which are empty.
  [[nodiscard]] Result<std::vector<std::string>> read_texts(const Box& box, const std::string& fill,
                                                            std::vector<std::uint64_t>& nulls) const;

 private:
  Hdf5Dataset(const Hdf5Library& hdf5, std::string path, std::string dataset, Hdf5Library::Id access,
              Hdf5Identity identity)
      : hdf5_(&hdf5), path_(std::move(path)), dataset_(std::move(dataset)), access_(access), identity_(identity) {}
  template <class Read>
  [[nodiscard]] Result<void> opened(const Box& box, const Read& read) const;

  const Hdf5Library* hdf5_;
  std::string path_, dataset_;
  Hdf5Library::Id access_;
  Hdf5Identity identity_;
};

/// The type of libhdf5 for numbers in memory.
[[nodiscard]] Hdf5Library::Id memory_type(const Hdf5Library& hdf5, netcdf::Type type);

/// Copies of texts; `nulls` receives the positions of null pointers, which are empty.
std::vector<std::string> owned_texts(const std::vector<char*>& texts, std::vector<std::uint64_t>& nulls);

}  // namespace sherd

#endif
