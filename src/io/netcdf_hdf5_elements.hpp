// The type, the extent and the values of datasets and attributes in HDF5 files, as netCDF knows them.
#pragma once

#ifdef SHERD_NETCDF

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/netcdf_hdf5.hpp"
#include "sherd/netcdf.hpp"

namespace sherd {

/// The type and the extent of a dataset or an attribute.
struct Hdf5Elements {
  int kind = -1;  ///< Hdf5Library::Class
  std::size_t size = 0;
  bool is_signed = false, is_variable = false, is_null = false;
  int rank = 0;
  std::uint64_t count = 0;

  [[nodiscard]] bool is_number() const { return kind == Hdf5Library::integer || kind == Hdf5Library::floating; }
  [[nodiscard]] bool is_text() const { return kind == Hdf5Library::text; }
  /// The type of netCDF for numbers.
  [[nodiscard]] netcdf::Type number() const;
  /// For messages.
  [[nodiscard]] std::string description() const;

  static Hdf5Elements of(const Hdf5Library& hdf5, Hdf5Library::Id type, Hdf5Library::Id space);
};

/// Read an attribute; false if libhdf5 cannot.
[[nodiscard]] bool read_hdf5_numbers(const Hdf5Library& hdf5, Hdf5Library::Id attribute, const Hdf5Elements& elements,
                                     netcdf::Values& to);
/// As libnetcdf does it: a single text of fixed length is of the type `character`, and others are strings.
[[nodiscard]] bool read_hdf5_texts(const Hdf5Library& hdf5, Hdf5Library::Id attribute, Hdf5Library::Id type,
                                   const Hdf5Elements& elements, netcdf::Attribute& to);

}  // namespace sherd

#endif
