// Strided views of memory owned by the caller: the destination of reads and the source of writes. Strides are in bytes
// for AnyView and in elements for StridedView; both may be negative or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/dtype.hpp"

#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace sherd {

/// Which dimension varies fastest in memory: the last (c) or the first (f).
enum class Order : std::uint8_t { c, f };

/// The strides of a dense array of this shape, in units of `unit`.
SHERD_API std::vector<std::int64_t> dense_strides(const Shape& shape, std::int64_t unit, Order order = Order::c);

/// An untyped view: element i is at data + sum(i[d] * strides[d]). Byte may be const.
template <class Byte>
struct BasicAnyView {
  Byte* data = nullptr;
  DType dtype;
  Shape shape;
  std::vector<std::int64_t> strides;  ///< bytes; one per dimension

  /// A dense view.
  static BasicAnyView dense(Byte* data, DType dtype, Shape shape, Order order = Order::c) {
    auto strides = dense_strides(shape, static_cast<std::int64_t>(dtype.size()), order);
    return {data, std::move(dtype), std::move(shape), std::move(strides)};
  }
};
using AnyView = BasicAnyView<std::byte>;
using ConstAnyView = BasicAnyView<const std::byte>;

/// A typed view; T may be const. Converts from std::mdspan if the standard library has it.
template <class T>
class StridedView {
 public:
  /// A dense view in C or Fortran order.
  StridedView(T* data, Shape shape, Order order = Order::c)
      : data_(data), strides_(dense_strides(shape, 1, order)), shape_(std::move(shape)) {}
  /// A view with one stride per dimension, in elements.
  StridedView(T* data, Shape shape, std::vector<std::int64_t> strides)
      : data_(data), strides_(std::move(strides)), shape_(std::move(shape)) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }

  template <class... I>
  T& operator()(I... index) const noexcept {
    std::int64_t offset = 0;
    std::size_t d = 0;
    ((offset += static_cast<std::int64_t>(index) * strides_[d++]), ...);
    return data_[offset];
  }

  /// This view without the element type; strides are in bytes.
  [[nodiscard]] auto untyped() const {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    BasicAnyView<Byte> view{reinterpret_cast<Byte*>(data_), DType::of<std::remove_const_t<T>>(), shape_, strides_};
    for (auto& stride : view.strides) stride *= static_cast<std::int64_t>(sizeof(T));
    return view;
  }

#ifdef __cpp_lib_mdspan
  template <class Extents, class Layout, class Accessor>
  StridedView(const std::mdspan<T, Extents, Layout, Accessor>& span)  // NOLINT(google-explicit-constructor)
      : data_(span.data_handle()) {
    for (std::size_t d = 0; d < Extents::rank(); ++d) {
      shape_.push_back(span.extent(d));
      strides_.push_back(static_cast<std::int64_t>(span.stride(d)));
    }
  }
#endif

 private:
  T* data_;
  std::vector<std::int64_t> strides_;
  Shape shape_;
};

}  // namespace sherd
