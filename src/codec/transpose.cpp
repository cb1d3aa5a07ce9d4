// transpose (Zarr v3 core): the dimensions in another order; stored dimension i is dimension order[i] of the array.
// Chains fold leading transposes into the strides of the caller; only one that follows another array codec moves bytes,
// here. The strings "C" and "F" of drafts before 2023, written by GDAL 3.10 and zarrita, mean the identity and the
// reverse order.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>

#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

/// Copies to dense C-ordered `to` from `from`, whose byte stride along dimension d of `to` is strides[d].
class Gather {
 public:
  Gather(const Shape& shape, const std::vector<std::size_t>& strides, std::size_t element)
      : shape_(shape), strides_(strides), element_(element) {}

  std::byte* run(std::size_t dimension, const std::byte* from, std::byte* to) const {
    if (dimension == shape_.size()) return std::memcpy(to, from, element_), to + element_;
    if (dimension + 1 == shape_.size()) return row(from, to);
    for (std::uint64_t i = 0; i < shape_[dimension]; ++i) to = run(dimension + 1, from + i * strides_[dimension], to);
    return to;
  }

 private:
  std::byte* row(const std::byte* from, std::byte* to) const {
    switch (element_) {
      case 1:
        return row_of<1>(from, to);
      case 2:
        return row_of<2>(from, to);
      case 4:
        return row_of<4>(from, to);
      case 8:
        return row_of<8>(from, to);
      case 16:
        return row_of<16>(from, to);
      default:
        break;
    }
    for (std::uint64_t i = 0; i < shape_.back(); ++i, to += element_)
      std::memcpy(to, from + i * strides_.back(), element_);
    return to;
  }
  template <std::size_t Size>
  std::byte* row_of(const std::byte* from, std::byte* to) const {
    const std::size_t stride = strides_.back();
    for (std::uint64_t i = 0; i < shape_.back(); ++i, to += Size) std::memcpy(to, from + i * stride, Size);
    return to;
  }

  const Shape& shape_;
  const std::vector<std::size_t>& strides_;
  std::size_t element_;
};

std::vector<std::size_t> byte_strides(const Shape& shape, std::size_t element) {
  std::vector<std::size_t> strides(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; element *= shape[d]) strides[d] = element;
  return strides;
}

class Transpose final : public ArrayCodec {
 public:
  explicit Transpose(std::vector<std::size_t> order) : order_(std::move(order)), inverse_(order_.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) inverse_[order_[i]] = i;
  }

  [[nodiscard]] std::span<const std::size_t> permutation() const noexcept override { return order_; }
  [[nodiscard]] Result<ChunkType> encoded_type(const ChunkType& in) const override {
    return ChunkType{in.dtype, permuted(in.shape, order_)};
  }
  Result<void> encode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const override {
    move(in.dtype.size(), in.shape, order_, from, to);
    return {};
  }
  Result<void> decode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const override {
    move(in.dtype.size(), permuted(in.shape, order_), inverse_, from, to);
    return {};
  }

 private:
  template <class T>
  static std::vector<T> permuted(const std::vector<T>& values, const std::vector<std::size_t>& order) {
    std::vector<T> result;
    result.reserve(order.size());
    for (const std::size_t d : order) result.push_back(values[d]);
    return result;
  }
  static void move(std::size_t element, const Shape& shape, const std::vector<std::size_t>& order,
                   std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.empty()) return;
    const Shape moved = permuted(shape, order);
    const auto strides = permuted(byte_strides(shape, element), order);
    Gather(moved, strides, element).run(0, from.data(), to.data());
  }

  std::vector<std::size_t> order_;
  std::vector<std::size_t> inverse_;
};

Error wrong_order(std::size_t rank) {
  return configuration_error("order", "transpose: 'order' must list each of the " + std::to_string(rank) +
                                          " dimensions, counted from 0, exactly once");
}

Result<std::unique_ptr<ArrayCodec>> make_transpose(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const Json* order = configuration.find("order");
  SHERD_TRY(configuration.done());
  const std::size_t rank = context.in.shape.size();
  if (order != nullptr && order->is_string() && (order->text() == "C" || order->text() == "F")) {
    std::vector<std::size_t> dimensions(rank);
    std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
    if (order->text() == "F") std::reverse(dimensions.begin(), dimensions.end());
    if (context.remarks != nullptr)
      context.remarks->push_back("transpose: the order \"" + order->text() +
                                 "\" is that of drafts before 2023; other readers want a list of the dimensions");
    return std::make_unique<Transpose>(std::move(dimensions));
  }
  if (order == nullptr || !order->is_array() || order->size() != rank) return wrong_order(rank);
  std::vector<std::size_t> dimensions;
  std::vector<bool> seen(rank);
  for (const Json& entry : order->elements()) {
    const auto dimension = entry.as_uint();
    if (!dimension || *dimension >= rank || seen[*dimension]) return wrong_order(rank);
    seen[*dimension] = true;
    dimensions.push_back(*dimension);
  }
  return std::make_unique<Transpose>(std::move(dimensions));
}

Result<Json> short_transpose(std::string_view argument, const DType&) {
  Json order{Json::Array{}};
  while (!argument.empty()) {
    std::uint64_t dimension = 0;
    const char* end = argument.data() + argument.size();
    const auto [stop, fault] = std::from_chars(argument.data(), end, dimension);
    const bool ends = stop == end;
    if (fault != std::errc{} || (!ends && *stop != ',') || stop + 1 == end)
      return invalid_argument("write the order of the dimensions after the colon, such as transpose:2,0,1");
    order.push_back(dimension);
    argument.remove_prefix(ends ? argument.size() : static_cast<std::size_t>(stop + 1 - argument.data()));
  }
  return Json(Json::Object{{"order", std::move(order)}});
}

}  // namespace

extern constinit const CodecEntry transpose_codec{
    .name = "transpose", .aliases = {}, .array_codec = make_transpose, .short_form = short_transpose};

}  // namespace sherd
