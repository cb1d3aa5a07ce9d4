// Knows numpy's names of the number types: "<i4" with a byte order, "i4" without, "int32" in words.
// Only names of the machine's own byte order are taken: numcodecs reinterprets bytes instead of swapping them, so what
// a foreign order means depends on the machine that wrote the data.
#include "codec/number.hpp"

#include <array>
#include <bit>
#include <utility>

#include "base/try.hpp"

namespace sherd {
namespace {

struct NumberName {
  std::string_view letters;
  const DType* dtype;
};
constexpr std::array<NumberName, 10> kNames = {{{"i1", &DType::int8},
                                                {"i2", &DType::int16},
                                                {"i4", &DType::int32},
                                                {"i8", &DType::int64},
                                                {"u1", &DType::uint8},
                                                {"u2", &DType::uint16},
                                                {"u4", &DType::uint32},
                                                {"u8", &DType::uint64},
                                                {"f4", &DType::float32},
                                                {"f8", &DType::float64}}};
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::string_view kOrders = "<>=|";

}  // namespace

bool is_integer(const DType& dtype) noexcept {
  return is_number(dtype) && dtype.kind() != DType::Kind::float32 && dtype.kind() != DType::Kind::float64;
}

bool is_number(const DType& dtype) noexcept {
  for (const NumberName& row : kNames) {
    if (*row.dtype == dtype) return true;
  }
  return false;
}

std::string numpy_name(const DType& dtype) {
  for (const NumberName& row : kNames) {
    if (*row.dtype == dtype) return (dtype.size() == 1 ? '|' : kNativeOrder) + std::string(row.letters);
  }
  return dtype.name();
}

Result<DType> number_member(Configuration& configuration, std::string_view key, std::optional<DType> absent) {
  const Json* value = configuration.find(key);
  if (absent && (value == nullptr || value->is_null())) return *absent;
  SHERD_TRY(name, configuration.text(key));
  std::string_view letters = name;
  const bool ordered = !letters.empty() && kOrders.find(letters.front()) != kOrders.npos;
  const char order = ordered ? letters.front() : '=';
  if (ordered) letters.remove_prefix(1);
  for (const NumberName& row : kNames) {
    if (letters != row.letters && (ordered || letters != row.dtype->name())) continue;
    if (row.dtype->size() > 1 && (order == '<' || order == '>') && order != kNativeOrder)
      return unsupported("'" + std::string(key) + "' must be of the machine's byte order, not '" + name + "'")
          .in_member("configuration." + std::string(key));
    return *row.dtype;
  }
  return unsupported("'" + std::string(key) + "' must name an integer type or a float of 32 or 64 bits, not '" + name +
                     "'")
      .in_member("configuration." + std::string(key));
}

bool viewed_as(const DType& dtype, const DType& number) noexcept {
  if (dtype == number) return true;
  const bool counts =
      is_integer(dtype) || dtype.kind() == DType::Kind::datetime64 || dtype.kind() == DType::Kind::timedelta64;
  return counts && is_integer(number) && dtype.size() == number.size();
}

}  // namespace sherd
