// Converts between numbers of C++ programs and elements, through their exact form.
#include "sherd/numbers.hpp"

#include "base/real.hpp"

namespace sherd {
namespace {

using Double = FloatNumber<*float_format(DType::Kind::float64)>;

/// The real numbers in an element: two for a complex one.
struct Parts {
  explicit Parts(const DType& dtype)
      : kind(part_of_complex(dtype.kind()).value_or(dtype.kind())),
        size(kind == dtype.kind() ? dtype.size() : dtype.size() / 2) {}

  DType::Kind kind;
  std::size_t size;
};

Result<void> check_sizes(const DType& dtype, std::size_t bytes, std::size_t count) {
  const std::size_t size = Parts(dtype).size;
  if (bytes / size == count && bytes % dtype.size() == 0) return {};
  return invalid_argument(std::to_string(count) + " numbers have " + std::to_string(count * size) + " bytes as " +
                          dtype.name() + ", not " + std::to_string(bytes));
}

Error not_numbers(const DType& dtype) {
  return invalid_argument("elements of type " + dtype.name() + " are not integers, floats or complex numbers");
}

}  // namespace

Result<void> to_doubles(const DType& dtype, std::span<const std::byte> elements, std::span<double> to) {
  return visit_real_number(
      Parts(dtype).kind,
      [&]<class Number>(Number) -> Result<void> {
        if (auto sizes = check_sizes(dtype, elements.size(), to.size()); !sizes) return sizes;
        for (std::size_t i = 0; i < to.size(); ++i)
          to[i] = std::bit_cast<double>(
              *word_of(Double{}, load_real<Number>(elements.data(), i), {.out_of_range = OutOfRange::special}));
        return {};
      },
      [&]() -> Result<void> { return not_numbers(dtype); });
}

Result<void> from_doubles(const DType& dtype, std::span<const double> from, std::span<std::byte> elements) {
  return visit_real_number(
      Parts(dtype).kind,
      [&]<class Number>(Number) -> Result<void> {
        if (auto sizes = check_sizes(dtype, elements.size(), from.size()); !sizes) return sizes;
        for (std::size_t i = 0; i < from.size(); ++i) {
          const Real real = Double::load(std::bit_cast<std::uint64_t>(from[i]));
          if (!store_real<Number>(real, {.out_of_range = OutOfRange::special}, elements.data(), i))
            return invalid_argument("element " + std::to_string(i) + ", " + std::to_string(from[i]) +
                                    ", cannot be stored as " + dtype.name());
        }
        return {};
      },
      [&]() -> Result<void> { return not_numbers(dtype); });
}

}  // namespace sherd
