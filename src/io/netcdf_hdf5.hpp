// The functions of the libhdf5 that libnetcdf has loaded, whatever the name of that library is. They are declared here,
// because the headers of HDF5 describe one release and the library may be another; these functions have been the same
// since HDF5 1.10. Every call needs a NetcdfLock.
#pragma once

#ifdef SHERD_NETCDF

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>

// X(result, name, arguments)
#define SHERD_HDF5_FUNCTIONS(X)                                                                         \
  X(int, H5dont_atexit, ())                                                                             \
  X(int, H5open, ())                                                                                    \
  X(int, H5close, ())                                                                                   \
  X(int, H5get_libversion, (unsigned* major, unsigned* minor, unsigned* release))                       \
  X(int, H5Eset_auto2, (Id stack, void* function, void* data))                                          \
  X(Id, H5FDregister, (const void* driver))                                                             \
  X(Id, H5Pcreate, (Id of))                                                                             \
  X(int, H5Pset_driver, (Id properties, Id driver, const void* info))                                   \
  X(const void*, H5Pget_driver_info, (Id properties))                                                   \
  X(Id, H5Fopen, (const char* path, unsigned flags, Id properties))                                     \
  X(int, H5Fclose, (Id file))                                                                           \
  X(int, H5Giterate, (Id group, const char* name, int* first, LinkVisitor visit, void* to))             \
  X(int, H5Gget_objinfo, (Id group, const char* name, bool follow, ObjectInfo* to))                     \
  X(std::int64_t, H5Lget_name_by_idx,                                                                   \
    (Id group, const char* at, int index, int order, Size number, char* to, std::size_t size, Id how))  \
  X(Id, H5Oopen, (Id group, const char* name, Id properties))                                           \
  X(int, H5Oclose, (Id object))                                                                         \
  X(int, H5Aiterate2, (Id object, int index, int order, Size* first, AttributeVisitor visit, void* to)) \
  X(Id, H5Aopen, (Id object, const char* name, Id properties))                                          \
  X(int, H5Aclose, (Id attribute))                                                                      \
  X(Id, H5Aget_type, (Id attribute))                                                                    \
  X(Id, H5Aget_space, (Id attribute))                                                                   \
  X(int, H5Aread, (Id attribute, Id type, void* to))                                                    \
  X(int, H5Dread, (Id dataset, Id type, Id memory, Id stored, Id properties, void* to))                 \
  X(Id, H5Dget_type, (Id dataset))                                                                      \
  X(Id, H5Dget_space, (Id dataset))                                                                     \
  X(Id, H5Dget_create_plist, (Id dataset))                                                              \
  X(int, H5Pfill_value_defined, (Id properties, int* how))                                              \
  X(int, H5Pget_fill_value, (Id properties, Id type, void* to))                                         \
  X(int, H5Pclose, (Id properties))                                                                     \
  X(Id, H5Tget_native_type, (Id type, int order))                                                       \
  X(Id, H5Tget_super, (Id type))                                                                        \
  X(int, H5Tclose, (Id type))                                                                           \
  X(int, H5Tget_class, (Id type))                                                                       \
  X(std::size_t, H5Tget_size, (Id type))                                                                \
  X(int, H5Tget_sign, (Id type))                                                                        \
  X(int, H5Tis_variable_str, (Id type))                                                                 \
  X(Id, H5Screate, (int kind))                                                                          \
  X(Id, H5Screate_simple, (int rank, const Size* shape, const Size* longest))                           \
  X(int, H5Sget_simple_extent_dims, (Id space, Size * lengths, Size * longest))                         \
  X(int, H5Sselect_none, (Id space))                                                                    \
  X(int, H5Sselect_hyperslab,                                                                           \
    (Id space, int how, const Size* start, const Size* stride, const Size* count, const Size* block))   \
  X(int, H5Sclose, (Id space))                                                                          \
  X(int, H5Sget_simple_extent_ndims, (Id space))                                                        \
  X(int, H5Sget_simple_extent_type, (Id space))                                                         \
  X(std::int64_t, H5Sget_simple_extent_npoints, (Id space))                                             \
  X(int, H5Dvlen_reclaim, (Id type, Id space, Id properties, void* elements))                           \
  X(int, H5free_memory, (void* memory))

// X(name): identifiers of properties, and of the types of numbers in memory
#define SHERD_HDF5_TYPES(X)   \
  X(H5P_CLS_FILE_ACCESS_ID_g) \
  X(H5T_NATIVE_INT8_g)        \
  X(H5T_NATIVE_INT16_g)       \
  X(H5T_NATIVE_INT32_g)       \
  X(H5T_NATIVE_INT64_g)       \
  X(H5T_NATIVE_UINT8_g)       \
  X(H5T_NATIVE_UINT16_g)      \
  X(H5T_NATIVE_UINT32_g)      \
  X(H5T_NATIVE_UINT64_g)      \
  X(H5T_NATIVE_FLOAT_g)       \
  X(H5T_NATIVE_DOUBLE_g)

namespace sherd {

struct Hdf5Library {
  using Id = std::int64_t;
  using Size = unsigned long long;

  /// A link, or the object that it leads to.
  struct ObjectInfo {
    unsigned long file[2], number[2];  ///< identify the object
    unsigned links;
    int kind;
    std::time_t changed;
    std::size_t link_length;
    std::uint64_t header[4];
  };
  static constexpr int kGroup = 0, kDataset = 1,
                       kDatatype = 2;  ///< of ObjectInfo; greater: links that are not followed

  enum Class : int { integer, floating, time, text, bits, opaque, compound, reference, enumeration, ragged, array };
  static constexpr int kFillIsGiven = 2;                  ///< of H5Pfill_value_defined()
  static constexpr int kOneElement = 0, kNoElements = 2;  ///< of H5Sget_simple_extent_type(); 1: an array

  using LinkVisitor = int (*)(Id group, const char* name, void* to);
  using AttributeVisitor = int (*)(Id object, const char* name, const void* info, void* to);

#define SHERD_HDF5_MEMBER(result, name, arguments) result(*name) arguments = nullptr;
  SHERD_HDF5_FUNCTIONS(SHERD_HDF5_MEMBER)
#undef SHERD_HDF5_MEMBER
#define SHERD_HDF5_MEMBER(name) const Id* name = nullptr;
  SHERD_HDF5_TYPES(SHERD_HDF5_MEMBER)
#undef SHERD_HDF5_MEMBER
};

/// An identifier, released at the end.
class Hdf5Handle {
 public:
  using Id = Hdf5Library::Id;
  Hdf5Handle(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (!failed()) close_(id_);
  }
  [[nodiscard]] Id id() const { return id_; }
  [[nodiscard]] bool failed() const { return id_ < 0; }

 private:
  Id id_;
  int (*close_)(Id);
};

/// An object in a file that is open.
using Hdf5Identity = std::array<unsigned long, 4>;
[[nodiscard]] inline Hdf5Identity identity_of(const Hdf5Library::ObjectInfo& info) {
  return {info.file[0], info.file[1], info.number[0], info.number[1]};
}

}  // namespace sherd

#endif
