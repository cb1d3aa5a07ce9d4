// Element types: which exist, their names in metadata, and their maximum size. Elements have at most 2^30 bytes and
// structs are nested at most 16 deep, so that no later product of sizes begins with a number chosen by a hostile
// document.
#include "sherd/dtype.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/float_format.hpp"
#include "base/nearest.hpp"
#include "base/scalar_dtype.hpp"

namespace sherd {

struct DType::Extra {
  std::string unit = {};
  std::int32_t scale_factor = 1;
  std::vector<DTypeField> fields = {};
  unsigned depth = 1;
};

namespace {

constexpr std::uint64_t kMaxElementBytes = std::uint64_t{1} << 30;
constexpr unsigned kMaxStructDepth = 16;

// In the order of DType::Kind.
constexpr std::string_view kNames[] = {"bool",
                                       "int8",
                                       "int16",
                                       "int32",
                                       "int64",
                                       "uint8",
                                       "uint16",
                                       "uint32",
                                       "uint64",
                                       "float16",
                                       "bfloat16",
                                       "float32",
                                       "float64",
                                       "complex64",
                                       "complex128",
                                       "r",
                                       "string",
                                       "bytes",
                                       "numpy.datetime64",
                                       "numpy.timedelta64",
                                       "fixed_length_utf32",
                                       "null_terminated_bytes",
                                       "struct",
                                       "int2",
                                       "int4",
                                       "uint2",
                                       "uint4",
                                       "float4_e2m1fn",
                                       "float6_e2m3fn",
                                       "float6_e3m2fn",
                                       "float8_e3m4",
                                       "float8_e4m3",
                                       "float8_e4m3b11fnuz",
                                       "float8_e4m3fn",
                                       "float8_e4m3fnuz",
                                       "float8_e5m2",
                                       "float8_e5m2fnuz",
                                       "float8_e8m0fnu",
                                       "complex_float16",
                                       "complex_bfloat16",
                                       "complex_float4_e2m1fn",
                                       "complex_float6_e2m3fn",
                                       "complex_float6_e3m2fn",
                                       "complex_float8_e3m4",
                                       "complex_float8_e4m3",
                                       "complex_float8_e4m3b11fnuz",
                                       "complex_float8_e4m3fn",
                                       "complex_float8_e4m3fnuz",
                                       "complex_float8_e5m2",
                                       "complex_float8_e5m2fnuz",
                                       "complex_float8_e8m0fnu",
                                       "zarrs.optional"};
static_assert(std::size(kNames) == static_cast<std::size_t>(DType::Kind::optional) + 1);

constexpr std::string_view name_of(DType::Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

// The types that have only a name.
constexpr const DType* kPlain[] = {&DType::bool_,
                                   &DType::int8,
                                   &DType::int16,
                                   &DType::int32,
                                   &DType::int64,
                                   &DType::uint8,
                                   &DType::uint16,
                                   &DType::uint32,
                                   &DType::uint64,
                                   &DType::float16,
                                   &DType::bfloat16,
                                   &DType::float32,
                                   &DType::float64,
                                   &DType::complex64,
                                   &DType::complex128,
                                   &DType::string,
                                   &DType::bytes,
                                   &DType::int2,
                                   &DType::int4,
                                   &DType::uint2,
                                   &DType::uint4,
                                   &DType::float4_e2m1fn,
                                   &DType::float6_e2m3fn,
                                   &DType::float6_e3m2fn,
                                   &DType::float8_e3m4,
                                   &DType::float8_e4m3,
                                   &DType::float8_e4m3b11fnuz,
                                   &DType::float8_e4m3fn,
                                   &DType::float8_e4m3fnuz,
                                   &DType::float8_e5m2,
                                   &DType::float8_e5m2fnuz,
                                   &DType::float8_e8m0fnu,
                                   &DType::complex_float16,
                                   &DType::complex_bfloat16,
                                   &DType::complex_float4_e2m1fn,
                                   &DType::complex_float6_e2m3fn,
                                   &DType::complex_float6_e3m2fn,
                                   &DType::complex_float8_e3m4,
                                   &DType::complex_float8_e4m3,
                                   &DType::complex_float8_e4m3b11fnuz,
                                   &DType::complex_float8_e4m3fn,
                                   &DType::complex_float8_e4m3fnuz,
                                   &DType::complex_float8_e5m2,
                                   &DType::complex_float8_e5m2fnuz,
                                   &DType::complex_float8_e8m0fnu};

// Other names of the same types: registered ones, and zarr-python's from before there was a registry.
constexpr std::pair<std::string_view, const DType*> kOtherNames[] = {{"complex_float32", &DType::complex64},
                                                                     {"complex_float64", &DType::complex128},
                                                                     {"variable_length_bytes", &DType::bytes}};

// U+03BC, which the registry writes, and U+00B5, which keyboards produce, are the same unit.
constexpr std::array<std::string_view, 16> kTimeUnits = {"generic", "Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                         "ms",      "us", "μs", "µs", "ns", "ps", "fs", "as"};

Error too_large(std::string_view name) {
  return unsupported("an element of '" + std::string(name) + "' is larger than 1073741824 bytes, the maximum");
}

Error too_deep() {
  return unsupported("structs and optional types are nested deeper than " + std::to_string(kMaxStructDepth) +
                     ", the maximum");
}

// The digits of "r<digits>", or nothing if the name has another form. Saturates.
std::optional<std::uint64_t> raw_bits(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  const std::string_view digits = name.substr(1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos || digits[0] == '0') return std::nullopt;
  std::uint64_t bits = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), bits).ec != std::errc{}) bits = ~std::uint64_t{7};
  return bits;
}

}  // namespace

