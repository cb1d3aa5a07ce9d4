// Loads libnetcdf and its functions, and interprets its error codes.
#include "io/netcdf_library.hpp"

#ifdef SHERD_NETCDF

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "netcdf/filters.hpp"

namespace sherd {

namespace {

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

int (*close_hdf5)() = nullptr;
std::atomic<bool> has_broken_file = false;

}  // namespace

struct NetcdfLibrary::Loaded {
  NetcdfLibrary library;
  std::string fault;
};

NetcdfLibrary::Loaded NetcdfLibrary::load_once() {
  Loaded loaded;
  // Never unloaded, because libhdf5 may have handlers that run when the process exits.
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
  Hdf5Library& hdf5 = loaded.library.hdf5_;
  std::string& missing = loaded.library.missing_;
#define SHERD_HDF5_FIND(name)                                              \
  hdf5.name = reinterpret_cast<decltype(hdf5.name)>(dlsym(handle, #name)); \
  if (hdf5.name == nullptr && missing.empty()) missing = #name;
#define SHERD_HDF5_FIND_FUNCTION(result, name, arguments) SHERD_HDF5_FIND(name)
  SHERD_HDF5_FUNCTIONS(SHERD_HDF5_FIND_FUNCTION)
  SHERD_HDF5_TYPES(SHERD_HDF5_FIND)
#undef SHERD_HDF5_FIND_FUNCTION
#undef SHERD_HDF5_FIND
  close_hdf5 = hdf5.H5close;
  // Otherwise the handler of libhdf5 is registered already.
  if (missing.empty() && hdf5.H5dont_atexit() >= 0) std::atexit(close_at_exit);
  return loaded;
}

Result<const NetcdfLibrary*> NetcdfLibrary::load() {
  static const Loaded loaded = load_once();
  if (!loaded.fault.empty())
    return unsupported("netCDF files need libnetcdf, which cannot be loaded: " + loaded.fault + "; install it");
  return &loaded.library;
}

Result<const Hdf5Library*> NetcdfLibrary::hdf5() const {
  unsigned major = 0, minor = 0, release = 0;
  if (!missing_.empty())
    return unsupported("netCDF-4 files need a libnetcdf that links libhdf5; " SHERD_NETCDF " has no function " +
                       missing_);
  // Before 1.10, identifiers had 32 bits.
  if (hdf5_.H5open() < 0 || hdf5_.H5get_libversion(&major, &minor, &release) < 0 || (major == 1 && minor < 10))
    return unsupported("netCDF-4 files need libhdf5 1.10 or later");
  return &hdf5_;
}

void NetcdfLibrary::leave_open() noexcept { has_broken_file = true; }

void NetcdfLibrary::close_at_exit() noexcept {
  const std::unique_lock lock(NetcdfLock::mutex(), std::try_to_lock);  // another thread may be in the library
  if (lock && !has_broken_file) close_hdf5();
}

bool NetcdfLibrary::is_first() const { return std::string_view(nc_inq_libvers()).starts_with("4.9.0"); }

namespace {

/// Functions that wait for the lock. Never destroyed: files may be closed while the process ends.
class Closings {
 public:
  static Closings& all() {
    static auto* const all = new Closings;
    return *all;
  }
  void add(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(function));
  }
  void run() {
    std::vector<std::function<void()>> due;
    {
      const std::lock_guard lock(mutex_);
      due.swap(waiting_);
    }
    for (const auto& each : due) each();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace

std::mutex& NetcdfLock::mutex() {
  static std::mutex mutex;
  return mutex;
}

NetcdfLock::NetcdfLock(const NetcdfLibrary& library) : lock_(mutex()) {
  // libhdf5 prints its errors on every thread on which that has not been turned off.
  if (library.hdf5_.H5Eset_auto2 != nullptr) library.hdf5_.H5Eset_auto2(0, nullptr, nullptr);
  Closings::all().run();
  errno = 0;  // libhdf5 leaves the reason of a failed write there
}

void NetcdfLock::close(std::function<void()> function) {
  Closings::all().add(std::move(function));
  const std::unique_lock lock(mutex(), std::try_to_lock);
  if (lock) Closings::all().run();
}

Result<void> NetcdfLock::check_interrupted(const std::function<bool()>& hook) {
  struct Relock {  // also after an exception
    std::unique_lock<std::mutex>& lock;
    ~Relock() { lock.lock(); }
  };
  lock_.unlock();
  const Relock relock{lock_};
  return sherd::check_interrupted(hook);
}

Result<void> NetcdfLibrary::check_filters(int group, std::span<const unsigned> ids, std::string_view instead) const {
  std::string names;
  for (const unsigned id : ids)
    if (nc_inq_filter_avail(group, id) != NC_NOERR) names += (names.empty() ? "" : ", ") + netcdf::filter_name(id);
  if (names.empty()) return {};
  return unsupported("HDF5 has no plugin for the filter " + names +
                     "; install it and name its folder in HDF5_PLUGIN_PATH" + (instead.empty() ? "" : "; ") +
                     std::string(instead));
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
