#include "io/netcdf_driver.hpp"

#ifdef SHERD_NETCDF

#include <new>
#include <vector>

#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

using Id = Hdf5Library::Id;
using Address = std::uint64_t;
using Unused = void (*)();

constexpr int kSuccess = 0, kFailure = -1;

/// H5FD_t: libhdf5 writes its own members into the beginning.
struct DriverFile {
  alignas(std::max_align_t) std::array<std::byte, 256> begin = {};
  PartialCopy* copy = nullptr;
  Address used = 0;
};

/// The description of a driver, H5FD_class_t. Releases since 1.13 have further members around these.
struct DriverCalls {
  const char* name = "sherd";
  Address longest = std::uint64_t{1} << 62U;
  int close_degree = 1;  ///< weak: as long as objects are open
  Unused terminate = nullptr, superblock[3] = {};
  std::size_t info_size = sizeof(PartialCopy*);
  Unused info[3] = {};
  std::size_t transfer_size = 0;
  Unused transfer[2] = {};
  DriverFile* (*open)(const char*, unsigned, Id, Address);
  int (*close)(DriverFile*);
  int (*compare)(const DriverFile*, const DriverFile*);
  int (*query)(const DriverFile*, unsigned long*);
  Unused types = nullptr, allocate = nullptr, free = nullptr;
  Address (*used)(const DriverFile*, int);
  int (*set_used)(DriverFile*, int, Address);
  Address (*size)(const DriverFile*, int);
  Unused handle = nullptr;
  int (*read)(DriverFile*, int, Id, Address, std::size_t, void*);
  int (*write)(DriverFile*, int, Id, Address, std::size_t, const void*);
};
struct Driver10 {
  DriverCalls calls;
  Unused flush = nullptr, truncate = nullptr, locks[2] = {};
  int free_lists[7] = {};
};
struct Driver14 {
  unsigned version = 1;
  int value = 511;  ///< of those that no registered driver has
  DriverCalls calls;
  Unused vectors[4] = {}, flush = nullptr, truncate = nullptr, locks[2] = {}, remove = nullptr, control = nullptr;
  int free_lists[7] = {};
};

const Hdf5Library* loaded_hdf5 = nullptr;  ///< set before the driver is registered

DriverFile* open_file(const char* /*name*/, unsigned /*flags*/, Id access, Address /*longest*/) noexcept {
  const auto* const info = static_cast<PartialCopy* const*>(loaded_hdf5->H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  auto* const file = new (std::nothrow) DriverFile;
  if (file != nullptr) file->copy = *info;
  return file;
}

int close_file(DriverFile* file) noexcept {
  delete file;
  return kSuccess;
}

/// Files that are equal are open once.
int compare(const DriverFile* a, const DriverFile* b) noexcept {
  return a->copy == b->copy ? 0 : std::less<>()(a->copy, b->copy) ? -1 : 1;
}

int query(const DriverFile* /*file*/, unsigned long* features) noexcept {
  constexpr unsigned long kSievesElements = 0x8;
  if (features != nullptr) *features = kSievesElements;
  return kSuccess;
}

int read(DriverFile* file, int /*type*/, Id /*transfer*/, Address at, std::size_t size, void* to) noexcept {
  try {
    return file->copy->read_at(at, {static_cast<std::byte*>(to), size}) ? kSuccess : kFailure;
  } catch (const std::bad_alloc&) {
    return kFailure;
  }
}

constexpr DriverCalls kCalls = {
    .open = open_file,
    .close = close_file,
    .compare = compare,
    .query = query,
    .used = [](const DriverFile* file, int) noexcept { return file->used; },
    .set_used =
        [](DriverFile* file, int, Address used) noexcept {
          file->used = used;
          return kSuccess;
        },
    .size = [](const DriverFile* file, int) noexcept -> Address { return file->copy->size_bound(); },
    .read = read,
    .write = [](DriverFile*, int, Id, Address, std::size_t, const void*) noexcept { return kFailure; },
};

Id driver_of(const Hdf5Library& hdf5) {
  static const Id driver = [&] {
    static const Driver10 old{.calls = kCalls};
    static const Driver14 present{.calls = kCalls};
    unsigned major = 0, minor = 0, release = 0;
    loaded_hdf5 = &hdf5;
    if (hdf5.H5get_libversion(&major, &minor, &release) < 0 || major > 2) return Id{kFailure};
    return hdf5.H5FDregister(major == 1 && minor < 13 ? static_cast<const void*>(&old) : &present);
  }();
  return driver;
}

}  // namespace