DType::DType(Kind kind, std::uint64_t size, std::shared_ptr<const Extra> extra)
    : kind_(kind), size_(static_cast<std::uint32_t>(size)), extra_(std::move(extra)) {}

Result<DType> DType::raw(std::uint64_t bits) {
  if (bits == 0 || bits % 8 != 0)
    return invalid_argument("r" + std::to_string(bits) + ": the number of bits must be a positive multiple of 8");
  if (bits / 8 > kMaxElementBytes) return too_large("r" + std::to_string(bits));
  return DType(Kind::raw, bits / 8, nullptr);
}

Result<DType> DType::datetime64(std::string_view unit, std::int32_t scale_factor) {
  return time(Kind::datetime64, unit, scale_factor);
}
Result<DType> DType::timedelta64(std::string_view unit, std::int32_t scale_factor) {
  return time(Kind::timedelta64, unit, scale_factor);
}

Result<DType> DType::time(Kind kind, std::string_view unit, std::int32_t scale_factor) {
  if (std::find(kTimeUnits.begin(), kTimeUnits.end(), unit) == kTimeUnits.end())
    return invalid_argument("unknown unit '" + std::string(unit) +
                            "'; the units are generic, Y, M, W, D, h, m, s, ms, us, ns, ps, fs, as");
  if (scale_factor < 1)
    return invalid_argument("the scale factor is " + std::to_string(scale_factor) + "; it must be 1 to 2147483647");
  const bool micro = unit == "μs" || unit == "µs";
  return DType(kind, 8, std::make_shared<const Extra>(Extra{std::string(micro ? "us" : unit), scale_factor}));
}

Result<DType> DType::fixed_length_utf32(std::uint64_t length_bytes) {
  if (length_bytes == 0 || length_bytes % 4 != 0)
    return invalid_argument("fixed_length_utf32: the length is " + std::to_string(length_bytes) +
                            " bytes; it must be a positive multiple of 4");
  if (length_bytes > kMaxElementBytes) return too_large("fixed_length_utf32");
  return DType(Kind::utf32, length_bytes, nullptr);
}

Result<DType> DType::null_terminated_bytes(std::uint64_t length_bytes) {
  if (length_bytes == 0) return invalid_argument("null_terminated_bytes: the length must be 1 byte or more");
  if (length_bytes > kMaxElementBytes) return too_large("null_terminated_bytes");
  return DType(Kind::null_terminated_bytes, length_bytes, nullptr);
}

