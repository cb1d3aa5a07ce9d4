// A netCDF file being written, under a hidden name until it is finished. All library calls are under its single lock;
// anything that the formats cannot hold is refused before anything is written.
#include "io/netcdf_file.hpp"

#ifdef SHERD_NETCDF

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/text.hpp"
#include "base/try.hpp"
#include "io/netcdf_library.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"
#include "os/calls.hpp"

namespace sherd {

namespace {

using netcdf::Attribute, netcdf::Filter, netcdf::NewVariable, netcdf::Sink, netcdf::Type, netcdf::Values;

int flags_of(const std::string& kind) {
  if (kind == "64-bit offset") return NC_64BIT_OFFSET;
  if (kind == "cdf5") return NC_64BIT_DATA;
  if (kind == "netCDF-4") return NC_NETCDF4;
  if (kind == "netCDF-4 classic model") return NC_NETCDF4 | NC_CLASSIC_MODEL;
  return 0;
}

bool is_hdf5(const std::string& kind) { return kind.starts_with("netCDF-4"); }

/// Whether a kind of file supports a type. The classic model has six types.
Result<void> check_type(Type type, const std::string& kind) {
  const bool classic = static_cast<int>(type) <= static_cast<int>(Type::float64);
  if (kind == "netCDF-4" || classic || (kind == "cdf5" && type != Type::string)) return {};
  return invalid_argument("files of the kind '" + kind + "' have no type " + std::string(to_string(type)) +
                          "; choose netCDF-4" + (type == Type::string ? "" : " or cdf5"));
}

struct Location {
  int group = -1, variable = -1;
  Type type = Type::int32;
};

class FileSink final : public Sink {
 public:
  FileSink(const NetcdfLibrary& library, NewNetcdfFile file, TemporaryDirectory folder)
      : library_(library), file_(std::move(file)), folder_(std::move(folder)) {}
  ~FileSink() override {
    const NetcdfLock lock(library_);
    if (id_ >= 0 && !is_broken_) library_.nc_abort(id_);
    // A broken file stays open in libhdf5, which crashes when it closes one; its blocks are freed nevertheless.
    if (is_broken_) os::close(os::openat(AT_FDCWD, hidden().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  }

  Result<void> open() {
    const NetcdfLock lock(library_);
    const int flags = flags_of(file_.kind) | NC_NOCLOBBER;
    SHERD_TRY(check(library_.nc_create(hidden().c_str(), flags, &id_)));
    groups_.emplace("/", id_);
    // If every element is written, classic files need no fill values first.
    if (!is_hdf5(file_.kind) && !file_.fills) SHERD_TRY(check(library_.nc_set_fill(id_, NC_NOFILL, nullptr)));
    return put_attributes(id_, NC_GLOBAL, file_.attributes);
  }

  Result<void> define_group(const std::string& path, std::vector<Attribute> attributes) override {
    const NetcdfLock lock(library_);
    if (file_.kind != "netCDF-4")
      return invalid_argument("files of the kind '" + file_.kind + "' have no groups, such as '" + path +
                              "'; choose netCDF-4");
    const auto above = parent_path(path);
    SHERD_TRY(parent, group_at(above.empty() ? "/" : std::string(above)));
    int id = -1;
    const std::string name(last_segment(path));
    SHERD_TRY(check(library_.nc_def_grp(parent, name.c_str(), &id)).in([&] { return path; }));
    groups_.emplace(path, id);
    return put_attributes(id, NC_GLOBAL, attributes).in([&] { return path; });
  }

  Result<void> define_dimension(const netcdf::Dimension& dimension) override {
    const NetcdfLock lock(library_);
    SHERD_TRY(group, group_at(dimension.group));
    if (dimension.length == 0 && !dimension.unlimited && file_.kind != "netCDF-4")
      return invalid_argument("the dimension '" + dimension.name + "' has the length 0, which files of the kind '" +
                              file_.kind + "' cannot express; choose netCDF-4");
    int id = -1;
    const std::size_t length = dimension.unlimited ? NC_UNLIMITED : dimension.length;
    SHERD_TRY(check(library_.nc_def_dim(group, dimension.name.c_str(), length, &id)).in([&] {
      return "the dimension '" + dimension.name + "'" +
             (dimension.unlimited && file_.kind != "netCDF-4"
                  ? " (this kind of file has one unlimited dimension; -u makes them fixed)"
                  : "");
    }));
    dimensions_.emplace(dimension.full_name(), id);
    return {};
  }

  Result<void> define_variable(const std::string& group, NewVariable variable, std::vector<Filter> filters) override {
    const NetcdfLock lock(library_);
    SHERD_TRY(parent, group_at(group));
    SHERD_TRY(check_type(variable.type, file_.kind));
    std::vector<int> ids;
    for (const std::string& name : variable.dimensions) {
      const auto known = dimensions_.find(name);
      if (known == dimensions_.end()) return not_found("the dimension '" + name + "' is not defined");
      ids.push_back(known->second);
    }
    int id = -1;
    SHERD_TRY(check(library_.nc_def_var(parent, variable.name.c_str(), static_cast<nc_type>(variable.type),
                                        static_cast<int>(ids.size()), ids.data(), &id)));
    if (is_hdf5(file_.kind)) {
      SHERD_TRY(define_storage(parent, id, variable, filters));
    } else if (variable.deflate_level || variable.shuffle || variable.fletcher32 || !filters.empty()) {
      return invalid_argument("files of the kind '" + file_.kind + "' have no filters; choose netCDF-4");
    }
    variables_.emplace(netcdf::member_path(group, variable.name), Location{parent, id, variable.type});
    return put_attributes(parent, id, variable.attributes);
  }

  Result<void> end_definitions() override {
    const NetcdfLock lock(library_);
    return check(library_.nc_enddef(id_)).in([&] { return "a file of the kind '" + file_.kind + "'"; });
  }

  Result<void> write(const std::string& variable, const Box& box, std::span<const std::byte> elements) override {
    return put(variable, box, elements.data());
  }

  Result<void> write_strings(const std::string& variable, const Box& box, std::vector<std::string> texts) override {
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    return put(variable, box, pointers.data());
  }

  Result<void> finish() override {
    {
      const NetcdfLock lock(library_);
      // libnetcdf 4.9.0 crashes if it cannot write while it closes a file.
      if (is_hdf5(file_.kind)) SHERD_TRY(check(library_.nc_sync(id_)));
      const int id = std::exchange(id_, -1);
      SHERD_TRY(check(library_.nc_close(id)));
    }
    if (file_.mode.durable) {
      const int descriptor = os::openat(AT_FDCWD, hidden().c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) return file_error("cannot open", file_.path, errno);
      const int failed = os::fsync(descriptor);
      const int number = errno;
      os::close(descriptor);
      if (failed != 0) return file_error("cannot flush", file_.path, number);
    }
    if (const int code = put_in_place(hidden(), file_.path, file_.mode.overwrite))
      return file_error("cannot be moved into place", file_.path, code);
    if (file_.mode.durable) return sync_directory(file_.path);
    return {};
  }

 private:
  [[nodiscard]] std::string hidden() const { return folder_.path() + "/file"; }

  /// Called directly after a function of the library: libhdf5 leaves the reason of a failed write in errno.
  [[nodiscard]] Result<void> check(int code) {
    const int reason = errno;
    const bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO;
    if (code == NC_NOERR || !is_hdf5(file_.kind) || !is_full) return library_.check(code, false).in_key(file_.path);
    is_broken_ = true;
    NetcdfLibrary::leave_open();
    return file_error("cannot be written", file_.path, reason);
  }

  [[nodiscard]] Result<int> group_at(const std::string& path) const {
    const auto found = groups_.find(path);
    if (found == groups_.end()) return not_found("the group '" + path + "' is not defined");
    return found->second;
  }

  Result<void> put_attributes(int group, int variable, const std::vector<Attribute>& attributes) {
    for (const Attribute& each : attributes)
      SHERD_TRY(put_attribute(group, variable, each).in([&] { return "the attribute '" + each.name + "'"; }));
    return {};
  }

  Result<void> put_attribute(int group, int variable, const Attribute& attribute) {
    const Type type = netcdf::type_of(attribute.values);
    SHERD_TRY(check_type(type, file_.kind));
    const void* data = nullptr;
    std::vector<const char*> pointers;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.values)) {
      for (const std::string& text : *texts) pointers.push_back(text.c_str());
      data = pointers.data();
    } else {
      std::visit([&](const auto& list) { data = list.data(); }, attribute.values);
    }
    return check(library_.nc_put_att(group, variable, attribute.name.c_str(), static_cast<nc_type>(type),
                                     netcdf::size_of(attribute.values), data));
  }