Result<std::shared_ptr<Hdf5Ranges>> Hdf5Ranges::open(const NetcdfLibrary& library, std::shared_ptr<PartialCopy> copy) {
  SHERD_TRY(hdf5, library.hdf5());
  const Id driver = driver_of(*hdf5), access = hdf5->H5Pcreate(*hdf5->H5P_CLS_FILE_ACCESS_ID_g);
  PartialCopy* const info = copy.get();
  auto file = std::shared_ptr<Hdf5Ranges>(new Hdf5Ranges(*hdf5, std::move(copy), access));
  if (driver < 0 || access < 0 || hdf5->H5Pset_driver(access, driver, static_cast<const void*>(&info)) < 0)
    return std::shared_ptr<Hdf5Ranges>();
  file->file_ = hdf5->H5Fopen(file->copy_->path().c_str(), 0, access);
  return file;
}

Hdf5Ranges::Hdf5Ranges(const Hdf5Library& hdf5, std::shared_ptr<PartialCopy> copy, Id access)
    : hdf5_(hdf5), copy_(std::move(copy)), access_(access), file_(kFailure) {}

Hdf5Ranges::~Hdf5Ranges() {
  if (file_ >= 0) hdf5_.H5Fclose(file_);
  if (access_ >= 0) hdf5_.H5Pclose(access_);
}

void Hdf5Ranges::load_attribute(const Hdf5Library& hdf5, Id attribute, std::uint64_t most_bytes) {
  const Hdf5Handle type(hdf5.H5Aget_type(attribute), hdf5.H5Tclose);
  const Hdf5Handle space(hdf5.H5Aget_space(attribute), hdf5.H5Sclose);
  const std::int64_t count = space.failed() ? 0 : hdf5.H5Sget_simple_extent_npoints(space.id());
  const auto bytes = checked_mul(static_cast<std::uint64_t>(std::max<std::int64_t>(0, count)),
                                 type.failed() ? 0 : hdf5.H5Tget_size(type.id()));
  if (!bytes || *bytes == 0 || *bytes > most_bytes) return;
  std::vector<std::byte> values(*bytes);
  if (hdf5.H5Aread(attribute, type.id(), values.data()) >= 0)
    hdf5.H5Dvlen_reclaim(type.id(), space.id(), 0, values.data());
}

void Hdf5Ranges::load_fill(const Hdf5Library& hdf5, Id dataset, Id type, std::uint64_t most_bytes) {
  constexpr int kAscending = 1;
  const Hdf5Handle properties(hdf5.H5Dget_create_plist(dataset), hdf5.H5Pclose);
  const Hdf5Handle space(hdf5.H5Screate(Hdf5Library::kOneElement), hdf5.H5Sclose);
  const Hdf5Handle native(hdf5.H5Tget_native_type(type, kAscending), hdf5.H5Tclose);
  int how = 0;
  const std::size_t size = native.failed() ? 0 : hdf5.H5Tget_size(native.id());
  if (size == 0 || size > most_bytes || hdf5.H5Pfill_value_defined(properties.id(), &how) < 0 ||
      how != Hdf5Library::kFillIsGiven)
    return;
  std::vector<std::byte> value(size);
  if (hdf5.H5Pget_fill_value(properties.id(), native.id(), value.data()) >= 0)
    hdf5.H5Dvlen_reclaim(native.id(), space.id(), 0, value.data());
}

void Hdf5Ranges::load_order(const Hdf5Library& hdf5, Id group) {
  constexpr int kCreated = 1, kIncreasing = 0;
  for (Hdf5Library::Size i = 0; hdf5.H5Lget_name_by_idx(group, ".", kCreated, kIncreasing, i, nullptr, 0, 0) >= 0; ++i)
    continue;
}

}  // namespace sherd

#endif
