// Means and modes of several elements. Integers are summed exactly and rounded half to even; floats are summed in
// double, in C order, and rounded once. A mode is the most frequent value, or the smallest of several.
#include "image/reduce.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/buffer.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

constexpr std::size_t kMost = Reduction::kMost;

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// The mean of floats, rounded once.
template <class T>
T mean_of_floats(std::span<const T> values) {
  const auto count = static_cast<double>(values.size());
  if constexpr (is_complex<T>) {
    std::complex<double> sum = 0;
    for (const T value : values) sum += std::complex<double>(value);
    return T(sum / count);
  } else {
    double sum = 0;
    for (const T value : values) {
      if constexpr (is_small_float<T>)
        sum += value.value();
      else
        sum += value;
    }
    return static_cast<T>(sum / count);
  }
}

template <class T>
T mean_of_integers(std::span<const T> values) {
  using Sum = std::conditional_t<sizeof(T) == 8, __int128, std::int64_t>;
  Sum sum = 0;
  for (const T value : values) sum += value;
  const auto count = static_cast<Sum>(values.size());
  Sum quotient = sum / count;
  Sum rest = sum % count;
  if (rest < 0) {
    rest += count;
    --quotient;
  }
  if (2 * rest > count || (2 * rest == count && quotient % 2 != 0)) ++quotient;
  return static_cast<T>(quotient);
}

template <class T>
T mode_of(std::span<const T> values, bool ignore_zero) {
  T best{};
  std::ptrdiff_t most = 0;
  for (const T value : values) {
    if (ignore_zero && value == T{}) continue;
    const std::ptrdiff_t count = std::ranges::count(values, value);
    if (count < most || (count == most && value >= best)) continue;
    most = count;
    best = value;
    if (2 * count > std::ssize(values)) break;
  }
  return best;
}

// One row of results along the last dimension, made from rows of the finer array.
struct Row {
  std::array<const std::byte*, kMost> from;
  std::size_t rows = 0;
  std::uint64_t begin = 0, end = 0;  // the range of the last dimension in the finer rows
  std::byte* to = nullptr;
  std::uint64_t first = 0, count = 0;
};

template <class T>
T reduced(const Reduction& how, std::span<const T> values) {
  if constexpr (std::is_integral_v<T>)
    return how.method == Pyramid::Method::mean ? mean_of_integers<T>(values) : mode_of<T>(values, how.ignore_zero);
  else
    return mean_of_floats<T>(values);
}

template <class T>
void reduce_row(const Reduction& how, const Row& row) {
  const std::uint64_t step = how.step.back();
  const std::uint64_t phase = how.phase.back();
  T* to = reinterpret_cast<T*>(row.to);
  std::array<T, kMost> values;
  for (std::uint64_t i = row.first; i < row.first + row.count; ++i) {
    const std::uint64_t low = std::max(i * step, row.begin + phase) - phase;
    const std::uint64_t high = std::min(i * step + step - phase, row.end);
    std::size_t count = 0;
    for (std::size_t r = 0; r < row.rows; ++r)
      for (std::uint64_t at = low; at < high; ++at)
        values[count++] = reinterpret_cast<const T*>(row.from[r])[at - row.begin];
    *to++ = reduced<T>(how, std::span<const T>(values.data(), count));
  }
}

using RowFunction = void (*)(const Reduction&, const Row&);

RowFunction row_function(const DType& dtype) {
  switch (dtype.kind()) {
    case DType::Kind::boolean:
    case DType::Kind::uint8:
      return reduce_row<std::uint8_t>;
    case DType::Kind::int8:
      return reduce_row<std::int8_t>;
    case DType::Kind::uint16:
      return reduce_row<std::uint16_t>;
    case DType::Kind::int16:
      return reduce_row<std::int16_t>;
    case DType::Kind::uint32:
      return reduce_row<std::uint32_t>;
    case DType::Kind::int32:
      return reduce_row<std::int32_t>;
    case DType::Kind::uint64:
      return reduce_row<std::uint64_t>;
    case DType::Kind::int64:
      return reduce_row<std::int64_t>;
    case DType::Kind::float32:
      return reduce_row<float>;
    case DType::Kind::float64:
      return reduce_row<double>;
    case DType::Kind::float16:
      return reduce_row<Float16>;
    case DType::Kind::bfloat16:
      return reduce_row<BFloat16>;
    case DType::Kind::complex64:
      return reduce_row<std::complex<float>>;
    case DType::Kind::complex128:
      return reduce_row<std::complex<double>>;
    default:
      return nullptr;
  }
}

