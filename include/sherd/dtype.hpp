// Element types: the core types of Zarr v3 and the registered extensions that Sherd reads and writes.
// In memory, elements are in native byte order; variable-length elements are handles (VarBytes). A number of fewer than
// eight bits occupies the low bits of a byte of its own: signed integers are sign-extended; in other types the upper
// bits are 0.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/export.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// One variable-length element in memory: `string` (UTF-8) or `bytes`. Does not own the memory that it points to.
struct VarBytes {
  const char* data = nullptr;
  std::uint64_t size = 0;
  [[nodiscard]] std::string_view view() const noexcept { return {data, size}; }
};

struct DTypeField;

/// The type of an array's elements; a small value, cheap to copy.
class SHERD_API DType {
 public:
  enum class Kind : std::uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
    raw,                    ///< r<bits>: opaque bytes, fixed size
    string,                 ///< variable-length UTF-8; VarBytes in memory
    bytes,                  ///< variable-length bytes; VarBytes in memory
    datetime64,             ///< numpy.datetime64: int64 counts of a unit since 1970; -2^63 is NaT
    timedelta64,            ///< numpy.timedelta64
    utf32,                  ///< fixed_length_utf32: code points, zero-padded
    null_terminated_bytes,  ///< NumPy's S: bytes, fixed size, zero-padded
    structure,              ///< struct: named fields, packed
    int2,
    int4,
    uint2,
    uint4,
    // Floats, named as by the OCP and ml_dtypes. eXmY: bits of the exponent and of the fraction; f: no infinity; n: at
    // most one NaN pattern; uz: no negative zero; u: no sign and no zero.
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    // Two floats each, the real part first. complex64 and complex128 consist of float32 and float64.
    complex_float16,
    complex_bfloat16,
    complex_float4_e2m1fn,
    complex_float6_e2m3fn,
    complex_float6_e3m2fn,
    complex_float8_e3m4,
    complex_float8_e4m3,
    complex_float8_e4m3b11fnuz,
    complex_float8_e4m3fn,
    complex_float8_e4m3fnuz,
    complex_float8_e5m2,
    complex_float8_e5m2fnuz,
    complex_float8_e8m0fnu,
    optional,  ///< a value of another type, or none: in memory that value and a byte, 1 or, for none, 0 (all zeros)
  };

  static const DType bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64;
  static const DType float16, bfloat16, float32, float64, complex64, complex128, string, bytes;
  static const DType int2, int4, uint2, uint4;
  static const DType float4_e2m1fn, float6_e2m3fn, float6_e3m2fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz,
      float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu;
  static const DType complex_float16, complex_bfloat16, complex_float4_e2m1fn, complex_float6_e2m3fn,
      complex_float6_e3m2fn, complex_float8_e3m4, complex_float8_e4m3, complex_float8_e4m3b11fnuz,
      complex_float8_e4m3fn, complex_float8_e4m3fnuz, complex_float8_e5m2, complex_float8_e5m2fnuz,
      complex_float8_e8m0fnu;

  /// r<bits>; bits is a positive multiple of 8.
  static Result<DType> raw(std::uint64_t bits);
  /// unit: generic Y M W D h m s ms us μs ns ps fs as; scale_factor 1 … 2^31-1.
  static Result<DType> datetime64(std::string_view unit, std::int32_t scale_factor = 1);
  static Result<DType> timedelta64(std::string_view unit, std::int32_t scale_factor = 1);
  /// length_bytes is a positive multiple of 4.
  static Result<DType> fixed_length_utf32(std::uint64_t length_bytes);
  static Result<DType> null_terminated_bytes(std::uint64_t length_bytes);
  /// Packed fields with distinct, non-empty names and fixed-size types.
  static Result<DType> structure(std::vector<DTypeField> fields);
  /// Values of a fixed-size type that may be missing; `value` may itself be optional.
  static Result<DType> optional(const DType& value);
  /// A type by its metadata name, such as "uint16" or "r24". Only for types without a configuration.
  static Result<DType> parse(std::string_view name);
  /// The type of a C++ element type.
  template <class T>
  static DType of();

  constexpr DType() = default;  ///< uint8

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Bytes of one element in memory; sizeof(VarBytes) for variable-length types.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_variable() const noexcept { return kind_ == Kind::string || kind_ == Kind::bytes; }
  /// The name in Zarr v3 metadata: "uint16", "r24", "numpy.datetime64", "struct", …
  [[nodiscard]] std::string name() const;
  /// Unit and scale factor of datetime64 and timedelta64; otherwise empty and 1.
  [[nodiscard]] std::string_view unit() const noexcept;
  [[nodiscard]] std::int32_t scale_factor() const noexcept;
  /// The fields of a struct; for an optional type "value" and "present", as in memory; otherwise empty. Fields are
  /// packed: the offset of each is the sum of the sizes before it.
  [[nodiscard]] std::span<const DTypeField> fields() const noexcept;
  /// The size in bytes of the words that a byte swap reverses: 4 for complex64 and utf32, 1 for types made of bytes. 0
  /// for struct and optional: it differs between fields.
  [[nodiscard]] std::size_t word_size() const noexcept;

  friend SHERD_API bool operator==(const DType& a, const DType& b) noexcept;

 private:
  struct Extra;
  constexpr DType(Kind kind, std::uint32_t size) : kind_(kind), size_(size) {}
  DType(Kind kind, std::uint64_t size, std::shared_ptr<const Extra> extra);
  static Result<DType> time(Kind kind, std::string_view unit, std::int32_t scale_factor);

  Kind kind_ = Kind::uint8;
  std::uint32_t size_ = 1;
  std::shared_ptr<const Extra> extra_;
};

