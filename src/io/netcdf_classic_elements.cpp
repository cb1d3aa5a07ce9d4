// The elements of classic netCDF files on servers: where they are follows from the header.
#include "io/netcdf_elements.hpp"

#ifdef SHERD_NETCDF

#include <bit>

#include "base/call.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "netcdf/type.hpp"

namespace sherd {
namespace {

class ClassicElements final : public netcdf::ElementSource {
 public:
  ClassicElements(std::shared_ptr<PartialCopy> copy, const ClassicVariable& variable, std::size_t size, Shape shape)
      : copy_(std::move(copy)), begin_(variable.begin), size_(size), shape_(std::move(shape)), strides_(shape_.size()) {
    std::uint64_t bytes = size;
    for (std::size_t d = shape_.size(); d-- > 0; bytes *= shape_[d]) strides_[d] = bytes;
    if (variable.record && !strides_.empty()) strides_[0] = variable.stride;
  }

  Result<void> read(const Box& box, std::span<std::byte> to) const override {
    if (to.size() / size_ < element_count(box.shape).value_or(~std::uint64_t{0}))
      return invalid_argument("the memory is smaller than the box");
    // The last dimensions from `inner` on are in one piece.
    std::uint64_t run = size_, runs = 1;
    std::size_t inner = shape_.size();
    while (inner > 0 && strides_[inner - 1] == run) {
      run *= box.shape[--inner];
      if (box.shape[inner] != shape_[inner]) break;
    }
    for (std::size_t d = 0; d < inner; ++d) runs *= box.shape[d];
    if (run == 0) return {};
    std::vector<RangeRead> ranges;
    for (std::uint64_t i = 0; i < runs; ++i) {
      ranges.push_back({offset_of(box, inner, i), to.subspan(i * run, run)});
      if (ranges.size() < kTogether && i + 1 < runs) continue;
      SHERD_TRY(check_interrupted());
      SHERD_TRY(copy_->read(ranges).in_key(copy_->shown()));
      ranges.clear();
    }
    if constexpr (std::endian::native == std::endian::little) swap_words(to.first(runs * run), size_);
    return {};
  }

  Result<std::vector<std::string>> read_strings(const Box&, std::vector<std::uint64_t>&) const override {
    return unsupported("a classic netCDF file has no strings").in_key(copy_->shown());
  }

 private:
  static constexpr std::size_t kTogether = 65'536;

  /// Of the `i`-th run of a box.
  [[nodiscard]] std::uint64_t offset_of(const Box& box, std::size_t inner, std::uint64_t i) const {
    std::uint64_t offset = begin_;
    for (std::size_t d = shape_.size(); d-- > 0;) {
      std::uint64_t index = box.origin[d];
      if (d < inner) {
        index += i % box.shape[d];
        i /= box.shape[d];
      }
      offset += index * strides_[d];
    }
    return offset;
  }

  std::shared_ptr<PartialCopy> copy_;
  std::uint64_t begin_;
  std::size_t size_;
  Shape shape_, strides_;  ///< strides in bytes
};

}  // namespace

std::shared_ptr<const netcdf::ElementSource> classic_elements(std::shared_ptr<PartialCopy> copy,
                                                              const ClassicVariable& variable, netcdf::Type type,
                                                              const std::vector<netcdf::Dimension>& dimensions) {
  Shape shape;
  for (const netcdf::Dimension& each : dimensions) shape.push_back(each.length);
  return std::make_shared<ClassicElements>(std::move(copy), variable, netcdf::element_size(type), std::move(shape));
}

}  // namespace sherd

#endif
