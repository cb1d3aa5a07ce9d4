// The types of netCDF, their names in metadata and their types of elements in arrays.
#include "netcdf/type.hpp"

#include <gtest/gtest.h>

namespace sherd::netcdf {
namespace type_test {

constexpr Type kAll[] = {Type::int8,  Type::character, Type::int16,  Type::int32, Type::float32, Type::float64,
                         Type::uint8, Type::uint16,    Type::uint32, Type::int64, Type::uint64,  Type::string};

TEST(NetcdfType, IsFoundByItsName) {
  for (const Type type : kAll) EXPECT_EQ(type_called(to_string(type)), type);
  EXPECT_EQ(to_string(Type::uint8), "ubyte");
  EXPECT_EQ(type_called("long"), std::nullopt);
}

TEST(NetcdfType, OfAnAttributeIsFoundByTheNameThatIsWrittenForItsValues) {
  for (const Type type : kAll) EXPECT_EQ(attribute_type(attribute_type_name(default_fill(type))), type);
  EXPECT_EQ(attribute_type_name(Values(std::vector<std::string>{"a", "abc"})), "|S3");
  EXPECT_EQ(attribute_type("13"), std::nullopt);
  EXPECT_EQ(attribute_type("<c8"), std::nullopt);
}

TEST(NetcdfType, OfAVariableIsThatOfTheArrayMadeForIt) {
  for (const Type type : kAll) {
    const DType dtype = array_type(type, 4).value();
    EXPECT_EQ(variable_type(dtype, type == Type::character), type) << dtype.name();
    EXPECT_EQ(element_size(type), type == Type::string ? 0 : dtype.size());
  }
  EXPECT_EQ(variable_type(DType::complex64, false), std::nullopt);
  EXPECT_EQ(variable_type(DType::float16, false), Type::float32);
}

TEST(NetcdfType, OfStringsHasALengthWithinBounds) {
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{536870912}})
    EXPECT_EQ(array_type(Type::string, length).error().code(), ErrorCode::invalid_argument) << length;
  EXPECT_EQ(array_type(Type::string, 536870911).value().size(), 536870911U);
}

TEST(NetcdfType, HasEmptyValuesAndOneDefaultFillValue) {
  for (const Type type : kAll) {
    EXPECT_EQ(size_of(no_values(type)), 0U);
    EXPECT_EQ(size_of(default_fill(type)), 1U);
    EXPECT_EQ(no_values(type).index(), default_fill(type).index());
  }
}

TEST(NumberOf, NeedsTheBytesOfOneNumber) {
  const std::int16_t number = -5;
  const auto bytes = std::as_bytes(std::span(&number, 1));
  EXPECT_EQ(number_of(Type::int16, bytes), Values(std::vector<std::int16_t>{-5}));
  EXPECT_EQ(number_of(Type::int32, bytes), std::nullopt);
  EXPECT_EQ(number_of(Type::character, bytes.first(1)), std::nullopt);
  EXPECT_EQ(number_of(Type::string, {}), std::nullopt);
}

}  // namespace type_test
}  // namespace sherd::netcdf