Result<DType> DType::structure(std::vector<DTypeField> fields) {
  if (fields.empty()) return invalid_argument("a struct must have at least one field");
  std::uint64_t size = 0;
  unsigned depth = 1;
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const DTypeField& field : fields) {
    if (field.name.empty()) return invalid_argument("the fields of a struct must have names");
    if (field.dtype.is_variable())
      return invalid_argument("field '" + field.name + "': a struct cannot hold the variable-length type '" +
                              field.dtype.name() + "'");
    size += field.dtype.size();
    if (size > kMaxElementBytes) return too_large("struct");
    if (!field.dtype.fields().empty()) depth = std::max(depth, field.dtype.extra_->depth + 1);
    names.push_back(field.name);
  }
  if (depth > kMaxStructDepth) return too_deep();
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return invalid_argument("two fields of a struct have the name '" + std::string(*twice) + "'");
  return DType(Kind::structure, size, std::make_shared<const Extra>(Extra{{}, 1, std::move(fields), depth}));
}

Result<DType> DType::optional(const DType& value) {
  if (value.is_variable())
    return unsupported("optional values of the variable-length type '" + value.name() + "' are not supported");
  const unsigned depth = value.extra_ ? value.extra_->depth + 1 : 1;
  if (depth > kMaxStructDepth) return too_deep();
  if (value.size() >= kMaxElementBytes) return too_large("optional");
  std::vector<DTypeField> fields{{"value", value}, {"present", bool_}};
  return DType(Kind::optional, std::uint64_t{value.size_} + 1,
               std::make_shared<const Extra>(Extra{{}, 1, std::move(fields), depth}));
}

Result<DType> DType::parse(std::string_view name) { return parse_dtype_name(name, ErrorCode::unsupported); }

Result<DType> parse_dtype_name(std::string_view name, ErrorCode unknown) {
  using Kind = DType::Kind;
  for (const DType* plain : kPlain)
    if (name == name_of(plain->kind())) return *plain;
  for (const auto& [other, dtype] : kOtherNames)
    if (name == other) return *dtype;
  if (const auto bits = raw_bits(name)) {
    if (*bits / 8 > kMaxElementBytes) return too_large(name);
    return DType::raw(*bits);
  }
  const std::string quoted = "data type '" + std::string(name) + "'";
  for (const Kind kind :
       {Kind::datetime64, Kind::timedelta64, Kind::utf32, Kind::null_terminated_bytes, Kind::structure, Kind::optional})
    if (name == name_of(kind) || (kind == Kind::optional && name == "optional"))
      return invalid_argument(quoted + " needs a configuration: write it as {\"name\": …, \"configuration\": …}");
  std::vector<std::string_view> names;
  for (const DType* plain : kPlain) names.push_back(name_of(plain->kind()));
  return {Error(unknown, "unknown " + quoted + did_you_mean(name, names))};
}

std::string kind_name(DType::Kind kind) { return std::string(name_of(kind)); }

std::string DType::name() const {
  std::string name = kind_name(kind_);
  return kind_ == Kind::raw ? name + std::to_string(std::uint64_t{size_} * 8) : name;
}

std::string_view DType::unit() const noexcept { return extra_ ? std::string_view(extra_->unit) : std::string_view(); }
std::int32_t DType::scale_factor() const noexcept { return extra_ ? extra_->scale_factor : 1; }
std::span<const DTypeField> DType::fields() const noexcept {
  return extra_ ? std::span<const DTypeField>(extra_->fields) : std::span<const DTypeField>();
}

std::size_t DType::word_size() const noexcept {
  switch (kind_) {
    case Kind::raw:
    case Kind::string:
    case Kind::bytes:
    case Kind::null_terminated_bytes:
      return 1;
    case Kind::utf32:
      return 4;
    case Kind::structure:
    case Kind::optional:
      return 0;
    default:
      return part_of_complex(kind_) ? size_ / 2 : size_;
  }
}

bool operator==(const DType& a, const DType& b) noexcept {
  if (a.kind_ != b.kind_ || a.size_ != b.size_) return false;
  if (a.extra_ == b.extra_) return true;
  return a.unit() == b.unit() && a.scale_factor() == b.scale_factor() &&
         std::equal(a.fields().begin(), a.fields().end(), b.fields().begin(), b.fields().end());
}

}  // namespace sherd
