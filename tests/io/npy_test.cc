// .npy files: every type and version NumPy writes, and what it writes back byte for byte.
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace npy_test {

using namespace files_testing;

template <class T>
void expect_npy(const std::string& name, const Shape& shape, const DType& dtype, bool fortran = false) {
  SCOPED_TRACE(name);
  auto reader = open_file(data(name));
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ((*reader)->array().dtype, dtype);
  EXPECT_EQ((*reader)->array().fortran, fortran);
  EXPECT_TRUE((*reader)->random_access());
  auto bytes = read_all(**reader, 10);
  ASSERT_TRUE(bytes);
  const auto expected = pattern_of<T>(element_count(shape).value());
  const auto values = values_of<T>(*bytes);
  if (!fortran) {
    EXPECT_EQ((*reader)->array().shape, shape);
    EXPECT_EQ(values, expected);
    return;
  }
  EXPECT_EQ((*reader)->array().shape, Shape(shape.rbegin(), shape.rend()));
  std::size_t at = 0;
  for (std::uint64_t x = 0; x < shape[2]; ++x)
    for (std::uint64_t y = 0; y < shape[1]; ++y)
      for (std::uint64_t z = 0; z < shape[0]; ++z) EXPECT_EQ(values[at++], expected[(z * shape[1] + y) * shape[2] + x]);
}

TEST(Npy, NumbersOfEitherByteOrderAndEitherOrderOfDimensionsAreRead) {
  const Shape shape = {3, 5, 7};
  expect_npy<std::uint8_t>("u1.npy", shape, DType::uint8);
  expect_npy<std::int16_t>("i2_big.npy", shape, DType::int16);
  expect_npy<float>("f4_fortran.npy", shape, DType::float32, true);
  expect_npy<std::uint16_t>("version2.npy", shape, DType::uint16);
  expect_npy<std::int64_t>("time.npy", shape, DType::datetime64("s", 25).value());
  expect_npy<std::int64_t>("duration.npy", shape, DType::timedelta64("ns").value());
}

TEST(Npy, ComplexNumbersOfForeignOrderKeepTheirParts) {
  auto reader = open_file(data("c16_big_fortran.npy")).value();
  EXPECT_EQ(reader->array().dtype, DType::complex128);
  const auto values = values_of<std::complex<double>>(read_all(*reader).value());
  EXPECT_EQ(values[0], (std::complex<double>{11, 12}));
  const double second = static_cast<double>(pattern(35));  // file order: the next element is (1, 0, 0)
  EXPECT_EQ(values[1], (std::complex<double>{second, second + 1}));
}

TEST(Npy, HalfPrecisionNumbersAndBoolsAreReadBitForBit) {
  auto half = open_file(data("f2.npy")).value();
  EXPECT_EQ(half->array().dtype, DType::float16);
  EXPECT_EQ(values_of<std::uint16_t>(read_all(*half).value())[0], 0x4980);  // 11
  auto flags = open_file(data("bool.npy")).value();
  EXPECT_EQ(flags->array().dtype, DType::bool_);
  const auto values = values_of<std::uint8_t>(read_all(*flags).value());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], pattern(i) % 2);
}

TEST(Npy, AByteThatIsNeitherZeroNorOneIsTrue) {
  const Folder folder;
  std::string bytes = load(data("bool.npy"));
  bytes[128] = 0x40;
  save(folder / "bool.npy", bytes);
  auto reader = open_file(folder / "bool.npy").value();
  EXPECT_EQ(std::to_integer<int>(read_all(*reader).value()[0]), 1);
}

TEST(Npy, AScalarHasNoDimensionsAndAnEmptyArrayNoElements) {
  auto scalar = open_file(data("scalar.npy")).value();
  EXPECT_EQ(scalar->array().shape, Shape{});
  EXPECT_EQ(values_of<double>(read_all(*scalar).value()), std::vector<double>{11});
  auto empty = open_file(data("empty.npy")).value();
  EXPECT_EQ(empty->array().shape, (Shape{0, 3}));
  EXPECT_TRUE(read_all(*empty).value().empty());
}

TEST(Npy, TextBecomesCodePointsAndBytesStayNullTerminated) {
  auto text = open_file(data("text.npy")).value();
  EXPECT_EQ(text->array().dtype, DType::fixed_length_utf32(12).value());
  EXPECT_EQ(values_of<std::uint32_t>(read_all(*text).value()),
            (std::vector<std::uint32_t>{'a', 'b', 0, 0xfc, 0x4e2d, 0x1f600}));
  auto raw = open_file(data("raw.npy")).value();
  EXPECT_EQ(raw->array().dtype, DType::null_terminated_bytes(3).value());
  const auto bytes = read_all(*raw).value();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), 6), std::string("abcde\0", 6));
}

TEST(Npy, AStructOfMixedByteOrdersIsReadFieldByField) {
  auto reader = open_file(data("struct.npy")).value();
  const DType dtype = reader->array().dtype;
  ASSERT_EQ(dtype.fields().size(), 3u);
  EXPECT_EQ(dtype.fields()[1].name, "it's");
  EXPECT_EQ(dtype.fields()[2].dtype.fields()[0].dtype, DType::uint16);
  ASSERT_EQ(dtype.size(), 15u);
  const auto bytes = read_all(*reader).value();
  std::int32_t x = 0;
  double y = 0;
  std::uint16_t a = 0;
  std::memcpy(&x, &bytes[15], 4);
  std::memcpy(&y, &bytes[15 + 4], 8);
  std::memcpy(&a, &bytes[12], 2);
  EXPECT_EQ(x, -2);
  EXPECT_EQ(y, 1.5);
  EXPECT_EQ(a, 258);
  EXPECT_EQ(std::to_integer<int>(bytes[14]), 9);
}

