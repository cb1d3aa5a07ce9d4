// NumPy for the bindings: element types, new arrays in the engine's memory, and views of existing arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "sherd/dtype.hpp"
#include "sherd/view.hpp"

namespace sherd::python {

/// The NumPy functions in use, looked up once.
struct Numpy {
  nanobind::object module, ndarray, dtype, asarray, object_dtype, is_masked;
};
/// Must first be called while the module is being imported.
[[nodiscard]] const Numpy& numpy();

/// The NumPy type of the elements: `object` for string and bytes, V<n> for r<bits>, <U<n> for fixed_length_utf32.
/// Numbers known to ml_dtypes have its types if it is installed; otherwise V<n>, with the name in
/// dtype.metadata["data_type"]. Optional types become a struct of "value" and "present".
[[nodiscard]] nanobind::object numpy_dtype(const DType& dtype);
/// From a NumPy type, anything np.dtype() accepts, a name or a JSON object as in Zarr metadata, or str and bytes
/// (variable length).
[[nodiscard]] DType dtype_from(nanobind::handle value);

[[nodiscard]] nanobind::tuple to_tuple(const Shape& shape);
/// A shape from an int or a sequence of ints; `what` names the argument in the error.
[[nodiscard]] Shape shape_from(nanobind::handle value, const char* what);

/// Memory for this many elements. Unavailable (a MemoryError) if that many bytes cannot be addressed.
[[nodiscard]] std::size_t byte_count(const Shape& shape, const DType& dtype);

/// Blocks of up to 4 MiB shared by many small arrays that are created together: page faults dominate the cost of small
/// arrays. A block is freed with the last of its arrays.
class SharedMemory {
 public:
  /// `expected`: the total bytes of all arrays to come, so that the last block is no larger than necessary.
  explicit SharedMemory(std::size_t expected) noexcept : expected_(expected) {}
  /// Whether an array of this size is placed in a shared block rather than in memory of its own.
  [[nodiscard]] static bool suits(std::size_t bytes) noexcept { return bytes < std::size_t{1} << 20; }
  struct Part {
    nanobind::object memory;
    std::size_t offset;
  };
  [[nodiscard]] Part take(std::size_t bytes);

 private:
  nanobind::object block_;
  std::size_t expected_, size_ = 0, used_ = 0;  // the last two refer to the current block
};

struct NewArray {
  nanobind::object array;
  std::byte* data;
};
/// An uninitialized array of a fixed-size type, in a part of `shared` if suitable. Unavailable if memory runs
/// out.
[[nodiscard]] NewArray new_array(const Shape& shape, const DType& dtype, nanobind::handle numpy_dtype, Order order,
                                 SharedMemory* shared = nullptr);

/// The memory of an existing ndarray; the view lives as long as the array.
[[nodiscard]] AnyView view_of(nanobind::handle ndarray, const DType& dtype);

/// np.asarray(value, dtype), without a call if it would change nothing. InvalidArgument if elements are masked.
[[nodiscard]] nanobind::object as_array(nanobind::handle value, nanobind::handle numpy_dtype);
/// as_array() for elements of `dtype` with the NumPy type `numpy_type`; optional elements may be masked or None.
[[nodiscard]] nanobind::object as_elements(nanobind::handle value, const DType& dtype, nanobind::handle numpy_type);
/// Optional elements as a masked array over the same memory.
[[nodiscard]] nanobind::object masked_array(nanobind::handle elements);

}  // namespace sherd::python
