// numpy's names of the number types: "<i4" with a byte order, "i4" without, and "int32". Only native byte order is
// accepted: numcodecs reinterprets bytes instead of swapping them, so the meaning of another order depends on the
// machine that wrote the data.
#include "codec/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/try.hpp"

namespace sherd {
namespace {

struct NumberName {
  std::string_view letters;
  const DType* dtype;
};
constexpr std::array<NumberName, 12> kNames = {{{"i1", &DType::int8},
                                                {"i2", &DType::int16},
                                                {"i4", &DType::int32},
                                                {"i8", &DType::int64},
                                                {"u1", &DType::uint8},
                                                {"u2", &DType::uint16},
                                                {"u4", &DType::uint32},
                                                {"u8", &DType::uint64},
                                                {"f4", &DType::float32},
                                                {"f8", &DType::float64},
                                                {"f2", &DType::float16},
                                                {"b1", &DType::bool_}}};
constexpr std::span kNumbers{kNames.begin(), 10};
constexpr std::span kCalculable{kNames.begin(), 11};
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::string_view kOrders = "<>=|";

bool is_among(std::span<const NumberName> names, const DType& dtype) noexcept {
  return std::any_of(names.begin(), names.end(), [&](const NumberName& row) { return *row.dtype == dtype; });
}

struct Member {
  std::string_view key;
  std::optional<DType> absent;
};

Result<DType> member_of(std::span<const NumberName> names, std::string_view described, Configuration& configuration,
                        const Member& member) {
  const std::string key(member.key);
  const Json* value = configuration.find(member.key);
  if (member.absent && (value == nullptr || value->is_null())) return *member.absent;
  SHERD_TRY(name, configuration.text(member.key));
  std::string_view letters = name;
  const bool ordered = !letters.empty() && kOrders.find(letters.front()) != kOrders.npos;
  const char order = ordered ? letters.front() : '=';
  if (ordered) letters.remove_prefix(1);
  for (const NumberName& row : names) {
    if (letters != row.letters && (ordered || letters != row.dtype->name())) continue;
    if (row.dtype->size() > 1 && (order == '<' || order == '>') && order != kNativeOrder)
      return unsupported("'" + key + "' must be of the machine's byte order, not '" + name + "'")
          .in_member("configuration." + key);
    return *row.dtype;
  }
  return unsupported("'" + key + "' must name " + std::string(described) + ", not '" + name + "'")
      .in_member("configuration." + key);
}

}  // namespace

bool is_integer(const DType& dtype) noexcept {
  return is_number(dtype) && dtype.kind() != DType::Kind::float32 && dtype.kind() != DType::Kind::float64;
}

bool is_number(const DType& dtype) noexcept { return is_among(kNumbers, dtype); }
bool is_calculable(const DType& dtype) noexcept { return is_among(kCalculable, dtype); }
bool is_numeric(const DType& dtype) noexcept { return is_among(kNames, dtype); }
bool is_real(const DType& dtype) noexcept { return is_calculable(dtype) || dtype == DType::bfloat16; }

std::string numpy_name(const DType& dtype) {
  for (const NumberName& row : kNames) {
    if (*row.dtype == dtype) return (dtype.size() == 1 ? '|' : kNativeOrder) + std::string(row.letters);
  }
  return dtype.name();
}

Result<DType> number_member(Configuration& configuration, std::string_view key, std::optional<DType> absent) {
  return member_of(kNumbers, "an integer type or a float of 32 or 64 bits", configuration, {key, std::move(absent)});
}

Result<DType> calculable_member(Configuration& configuration, std::string_view key, std::optional<DType> absent) {
  return member_of(kCalculable, "an integer or float type", configuration, {key, std::move(absent)});
}

Result<std::optional<DType>> astype_member(Configuration& configuration) {
  const Json* given = configuration.find("astype");
  if (given == nullptr || given->is_null()) return std::nullopt;
  SHERD_TRY(astype, calculable_member(configuration, "astype"));
  return std::optional(std::move(astype));
}

Result<DType> numeric_member(Configuration& configuration, std::string_view key, std::optional<DType> absent) {
  return member_of(kNames, "a boolean, integer or float type", configuration, {key, std::move(absent)});
}

bool viewed_as(const DType& dtype, const DType& number) noexcept {
  if (dtype == number) return true;
  const bool counts =
      is_integer(dtype) || dtype.kind() == DType::Kind::datetime64 || dtype.kind() == DType::Kind::timedelta64;
  return counts && is_integer(number) && dtype.size() == number.size();
}

}  // namespace sherd