TEST(Npy, FieldNamesOutsideAsciiAreUtf8) {
  auto reader = open_file(data("version3.npy")).value();
  EXPECT_EQ(reader->array().dtype.fields()[0].name, "\u4e2d");
}

TEST(Npy, UnsupportedTypesAreRefusedByName) {
  EXPECT_TRUE(refuses(data("object.npy"), ErrorCode::unsupported, "pickles"));
  EXPECT_TRUE(refuses(data("padded.npy"), ErrorCode::unsupported, "padding"));
  EXPECT_TRUE(refuses(data("subarray.npy"), ErrorCode::unsupported, "field 'a' is an array itself"));
  EXPECT_TRUE(refuses(data("longdouble.npy"), ErrorCode::unsupported, "'f16'"));
}

TEST(Npy, WhatIsWrittenEqualsWhatNumpyWrites) {
  const Folder folder;
  for (const char* name : {"u1.npy", "f2.npy", "bool.npy", "scalar.npy", "empty.npy", "time.npy", "version3.npy"}) {
    SCOPED_TRACE(name);
    auto reader = open_file(data(name)).value();
    const auto bytes = read_all(*reader).value();
    auto writer = kNpyFiles.create(folder / name, reader->array(), WriteMode{}).value();
    ASSERT_TRUE(writer->write(0, bytes));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(load(folder / name), load(data(name)));
  }
}

TEST(Npy, AStructIsWrittenSoThatItReadsBack) {
  const Folder folder;
  auto reader = open_file(data("struct.npy")).value();
  const auto bytes = read_all(*reader).value();
  auto writer = kNpyFiles.create(folder / "s.npy", reader->array(), WriteMode{}).value();
  ASSERT_TRUE(writer->write(0, bytes));
  ASSERT_TRUE(writer->finish());
  auto again = open_file(folder / "s.npy").value();
  EXPECT_EQ(again->array().dtype, reader->array().dtype);
  EXPECT_EQ(read_all(*again).value(), bytes);
}

TEST(Npy, TypesWithoutAFixedSizeCannotBeWritten) {
  EXPECT_TRUE(fails(npy_header(DType::string, {2}), ErrorCode::unsupported, "pickled"));
}

TEST(Npy, AnInconsistentHeaderIsRefusedBeforeAnythingIsCreated) {
  const Folder folder;
  const auto with = [&](const std::string& text) {
    std::string header("\x93NUMPY\x01\0", 8);
    header += static_cast<char>(text.size() & 0xff);
    header += static_cast<char>(text.size() >> 8);
    save(folder / "x.npy", header + text + std::string(16, 'x'));
    return folder / "x.npy";
  };
  const auto described = [&](const std::string& descr, const std::string& shape) {
    return with("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}");
  };
  EXPECT_TRUE(refuses(described("'<u2'", "(9,)"), ErrorCode::corrupt, "truncated"));
  EXPECT_TRUE(refuses(described("'<u2'", "(4294967296, 4294967296)"), ErrorCode::corrupt, "more bytes than any file"));
  EXPECT_TRUE(refuses(described("'<u2'", "(4611686018427387904, 2)"), ErrorCode::corrupt, "more bytes than any file"));
  EXPECT_TRUE(refuses(described("'<u2'", "(99999999999999999999,)"), ErrorCode::corrupt, "a length is expected"));
  EXPECT_TRUE(refuses(described("'<u2'", "(-1,)"), ErrorCode::corrupt, "a length is expected"));
  EXPECT_TRUE(refuses(described("'|V99999999999'", "(1,)"), ErrorCode::unsupported, "V99999999999"));
  EXPECT_TRUE(refuses(described("'|V4294967295'", "(1,)"), ErrorCode::unsupported, "larger"));
  EXPECT_TRUE(refuses(described("'<U0'", "(1,)"), ErrorCode::invalid_argument, ""));
  EXPECT_TRUE(refuses(with("{'descr': '<u2"), ErrorCode::corrupt, "a string does not end"));
  EXPECT_TRUE(refuses(with("{'descr': '<u2'}"), ErrorCode::corrupt, "missing"));
  EXPECT_TRUE(refuses(with(std::string(4000, '[')), ErrorCode::corrupt, "'{' is expected"));
  EXPECT_TRUE(
      refuses(with("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), 'x': 1}"), ErrorCode::corrupt, "'x'"));
  std::string fields;
  for (int i = 0; i < 5000; ++i) fields += "[('a',";
  EXPECT_TRUE(refuses(described(fields, "(1,)"), ErrorCode::unsupported, "nested"));
  std::string shape = "(";
  for (int i = 0; i < 40; ++i) shape += "1,";
  EXPECT_TRUE(refuses(described("'|u1'", shape + ")"), ErrorCode::unsupported, "'dimensions'"));
  save(folder / "long.npy", std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f", 12));
  EXPECT_TRUE(refuses(folder / "long.npy", ErrorCode::unsupported, "'metadata_bytes'"));
  save(folder / "nine.npy", std::string("\x93NUMPY\x09\0\x01\x00", 10));
  EXPECT_TRUE(refuses(folder / "nine.npy", ErrorCode::unsupported, "version 9"));
}

TEST(Npy, CutAndDamagedFilesAreRefused) {
  expect_cuts_refused("struct.npy");
  expect_damage_survived("struct.npy");
  expect_damage_survived("u1.npy");
}

}  // namespace npy_test
}  // namespace sherd
