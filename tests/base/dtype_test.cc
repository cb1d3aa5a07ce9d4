// Element types: names, sizes, bounds.
#include "sherd/dtype.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace dtype_test {

struct Row {
  const char* name;
  DType::Kind kind;
  std::size_t size;
  std::size_t word_size;
};

TEST(DType, KnowsEveryPlainTypeByItsName) {
  using K = DType::Kind;
  const Row rows[] = {{"bool", K::boolean, 1, 1},
                      {"int8", K::int8, 1, 1},
                      {"int16", K::int16, 2, 2},
                      {"int32", K::int32, 4, 4},
                      {"int64", K::int64, 8, 8},
                      {"uint8", K::uint8, 1, 1},
                      {"uint16", K::uint16, 2, 2},
                      {"uint32", K::uint32, 4, 4},
                      {"uint64", K::uint64, 8, 8},
                      {"float16", K::float16, 2, 2},
                      {"bfloat16", K::bfloat16, 2, 2},
                      {"float32", K::float32, 4, 4},
                      {"float64", K::float64, 8, 8},
                      {"complex64", K::complex64, 8, 4},
                      {"complex128", K::complex128, 16, 8},
                      {"r8", K::raw, 1, 1},
                      {"r24", K::raw, 3, 1},
                      {"string", K::string, sizeof(VarBytes), 1},
                      {"bytes", K::bytes, sizeof(VarBytes), 1},
                      {"int2", K::int2, 1, 1},
                      {"int4", K::int4, 1, 1},
                      {"uint2", K::uint2, 1, 1},
                      {"uint4", K::uint4, 1, 1},
                      {"float4_e2m1fn", K::float4_e2m1fn, 1, 1},
                      {"float6_e2m3fn", K::float6_e2m3fn, 1, 1},
                      {"float6_e3m2fn", K::float6_e3m2fn, 1, 1},
                      {"float8_e3m4", K::float8_e3m4, 1, 1},
                      {"float8_e4m3", K::float8_e4m3, 1, 1},
                      {"float8_e4m3b11fnuz", K::float8_e4m3b11fnuz, 1, 1},
                      {"float8_e4m3fn", K::float8_e4m3fn, 1, 1},
                      {"float8_e4m3fnuz", K::float8_e4m3fnuz, 1, 1},
                      {"float8_e5m2", K::float8_e5m2, 1, 1},
                      {"float8_e5m2fnuz", K::float8_e5m2fnuz, 1, 1},
                      {"float8_e8m0fnu", K::float8_e8m0fnu, 1, 1},
                      {"complex_float16", K::complex_float16, 4, 2},
                      {"complex_bfloat16", K::complex_bfloat16, 4, 2},
                      {"complex_float4_e2m1fn", K::complex_float4_e2m1fn, 2, 1},
                      {"complex_float6_e2m3fn", K::complex_float6_e2m3fn, 2, 1},
                      {"complex_float6_e3m2fn", K::complex_float6_e3m2fn, 2, 1},
                      {"complex_float8_e3m4", K::complex_float8_e3m4, 2, 1},
                      {"complex_float8_e4m3", K::complex_float8_e4m3, 2, 1},
                      {"complex_float8_e4m3b11fnuz", K::complex_float8_e4m3b11fnuz, 2, 1},
                      {"complex_float8_e4m3fn", K::complex_float8_e4m3fn, 2, 1},
                      {"complex_float8_e4m3fnuz", K::complex_float8_e4m3fnuz, 2, 1},
                      {"complex_float8_e5m2", K::complex_float8_e5m2, 2, 1},
                      {"complex_float8_e5m2fnuz", K::complex_float8_e5m2fnuz, 2, 1},
                      {"complex_float8_e8m0fnu", K::complex_float8_e8m0fnu, 2, 1}};
  for (const Row& row : rows) {
    const auto dtype = DType::parse(row.name);
    ASSERT_TRUE(dtype) << row.name;
    EXPECT_EQ(dtype->kind(), row.kind) << row.name;
    EXPECT_EQ(dtype->size(), row.size) << row.name;
    EXPECT_EQ(dtype->word_size(), row.word_size) << row.name;
    EXPECT_EQ(dtype->name(), row.name);
    EXPECT_EQ(dtype->is_variable(), row.kind == K::string || row.kind == K::bytes);
  }
}

TEST(DType, IsFoundForEveryElementTypeOfCpp) {
  EXPECT_EQ(DType::of<bool>(), DType::bool_);
  EXPECT_EQ(DType::of<std::int8_t>(), DType::int8);
  EXPECT_EQ(DType::of<const std::uint16_t>(), DType::uint16);
  EXPECT_EQ(DType::of<long long>(), DType::int64);
  EXPECT_EQ(DType::of<std::complex<float>>(), DType::complex64);
  EXPECT_EQ(DType::of<VarBytes>(), DType::string);
}

TEST(DType, RefusesByNameWhatItDoesNotSupport) {
  for (const char* name :
       {"int3", "float8_e4m4", "complex_int8", "int128", "", "R8", "r", "r0", "r08", "r-8", "float"}) {
    const auto dtype = DType::parse(name);
    ASSERT_FALSE(dtype) << name;
    EXPECT_EQ(dtype.error().code(), ErrorCode::unsupported) << name;
    EXPECT_NE(dtype.error().text().find("'" + std::string(name) + "'"), std::string::npos) << dtype.error().text();
  }
  for (const char* name : {"numpy.datetime64", "numpy.timedelta64", "fixed_length_utf32", "null_terminated_bytes",
                           "struct", "optional", "zarrs.optional"})
    EXPECT_EQ(DType::parse(name).error().code(), ErrorCode::invalid_argument) << name << " needs a configuration";
}