  Result<void> define_storage(int group, int id, const NewVariable& variable, const std::vector<Filter>& filters) {
    if (variable.dimensions.empty()) return {};
    if (!variable.chunks.empty()) {
      const std::vector<std::size_t> chunks(variable.chunks.begin(), variable.chunks.end());
      SHERD_TRY(check(library_.nc_def_var_chunking(group, id, NC_CHUNKED, chunks.data())));
    }
    if (variable.deflate_level || variable.shuffle)
      SHERD_TRY(check(library_.nc_def_var_deflate(group, id, variable.shuffle ? 1 : 0, variable.deflate_level ? 1 : 0,
                                                  variable.deflate_level.value_or(0))));
    std::vector<unsigned> numbers(filters.size());
    std::ranges::transform(filters, numbers.begin(), &Filter::id);
    constexpr const char* kUnfiltered = "filters=\"none\" (-F none) stores without filters";
    SHERD_TRY(library_.check_filters(group, numbers, kUnfiltered).in_key(file_.path));
    for (const Filter& each : filters)
      SHERD_TRY(
          check(library_.nc_def_var_filter(group, id, each.id, each.parameters.size(), each.parameters.data())).in([&] {
            return "the filter " + netcdf::filter_name(each.id) + "; " + kUnfiltered;
          }));
    if (variable.fletcher32) SHERD_TRY(check(library_.nc_def_var_fletcher32(group, id, NC_FLETCHER32)));
    if (variable.big_endian) SHERD_TRY(check(library_.nc_def_var_endian(group, id, NC_ENDIAN_BIG)));
    if (variable.no_fill) SHERD_TRY(check(library_.nc_def_var_fill(group, id, NC_NOFILL, nullptr)));
    return {};
  }

