#include "image/convert.hpp"

namespace sherd {
namespace {

/// Calls visitor(number type); `otherwise()` for types that are not numbers. A boolean is a one-bit number.
template <class Visitor, class Otherwise>
auto visit_convertible(const DType& dtype, Visitor&& visitor, Otherwise&& otherwise) {
  if (dtype.kind() == DType::Kind::boolean) return visitor(IntegerNumber<std::uint8_t, 1>{});
  return visit_real_number(dtype.kind(), visitor, otherwise);
}

}  // namespace

Result<Conversion> Conversion::make(const DType& from, const DType& to) {
  const Load load = visit_convertible(
      from, []<class Number>(Number) -> Load { return load_real<Number>; }, []() -> Load { return nullptr; });
  const Store store = visit_convertible(
      to, []<class Number>(Number) -> Store { return store_real<Number>; }, []() -> Store { return nullptr; });
  if (load == nullptr || store == nullptr)
    return unsupported("only integers, floats and bool are converted, not " + from.name() + " to " + to.name());
  return Conversion(from.size(), load, store);
}

std::optional<std::uint64_t> Conversion::run(std::span<const std::byte> from, std::byte* to) const noexcept {
  const std::uint64_t count = from.size() / element_;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!store_(load_(from.data(), i), {}, to, i)) return i;
  return std::nullopt;
}

}  // namespace sherd
