// Loads libnetcdf and its functions, and interprets its error codes.
#include "io/netcdf_library.hpp"

#ifdef SHERD_NETCDF

#include <dlfcn.h>

#include <cerrno>

#include "base/try.hpp"

namespace sherd {

namespace {

struct Loaded {
  NetcdfLibrary library;
  std::string fault;
};

Loaded load_library() {
  Loaded loaded;
  // Never unloaded, because libhdf5 has handlers that run when the process exits.
  void* handle = dlopen(SHERD_NETCDF, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    loaded.fault = reason != nullptr ? reason : SHERD_NETCDF;
    return loaded;
  }
#define SHERD_NETCDF_FIND(name)                                                    \
  loaded.library.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)); \
  if (loaded.library.name == nullptr) loaded.fault = std::string(SHERD_NETCDF " lacks the function ") + #name;
  SHERD_NETCDF_FUNCTIONS(SHERD_NETCDF_FIND)
#undef SHERD_NETCDF_FIND
  return loaded;
}

ErrorCode code_of(int code, bool reading) {
  switch (code) {
    case NC_ENOMEM:
      return ErrorCode::unavailable;
    case NC_ENOTBUILT:
    case NC_EFILTER:
    case NC_ENOFILTER:
      return ErrorCode::unsupported;
    case NC_EHDFERR:
    case NC_EIO:
    case NC_ECANTREAD:
      return reading ? ErrorCode::corrupt : ErrorCode::io;
    case NC_ECANTWRITE:
    case NC_ECANTCREATE:
    case NC_EINTERNAL:
      return ErrorCode::io;
    default:
      return reading ? ErrorCode::corrupt : ErrorCode::invalid_argument;
  }
}

}  // namespace

Result<const NetcdfLibrary*> NetcdfLibrary::load() {
  static const Loaded loaded = load_library();
  if (!loaded.fault.empty())
    return unsupported("netCDF files need libnetcdf, which cannot be loaded: " + loaded.fault + "; install it");
  return &loaded.library;
}

std::mutex& NetcdfLibrary::mutex() {
  static std::mutex mutex;
  return mutex;
}

Result<void> NetcdfLibrary::check(int code, bool reading) const {
  if (code == NC_NOERR) return {};
  const std::string text = std::string("libnetcdf: ") + nc_strerror(code);
  if (code == ENOENT) return not_found(text);
  if (code == EEXIST) return conflict(text);
  if (code > 0) return io_error(text);
  return Error(code_of(code, reading), text);
}

}  // namespace sherd

#endif
