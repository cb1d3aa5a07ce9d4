// NumPy as the bindings need it: element types, new arrays in the engine's memory, and views of arrays that exist.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "sherd/dtype.hpp"
#include "sherd/view.hpp"

namespace sherd::python {

/// What is used of NumPy, looked up once.
struct Numpy {
  nanobind::object module, ndarray, dtype, asarray, object_dtype, is_masked;
};
/// First called while the module is being imported.
[[nodiscard]] const Numpy& numpy();

/// The NumPy type of the elements: `object` for string and bytes, V<n> for r<bits>, <U<n> for fixed_length_utf32.
/// Numbers of ml_dtypes are of its types, where that package is installed, and otherwise V<n> with their name in
/// dtype.metadata["data_type"]; of optional types a struct of "value" and "present".
[[nodiscard]] nanobind::object numpy_dtype(const DType& dtype);
/// From a NumPy type, anything np.dtype() accepts, a name or a JSON object as in Zarr metadata, or str and bytes (of
/// variable length).
[[nodiscard]] DType dtype_from(nanobind::handle value);

[[nodiscard]] nanobind::tuple to_tuple(const Shape& shape);
/// A shape from an int or a sequence of ints; `what` names the argument in the error.
[[nodiscard]] Shape shape_from(nanobind::handle value, const char* what);

/// The memory of so many elements. Unavailable (a MemoryError) where that cannot be addressed.
[[nodiscard]] std::size_t byte_count(const Shape& shape, const DType& dtype);

/// Blocks of up to 4 MiB for many small arrays that are made together: new pages are what small arrays cost most. A
/// block is freed with the last of its arrays.
class SharedMemory {
 public:
  /// `expected`: bytes of all arrays that are to come, so that the last block is no larger than it has to be.
  explicit SharedMemory(std::size_t expected) noexcept : expected_(expected) {}
  /// Whether an array of so many bytes gets a part of a block rather than memory of its own.
  [[nodiscard]] static bool suits(std::size_t bytes) noexcept { return bytes < std::size_t{1} << 20; }
  struct Part {
    nanobind::object memory;
    std::size_t offset;
  };
  [[nodiscard]] Part take(std::size_t bytes);

 private:
  nanobind::object block_;
  std::size_t expected_, size_ = 0, used_ = 0;  // the latter two of the block
};

struct NewArray {
  nanobind::object array;
  std::byte* data;
};
/// An uninitialised array of a fixed-size type, where it suits in a part of `shared`. Unavailable where memory runs
/// out.
[[nodiscard]] NewArray new_array(const Shape& shape, const DType& dtype, nanobind::handle numpy_dtype, Order order,
                                 SharedMemory* shared = nullptr);

/// An existing ndarray's memory; the view lives as long as the array.
[[nodiscard]] AnyView view_of(nanobind::handle ndarray, const DType& dtype);

/// np.asarray(value, dtype), without a call where that changes nothing. InvalidArgument where elements are masked.
[[nodiscard]] nanobind::object as_array(nanobind::handle value, nanobind::handle numpy_dtype);
/// The same for elements of `dtype`, whose numpy_dtype() `numpy_type` is: optional ones may be masked, or None.
[[nodiscard]] nanobind::object as_elements(nanobind::handle value, const DType& dtype, nanobind::handle numpy_type);
/// Optional elements as a masked array over the same memory.
[[nodiscard]] nanobind::object masked_array(nanobind::handle elements);

}  // namespace sherd::python
