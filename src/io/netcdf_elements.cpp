#include "io/netcdf_elements.hpp"

#ifdef SHERD_NETCDF

#include <cstring>
#include <type_traits>

#include "base/call.hpp"
#include "base/try.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/type.hpp"

namespace sherd {

namespace {

class FileElements final : public netcdf::ElementSource {
 public:
  FileElements(NetcdfElements of, std::size_t single) : of_(std::move(of)), single_(single) {}

  Result<void> read(const Box& box, std::span<std::byte> to) const override {
    const std::size_t size = netcdf::element_size(of_.type);
    if (to.size() / size < element_count(box.shape).value_or(~std::uint64_t{0}))
      return invalid_argument("the memory is smaller than the box");
    std::memset(to.data(), 0, to.size());  // elements without fill values that were never written are left unchanged
    if (!of_.dataset) return get(box, to.data(), size);
    if (of_.fill.size() == size)
      for (std::size_t at = 0; at + size <= to.size(); at += size) std::memcpy(&to[at], of_.fill.data(), size);
    return by_hdf5([&] { return of_.dataset->read(box, of_.type, to.data()); });
  }

  Result<std::vector<std::string>> read_strings(const Box& box, std::vector<std::uint64_t>& nulls) const override {
    if (of_.dataset) return by_hdf5([&] { return of_.dataset->read_texts(box, of_.text_fill, nulls); });
    std::vector<char*> texts(element_count(box.shape).value_or(0), nullptr);
    if (texts.empty()) return std::vector<std::string>();
    auto read = get(box, reinterpret_cast<std::byte*>(texts.data()), sizeof(char*));
    std::vector<std::string> strings;
    if (read) strings = owned_texts(texts, nulls);
    const NetcdfLock lock(of_.file->library);
    of_.file->library.nc_free_string(texts.size(), texts.data());
    if (!read) return std::move(read).error();
    return strings;
  }

 private:
  /// One part for each index of the dimensions that are read one at a time.
  Result<void> get(const Box& box, std::byte* to, std::size_t element) const {
    Box part = box;
    std::uint64_t parts = 1;
    for (std::size_t d = 0; d < single_; ++d) {
      parts *= box.shape[d];
      part.shape[d] = 1;
    }
    const std::uint64_t bytes = element_count(part.shape).value_or(0) * element;
    for (std::uint64_t i = 0; i < parts; ++i) {
      std::uint64_t rest = i;
      for (std::size_t d = single_; d-- > 0; rest /= box.shape[d]) part.origin[d] = box.origin[d] + rest % box.shape[d];
      SHERD_TRY(get_part(part, to + i * bytes));
    }
    return {};
  }

  Result<void> get_part(const Box& box, std::byte* to) const {
    SHERD_TRY(check_interrupted());
    const std::vector<std::size_t> start(box.origin.begin(), box.origin.end());
    const std::vector<std::size_t> count(box.shape.begin(), box.shape.end());
    const std::size_t none = 0;
    const NetcdfLock lock(of_.file->library);
    const int code = of_.file->library.nc_get_vara(of_.group, of_.variable, start.empty() ? &none : start.data(),
                                                   count.empty() ? &none : count.data(), to);
    return with_filters(of_.file->library.check(code, true));
  }

  template <class Read>
  std::invoke_result_t<Read> by_hdf5(const Read& read) const {
    SHERD_TRY(check_interrupted());
    const NetcdfLock lock(of_.file->library);
    auto done = read();
    if (!done && of_.file->copy) SHERD_TRY(of_.file->copy->take_failure().in_key(of_.file->name()));
    return with_filters(std::move(done));
  }

  /// If reading has failed because of filters that are not installed, the error names them. The caller holds the lock.
  template <class T>
  Result<T> with_filters(Result<T> read) const {
    if (!read) SHERD_TRY(of_.file->library.check_filters(of_.group, filters()).in_key(of_.file->name()));
    return std::move(read).in_key(of_.file->name());
  }

  [[nodiscard]] std::vector<unsigned> filters() const {
    const NetcdfLibrary& library = of_.file->library;
    std::size_t count = 0;
    if (library.nc_inq_var_filter_ids(of_.group, of_.variable, &count, nullptr) != NC_NOERR)
      return {};  // a classic file
    std::vector<unsigned> ids(count);
    if (count > 0 && library.nc_inq_var_filter_ids(of_.group, of_.variable, &count, ids.data()) != NC_NOERR) return {};
    return ids;
  }

  NetcdfElements of_;
  std::size_t single_;  ///< how many dimensions, from the first one on, are read one index at a time
};

/// libnetcdf misplaces elements if a box ends beyond what is stored along any of its dimensions but the first that is
/// longer than 1. Variables can be shorter than unlimited dimensions, so those before the last of them are read one
/// index at a time.
std::size_t single_dimensions(const std::vector<netcdf::Dimension>& dimensions) {
  for (std::size_t d = dimensions.size(); d-- > 0;)
    if (dimensions[d].unlimited) return d;
  return 0;
}

}  // namespace

OpenNetcdfFile::~OpenNetcdfFile() {
  NetcdfLock::close([&library = library, id = id, ranges = std::move(ranges), copy = copy]() mutable {
    if (id >= 0) library.nc_close(id);
    ranges.reset();
  });
}

std::shared_ptr<const netcdf::ElementSource> make_elements(NetcdfElements elements,
                                                           const std::vector<netcdf::Dimension>& dimensions) {
  return std::make_shared<FileElements>(std::move(elements), single_dimensions(dimensions));
}

}  // namespace sherd

#endif
