#include "netcdf/type.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/whole_number.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::array<std::string_view, 12> kTypeNames = {"byte",  "char",   "short", "int",   "float",  "double",
                                                         "ubyte", "ushort", "uint",  "int64", "uint64", "string"};

Type numbered(std::size_t number) { return static_cast<Type>(number); }

}  // namespace

std::string_view to_string(Type type) noexcept { return kTypeNames[static_cast<std::size_t>(type) - 1]; }

std::optional<Type> type_called(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end()) return std::nullopt;
  return numbered(static_cast<std::size_t>(found - kTypeNames.begin()) + 1);
}

std::string_view to_string(Generation generation) noexcept {
  constexpr std::array<std::string_view, 5> names = {"pure", "v1", "v2a", "v2b", "v2c"};
  return names[static_cast<std::size_t>(generation)];
}

std::size_t size_of(const Values& values) noexcept {
  return std::visit([](const auto& each) { return each.size(); }, values);
}

Values default_fill(Type type) {
  switch (type) {
    case Type::int8:
      return std::vector<std::int8_t>{-127};
    case Type::character:
      return std::string(1, '\0');
    case Type::int16:
      return std::vector<std::int16_t>{-32767};
    case Type::int32:
      return std::vector<std::int32_t>{-2147483647};
    case Type::float32:
      return std::vector<float>{9.9692099683868690e+36F};
    case Type::float64:
      return std::vector<double>{9.9692099683868690e+36};
    case Type::uint8:
      return std::vector<std::uint8_t>{255};
    case Type::uint16:
      return std::vector<std::uint16_t>{65535};
    case Type::uint32:
      return std::vector<std::uint32_t>{4294967295U};
    case Type::int64:
      return std::vector<std::int64_t>{-9223372036854775806};
    case Type::uint64:
      return std::vector<std::uint64_t>{18446744073709551614U};
    case Type::string:
      return std::vector<std::string>{""};
  }
  return {};
}

std::optional<Type> attribute_type(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, Type> kinds[] = {
      {"i1", Type::int8},    {"i2", Type::int16},   {"i4", Type::int32},  {"i8", Type::int64},
      {"u1", Type::uint8},   {"u2", Type::uint16},  {"u4", Type::uint32}, {"u8", Type::uint64},
      {"f4", Type::float32}, {"f8", Type::float64}, {"b1", Type::uint8},  {"U1", Type::character}};
  std::size_t number = 0;
  if (!name.empty() && name.size() <= 2 && name.find_first_not_of("0123456789") == name.npos) {
    for (const char c : name) number = number * 10 + static_cast<std::size_t>(c - '0');
    return number >= 1 && number <= kTypeNames.size() ? std::optional(numbered(number)) : std::nullopt;
  }
  if (name == ">S1") return Type::character;
  if (name.size() < 3 || std::string_view("<>|=").find(name.front()) == std::string_view::npos) return std::nullopt;
  name.remove_prefix(1);
  for (const auto& [word, type] : kinds)
    if (word == name) return type;
  const bool is_text = name.front() == 'S' || name.front() == 'U';
  return is_text && name.substr(1).find_first_not_of("0123456789") == name.npos ? std::optional(Type::string)
                                                                                : std::nullopt;
}

std::string attribute_type_name(const Values& values) {
  constexpr std::array<std::string_view, 11> names = {"<i1", ">S1", "<i2", "<i4", "<f4", "<f8",
                                                      "<u1", "<u2", "<u4", "<i8", "<u8"};
  if (values.index() < names.size()) return std::string(names[values.index()]);
  std::size_t longest = 1;
  for (const std::string& text : std::get<std::vector<std::string>>(values)) longest = std::max(longest, text.size());
  return "|S" + std::to_string(longest);
}

std::optional<Type> variable_type(const DType& dtype, bool characters) noexcept {
  switch (dtype.kind()) {
    case DType::Kind::boolean:
    case DType::Kind::uint8:
      return characters ? Type::character : Type::uint8;
    case DType::Kind::int8:
      return Type::int8;
    case DType::Kind::int16:
      return Type::int16;
    case DType::Kind::int32:
      return Type::int32;
    case DType::Kind::int64:
    case DType::Kind::datetime64:
    case DType::Kind::timedelta64:
      return Type::int64;
    case DType::Kind::uint16:
      return Type::uint16;
    case DType::Kind::uint32:
      return Type::uint32;
    case DType::Kind::uint64:
      return Type::uint64;
    case DType::Kind::float16:
    case DType::Kind::bfloat16:
    case DType::Kind::float32:
      return Type::float32;
    case DType::Kind::float64:
      return Type::float64;
    case DType::Kind::null_terminated_bytes:
      return characters && dtype.size() == 1 ? Type::character : Type::string;
    case DType::Kind::string:
    case DType::Kind::bytes:
    case DType::Kind::utf32:
      return Type::string;
    default:
      return std::nullopt;
  }
}

Result<DType> array_type(Type type, std::uint64_t string_length) {
  switch (type) {
    case Type::int8:
      return DType::int8;
    case Type::character:
      return DType::null_terminated_bytes(1);
    case Type::int16:
      return DType::int16;
    case Type::int32:
      return DType::int32;
    case Type::float32:
      return DType::float32;
    case Type::float64:
      return DType::float64;
    case Type::uint8:
      return DType::uint8;
    case Type::uint16:
      return DType::uint16;
    case Type::uint32:
      return DType::uint32;
    case Type::int64:
      return DType::int64;
    case Type::uint64:
      return DType::uint64;
    case Type::string:
      if (string_length == 0 || string_length > std::numeric_limits<std::uint32_t>::max() / 8)
        return invalid_argument("the maximum length of strings must be from 1 to 536870911 bytes");
      return DType::null_terminated_bytes(string_length);
  }
  return invalid_argument("not a type of netCDF");
}

namespace {

template <std::size_t... I>
Values empty_of(std::size_t index, std::index_sequence<I...>) {
  Values values;
  ((index == I ? (values.emplace<I>(), 0) : 0), ...);
  return values;
}

}  // namespace

std::size_t element_size(Type type) noexcept {
  constexpr std::uint8_t sizes[] = {1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, 0};
  return sizes[static_cast<std::size_t>(type) - 1];
}

Values no_values(Type type) {
  return empty_of(static_cast<std::size_t>(type) - 1, std::make_index_sequence<std::variant_size_v<Values>>{});
}

std::optional<Values> number_of(Type type, std::span<const std::byte> bytes) {
  Values values = no_values(type);
  const bool fits = std::visit(
      [&](auto& each) {
        using T = typename std::decay_t<decltype(each)>::value_type;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) {
          if (bytes.size() != sizeof(T)) return false;
          each.resize(1);
          std::memcpy(each.data(), bytes.data(), sizeof(T));
          return true;
        }
        return false;
      },
      values);
  return fits ? std::optional(std::move(values)) : std::nullopt;
}

}  // namespace sherd::netcdf