/// One field of a struct.
struct DTypeField {
  std::string name;
  DType dtype;
  friend bool operator==(const DTypeField&, const DTypeField&) = default;
};

inline constinit const DType DType::bool_{Kind::boolean, 1};
inline constinit const DType DType::int8{Kind::int8, 1};
inline constinit const DType DType::int16{Kind::int16, 2};
inline constinit const DType DType::int32{Kind::int32, 4};
inline constinit const DType DType::int64{Kind::int64, 8};
inline constinit const DType DType::uint8{Kind::uint8, 1};
inline constinit const DType DType::uint16{Kind::uint16, 2};
inline constinit const DType DType::uint32{Kind::uint32, 4};
inline constinit const DType DType::uint64{Kind::uint64, 8};
inline constinit const DType DType::float16{Kind::float16, 2};
inline constinit const DType DType::bfloat16{Kind::bfloat16, 2};
inline constinit const DType DType::float32{Kind::float32, 4};
inline constinit const DType DType::float64{Kind::float64, 8};
inline constinit const DType DType::complex64{Kind::complex64, 8};
inline constinit const DType DType::complex128{Kind::complex128, 16};
inline constinit const DType DType::string{Kind::string, sizeof(VarBytes)};
inline constinit const DType DType::bytes{Kind::bytes, sizeof(VarBytes)};
inline constinit const DType DType::int2{Kind::int2, 1};
inline constinit const DType DType::int4{Kind::int4, 1};
inline constinit const DType DType::uint2{Kind::uint2, 1};
inline constinit const DType DType::uint4{Kind::uint4, 1};
inline constinit const DType DType::float4_e2m1fn{Kind::float4_e2m1fn, 1};
inline constinit const DType DType::float6_e2m3fn{Kind::float6_e2m3fn, 1};
inline constinit const DType DType::float6_e3m2fn{Kind::float6_e3m2fn, 1};
inline constinit const DType DType::float8_e3m4{Kind::float8_e3m4, 1};
inline constinit const DType DType::float8_e4m3{Kind::float8_e4m3, 1};
inline constinit const DType DType::float8_e4m3b11fnuz{Kind::float8_e4m3b11fnuz, 1};
inline constinit const DType DType::float8_e4m3fn{Kind::float8_e4m3fn, 1};
inline constinit const DType DType::float8_e4m3fnuz{Kind::float8_e4m3fnuz, 1};
inline constinit const DType DType::float8_e5m2{Kind::float8_e5m2, 1};
inline constinit const DType DType::float8_e5m2fnuz{Kind::float8_e5m2fnuz, 1};
inline constinit const DType DType::float8_e8m0fnu{Kind::float8_e8m0fnu, 1};
inline constinit const DType DType::complex_float16{Kind::complex_float16, 4};
inline constinit const DType DType::complex_bfloat16{Kind::complex_bfloat16, 4};
inline constinit const DType DType::complex_float4_e2m1fn{Kind::complex_float4_e2m1fn, 2};
inline constinit const DType DType::complex_float6_e2m3fn{Kind::complex_float6_e2m3fn, 2};
inline constinit const DType DType::complex_float6_e3m2fn{Kind::complex_float6_e3m2fn, 2};
inline constinit const DType DType::complex_float8_e3m4{Kind::complex_float8_e3m4, 2};
inline constinit const DType DType::complex_float8_e4m3{Kind::complex_float8_e4m3, 2};
inline constinit const DType DType::complex_float8_e4m3b11fnuz{Kind::complex_float8_e4m3b11fnuz, 2};
inline constinit const DType DType::complex_float8_e4m3fn{Kind::complex_float8_e4m3fn, 2};
inline constinit const DType DType::complex_float8_e4m3fnuz{Kind::complex_float8_e4m3fnuz, 2};
inline constinit const DType DType::complex_float8_e5m2{Kind::complex_float8_e5m2, 2};
inline constinit const DType DType::complex_float8_e5m2fnuz{Kind::complex_float8_e5m2fnuz, 2};
inline constinit const DType DType::complex_float8_e8m0fnu{Kind::complex_float8_e8m0fnu, 2};

namespace detail {
template <class>
inline constexpr bool always_false = false;
}

template <class T>
DType DType::of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return bool_;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
    return sizeof(U) == 1 ? int8 : sizeof(U) == 2 ? int16 : sizeof(U) == 4 ? int32 : int64;
  else if constexpr (std::is_integral_v<U>)
    return sizeof(U) == 1 ? uint8 : sizeof(U) == 2 ? uint16 : sizeof(U) == 4 ? uint32 : uint64;
  else if constexpr (std::is_same_v<U, float>)
    return float32;
  else if constexpr (std::is_same_v<U, double>)
    return float64;
  else if constexpr (std::is_same_v<U, std::complex<float>>)
    return complex64;
  else if constexpr (std::is_same_v<U, std::complex<double>>)
    return complex128;
  else if constexpr (std::is_same_v<U, VarBytes>)
    return string;
  else
    static_assert(detail::always_false<T>, "no Sherd element type for this C++ type; use AnyView");
}

}  // namespace sherd