// The number of bytes between elements along each dimension except the last.
std::vector<std::uint64_t> strides_of(const Shape& shape, std::size_t element) {
  std::vector<std::uint64_t> strides(shape.size());
  std::uint64_t stride = element;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

// The finer rows for the row at `at`, a coordinate in each dimension except the last.
void find_rows(const Reduction& how, const Shape& at, const BoxElements<const std::byte>& from, std::size_t element,
               Row& row) {
  const Box& box = from.box;
  const std::vector<std::uint64_t> strides = strides_of(box.shape, element);
  row.from[0] = from.data;
  row.rows = 1;
  for (std::size_t d = 0; d + 1 < box.shape.size(); ++d) {
    const std::uint64_t low = std::max(at[d] * how.step[d], box.origin[d] + how.phase[d]) - how.phase[d];
    const std::uint64_t high = std::min(at[d] * how.step[d] + how.step[d] - how.phase[d], box.origin[d] + box.shape[d]);
    const std::size_t rows = row.rows;
    for (std::size_t r = 0; r < rows; ++r) {
      row.from[r] += (low - box.origin[d]) * strides[d];
      for (std::uint64_t more = 1; more < high - low; ++more) row.from[row.rows++] = row.from[r] + more * strides[d];
    }
  }
}

}  // namespace

Result<void> Reduction::check(const DType& dtype) const {
  if (row_function(dtype) == nullptr)
    return unsupported("a pyramid can only be made of integers, bool, floats and complex numbers, not of " +
                       dtype.name());
  const bool floating = !is_integer(dtype) && dtype.kind() != DType::Kind::boolean;
  if (method == Pyramid::Method::mode && floating)
    return invalid_argument("mode is for labels, but the elements are " + dtype.name() + "; use mean");
  if (method == Pyramid::Method::mean && ignore_zero)
    return invalid_argument("zeros can only be ignored in a pyramid of modes");
  return {};
}

Shape Reduction::shape_of(const Shape& finer) const {
  Shape shape(finer.size());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = (finer[d] + phase[d] + step[d] - 1) / step[d];
  return shape;
}

Box Reduction::made_of(const Box& coarse, const Shape& finer) const {
  Box box{coarse.origin, coarse.shape};
  for (std::size_t d = 0; d < step.size(); ++d) {
    const std::uint64_t low = std::max(coarse.origin[d] * step[d], phase[d]) - phase[d];
    const std::uint64_t high = std::min((coarse.origin[d] + coarse.shape[d]) * step[d] - phase[d], finer[d]);
    box.origin[d] = low;
    box.shape[d] = coarse.shape[d] == 0 ? 0 : high - low;
  }
  return box;
}

Box Reduction::goes_into(const Box& finer) const {
  Box box{finer.origin, finer.shape};
  for (std::size_t d = 0; d < step.size(); ++d) {
    box.origin[d] = (finer.origin[d] + phase[d]) / step[d];
    if (finer.shape[d] != 0)
      box.shape[d] = (finer.origin[d] + finer.shape[d] - 1 + phase[d]) / step[d] + 1 - box.origin[d];
  }
  return box;
}

std::uint64_t Reduction::most() const noexcept {
  std::uint64_t most = 1;
  for (const std::uint64_t each : step) most *= each;
  return most;
}

Result<void> reduce(const Reduction& how, const DType& dtype, const BoxElements<const std::byte>& from,
                    const BoxElements<std::byte>& to, const Config& config) {
  const RowFunction function = row_function(dtype);
  const Shape& shape = to.box.shape;
  const std::size_t last = shape.size() - 1;
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d < last; ++d) rows *= shape[d];
  const std::uint64_t row_bytes = shape[last] * dtype.size();
  constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 10;
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes));
  return parallel_for((rows + block - 1) / block, config, [&](std::size_t number) -> Result<void> {
    Row row;
    row.begin = from.box.origin[last];
    row.end = row.begin + from.box.shape[last];
    row.first = to.box.origin[last];
    row.count = shape[last];
    Shape at(last);
    for (std::uint64_t r = number * block; r < std::min(rows, (number + 1) * block); ++r) {
      std::uint64_t rest = r;
      for (std::size_t d = last; d-- > 0; rest /= shape[d]) at[d] = to.box.origin[d] + rest % shape[d];
      find_rows(how, at, from, dtype.size(), row);
      row.to = to.data + r * row_bytes;
      function(how, row);
    }
    return {};
  });
}

Result<void> CoarserElements::read(const Array& source, const Box& box, const ElementTarget& to) const {
  const DType& dtype = source.dtype();
  const Box finer = made_of(box, source.shape());
  Buffer elements;
  SHERD_TRY(elements.resize(*element_count(finer.shape) * dtype.size()));
  SHERD_TRY(in_store(source.read(finer, AnyView::dense(elements.data(), dtype, finer.shape), &to.arena),
                     source.store()->url()));
  return reduce(how_, dtype, {finer, elements.data()}, {box, to.data}, to.config);
}

}  // namespace sherd