TEST(DType, BoundsTheSizeOfAnElement) {
  EXPECT_EQ(DType::parse("r8589934592")->size(), std::size_t{1} << 30);
  for (const char* name : {"r8589934600", "r1099511627776", "r18446744073709551608", "r99999999999999999999999999999"})
    EXPECT_EQ(DType::parse(name).error().code(), ErrorCode::unsupported) << name;
  EXPECT_EQ(DType::parse("r7").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(DType::raw(0).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(DType::fixed_length_utf32(0).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(DType::fixed_length_utf32(6).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(DType::fixed_length_utf32(~std::uint64_t{3}).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(DType::null_terminated_bytes(0).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(DType::null_terminated_bytes(~std::uint64_t{0}).error().code(), ErrorCode::unsupported);
  const DType half = *DType::raw(std::uint64_t{8} << 29);
  EXPECT_TRUE(DType::structure({{"a", half}, {"b", half}}));
  EXPECT_EQ(DType::structure({{"a", half}, {"b", half}, {"c", DType::uint8}}).error().code(), ErrorCode::unsupported);
}

TEST(DType, TimesHaveUnitAndScaleFactor) {
  const DType time = *DType::datetime64("ms", 10);
  EXPECT_EQ(time.name(), "numpy.datetime64");
  EXPECT_EQ(time.unit(), "ms");
  EXPECT_EQ(time.scale_factor(), 10);
  EXPECT_EQ(time.size(), 8u);
  EXPECT_NE(time, *DType::datetime64("ms", 11));
  EXPECT_NE(time, *DType::timedelta64("ms", 10));
  EXPECT_EQ(*DType::datetime64("μs"), *DType::datetime64("us"));
  for (const char* unit : {"generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as"})
    EXPECT_TRUE(DType::timedelta64(unit)) << unit;
  EXPECT_FALSE(DType::datetime64("minutes"));
  EXPECT_FALSE(DType::datetime64("s", 0));
  EXPECT_FALSE(DType::datetime64("s", -1));
}

TEST(DType, StructsArePackedAndComparedByTheirFields) {
  const DType point = *DType::structure({{"x", DType::float32}, {"y", DType::float64}});
  EXPECT_EQ(point.size(), 12u);
  EXPECT_EQ(point.word_size(), 0u);
  EXPECT_EQ(point.fields()[1].name, "y");
  EXPECT_EQ(point, *DType::structure({{"x", DType::float32}, {"y", DType::float64}}));
  EXPECT_NE(point, *DType::structure({{"x", DType::float32}, {"z", DType::float64}}));
  EXPECT_NE(point, *DType::structure({{"y", DType::float64}, {"x", DType::float32}}));
  EXPECT_TRUE(DType::structure({{"point", point}, {"id", DType::uint8}}));
}

TEST(DType, ComplexFloatsOf32And64BitsHaveTwoNames) {
  EXPECT_EQ(*DType::parse("complex_float32"), DType::complex64);
  EXPECT_EQ(*DType::parse("complex_float64"), DType::complex128);
  EXPECT_EQ(DType::parse("complex_float32")->name(), "complex64");
}

TEST(DType, BytesHaveTheNameThatZarrPythonGaveThemToo) {
  EXPECT_EQ(*DType::parse("variable_length_bytes"), DType::bytes);
  EXPECT_EQ(DType::parse("variable_length_bytes")->name(), "bytes");
}

TEST(DType, OptionalValuesTakeOneMoreByte) {
  const DType maybe = *DType::optional(DType::int32);
  EXPECT_EQ(maybe.size(), 5u);
  EXPECT_EQ(maybe.word_size(), 0u);
  EXPECT_EQ(maybe.fields().front().dtype, DType::int32);
  EXPECT_EQ(DType::optional(maybe)->size(), 6u);
  EXPECT_EQ(maybe, *DType::optional(DType::int32));
  EXPECT_NE(maybe, *DType::optional(DType::uint32));
  EXPECT_EQ(DType::optional(DType::string).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(DType::optional(*DType::raw(std::uint64_t{8} << 30)).error().code(), ErrorCode::unsupported);
}

TEST(DType, RefusesStructsTooLargeToAddress) {
  EXPECT_FALSE(DType::structure({}));
  EXPECT_FALSE(DType::structure({{"", DType::uint8}}));
  EXPECT_FALSE(DType::structure({{"x", DType::uint8}, {"y", DType::uint8}, {"x", DType::uint8}}));
  EXPECT_FALSE(DType::structure({{"x", DType::string}}));
  EXPECT_FALSE(DType::structure({{"x", DType::bytes}}));
}

TEST(DType, BoundsTheNestingOfStructs) {
  Result<DType> type = DType::uint8;
  for (int depth = 1; depth <= 16; ++depth) {
    type = DType::structure({{"inner", *type}});
    ASSERT_TRUE(type) << depth;
  }
  EXPECT_EQ(DType::structure({{"inner", *type}}).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(DType::optional(*type).error().code(), ErrorCode::unsupported);
}

}  // namespace dtype_test
}  // namespace sherd
