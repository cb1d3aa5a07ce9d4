// libnetcdf, loaded at first use. It and libhdf5 below it keep global state, so one lock protects all
// calls.
#pragma once

#ifdef SHERD_NETCDF

#include <netcdf.h>
#include <netcdf_filter.h>

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "io/netcdf_hdf5.hpp"
#include "sherd/result.hpp"

#define SHERD_NETCDF_FUNCTIONS(X) \
  X(nc_strerror)                  \
  X(nc_inq_libvers)               \
  X(nc_open)                      \
  X(nc_create)                    \
  X(nc_close)                     \
  X(nc_sync)                      \
  X(nc_abort)                     \
  X(nc_enddef)                    \
  X(nc_set_fill)                  \
  X(nc_inq_format)                \
  X(nc_inq_grps)                  \
  X(nc_inq_grpname)               \
  X(nc_inq_dimids)                \
  X(nc_inq_dim)                   \
  X(nc_inq_unlimdims)             \
  X(nc_inq_varid)                 \
  X(nc_inq_varids)                \
  X(nc_inq_var)                   \
  X(nc_inq_natts)                 \
  X(nc_inq_attname)               \
  X(nc_inq_att)                   \
  X(nc_get_att)                   \
  X(nc_free_string)               \
  X(nc_inq_var_chunking)          \
  X(nc_inq_var_endian)            \
  X(nc_inq_var_fill)              \
  X(nc_inq_var_filter_ids)        \
  X(nc_inq_var_filter_info)       \
  X(nc_inq_filter_avail)          \
  X(nc_set_var_chunk_cache)       \
  X(nc_get_vara)                  \
  X(nc_def_grp)                   \
  X(nc_def_dim)                   \
  X(nc_def_var)                   \
  X(nc_def_var_chunking)          \
  X(nc_def_var_deflate)           \
  X(nc_def_var_fletcher32)        \
  X(nc_def_var_filter)            \
  X(nc_def_var_endian)            \
  X(nc_def_var_fill)              \
  X(nc_put_att)                   \
  X(nc_put_vara)

namespace sherd {

/// The functions that Sherd uses, by name. A NetcdfLock is held during every call.
class NetcdfLibrary {
 public:
  /// `unsupported` if it is not installed.
  static Result<const NetcdfLibrary*> load();

#define SHERD_NETCDF_MEMBER(name) decltype(&::name) name = nullptr;
  SHERD_NETCDF_FUNCTIONS(SHERD_NETCDF_MEMBER)
#undef SHERD_NETCDF_MEMBER

  /// The functions of libhdf5, under the same lock; `unsupported` if libnetcdf has been built without it.
  [[nodiscard]] Result<const Hdf5Library*> hdf5() const;
  /// Whether the release is 4.9.0, which opens files with datasets that have no dataspace; others crash or fail.
  [[nodiscard]] bool is_first() const;

  /// Another file cannot be closed any more, because its last write has failed: libhdf5 would crash. It then closes
  /// none when the process ends.
  static void leave_open() noexcept;

  /// `unsupported` if libhdf5 has no plugin for some of the filters, which the error names. `group` is any group of an
  /// open file; `instead` is what else can be done.
  [[nodiscard]] Result<void> check_filters(int group, std::span<const unsigned> ids,
                                           std::string_view instead = {}) const;

  /// The error for a code of the library. While reading, data that the library cannot interpret are `corrupt`.
  [[nodiscard]] Result<void> check(int code, bool reading) const;

 private:
  struct Loaded;
  static Loaded load_once();
  static void close_at_exit() noexcept;
  friend class NetcdfLock;
  Hdf5Library hdf5_;
  std::string missing_;  ///< the first function of libhdf5 that could not be found
};

class NetcdfLock {
 public:
  explicit NetcdfLock(const NetcdfLibrary& library);
  /// `unavailable` if the call should end. Releases the lock meanwhile, since the hook may wait for a thread that needs
  /// it.
  Result<void> check_interrupted(const std::function<bool()>& hook);

  /// Calls a function with the lock: at once or, while another thread has it, when it is next taken. Does not wait,
  /// because the thread that reads a file from a server may be running a hook, which must not wait for this one.
  static void close(std::function<void()> function);

 private:
  friend class NetcdfLibrary;
  static std::mutex& mutex();
  std::unique_lock<std::mutex> lock_;
};

}  // namespace sherd

#endif