  Result<void> put(const std::string& variable, const Box& box, const void* elements) {
    const auto found = variables_.find(variable);
    if (found == variables_.end()) return not_found("the variable '" + variable + "' is not defined");
    const std::vector<std::size_t> start(box.origin.begin(), box.origin.end());
    const std::vector<std::size_t> count(box.shape.begin(), box.shape.end());
    const std::size_t none = 0;
    const NetcdfLock lock(library_);
    return check(library_.nc_put_vara(found->second.group, found->second.variable, start.empty() ? &none : start.data(),
                                      count.empty() ? &none : count.data(), elements));
  }

  const NetcdfLibrary& library_;
  NewNetcdfFile file_;
  TemporaryDirectory folder_;
  int id_ = -1;
  bool is_broken_ = false;  ///< a write of libhdf5 has failed
  std::map<std::string, int> groups_, dimensions_;
  std::map<std::string, Location> variables_;
};

}  // namespace

Result<std::unique_ptr<Sink>> create_netcdf_file(const NewNetcdfFile& file) {
  SHERD_TRY(library, NetcdfLibrary::load());
  struct stat status{};
  if (os::fstatat(AT_FDCWD, file.path.c_str(), status) == 0) {
    if (!S_ISREG(status.st_mode)) return invalid_argument("exists and is not a file; name a file").in_key(file.path);
    if (!file.mode.overwrite) return conflict("exists already; overwrite it or choose another path").in_key(file.path);
  }
  SHERD_TRY(folder, TemporaryDirectory::make(file.path, 0700));
  auto sink = std::make_unique<FileSink>(*library, file, std::move(folder));
  SHERD_TRY(sink->open());
  return std::unique_ptr<Sink>(std::move(sink));
}

}  // namespace sherd

#else

namespace sherd {

Result<std::unique_ptr<netcdf::Sink>> create_netcdf_file(const NewNetcdfFile& file) {
  return unsupported("a netCDF file needs libnetcdf; this build is without it (SHERD_NETCDF=OFF)").in_key(file.path);
}

}  // namespace sherd

#endif
