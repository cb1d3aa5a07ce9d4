// TIFF files: strips, tiles and planes of every type that tifffile wrote, and what is written reads back.
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace {

using namespace files_testing;

template <class T>
void expect_tiff(const std::string& name, const Shape& shape) {
  SCOPED_TRACE(name);
  auto reader = open_file(data(name));
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ((*reader)->array().shape, shape);
  EXPECT_EQ((*reader)->array().dtype, DType::of<T>());
  expect_pattern<T>(**reader);
}

TEST(Tiff, StripsTilesAndPlanesOfEveryTypeAreRead) {
  expect_tiff<std::uint16_t>("strips.tif", {3, 5, 7});
  expect_tiff<float>("big_endian.tif", {3, 5, 7});
  expect_tiff<std::int64_t>("bigtiff.tif", {3, 5, 7});
  expect_tiff<std::int32_t>("tiles_lzw.tif", {2, 37, 41});
  expect_tiff<double>("deflate.tif", {3, 5, 7});
  expect_tiff<std::uint8_t>("rgb.tif", {9, 13, 3});
  expect_tiff<std::uint16_t>("planar.tif", {9, 13, 3});
  expect_tiff<std::uint8_t>("planar_tiles.tif", {20, 19, 4});
}

TEST(Tiff, BitsHalvesAndComplexNumbersAreRead) {
  auto bits = open_file(data("bilevel.tif")).value();
  EXPECT_EQ(bits->array().dtype, DType::bool_);
  const auto flags = values_of<std::uint8_t>(read_all(*bits).value());
  ASSERT_EQ(flags.size(), 9u * 13);
  for (std::size_t i = 0; i < flags.size(); ++i) EXPECT_EQ(flags[i], pattern(i) % 2) << i;
  auto half = open_file(data("half.tif")).value();
  EXPECT_EQ(half->array().dtype, DType::float16);
  EXPECT_EQ(values_of<std::uint16_t>(read_all(*half).value())[0], 0x4980);
  auto complex = open_file(data("complex.tif")).value();
  EXPECT_EQ(complex->array().dtype, DType::complex64);
  EXPECT_EQ(values_of<std::complex<float>>(read_all(*complex).value())[1], (std::complex<float>{48, 49}));
}

TEST(Tiff, ResolutionBecomesSpacing) {
  auto reader = open_file(data("rgb.tif")).value();
  EXPECT_EQ(reader->array().attributes.find("spacing")->dump(), "[0.2,0.1,null]");
  EXPECT_EQ(reader->array().attributes.find("units")->dump(), R"(["mm","mm",null])");
}

TEST(Tiff, PagesThatOnlyADescriptionNamesAreRead) { expect_tiff<std::uint16_t>("imagej_joined.tif", {3, 5, 7}); }

TEST(Tiff, ADescriptionOfMorePagesThanThereAreIsRefused) {
  const Folder folder;
  std::string bytes = load(data("imagej_joined.tif"));
  const auto at = bytes.find("images=3");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 7] = '9';
  save(folder / "a.tif", bytes);
  EXPECT_TRUE(refuses(folder / "a.tif", ErrorCode::corrupt, "9 images"));
}

TEST(Tiff, PagesOfAnotherSizeAreRefusedAndThumbnailsLeftOut) {
  EXPECT_TRUE(refuses(data("other_size.tif"), ErrorCode::invalid_argument, "page 1 is 12x9 uint8"));
  expect_tiff<std::uint8_t>("thumbnail.tif", {9, 13});
}

/// With the samples of each pixel as planes, channel by channel.
template <class T>
std::vector<T> planes_of(const std::vector<T>& pixels, std::size_t samples) {
  std::vector<T> planes;
  for (std::size_t c = 0; c < samples; ++c)
    for (std::size_t i = c; i < pixels.size(); i += samples) planes.push_back(pixels[i]);
  return planes;
}

/// `samples`: of a pixel, which OME-TIFF reads back as the first dimension.
template <class T>
void expect_round_trip(Shape shape, std::size_t samples = 1) {
  const Folder folder;
  FileArray array;
  array.shape = shape;
  array.dtype = DType::of<T>();
  const auto values = pattern_of<T>(element_count(shape).value());
  auto writer = kTiffFiles.create(folder / "a.tif", array, WriteMode{}).value();
  const auto bytes = std::as_bytes(std::span(values));
  for (std::size_t at = 0; at < bytes.size(); at += 16 * sizeof(T))
    ASSERT_TRUE(writer->write(at / sizeof(T), bytes.subspan(at, std::min(bytes.size() - at, 16 * sizeof(T)))));
  EXPECT_EQ(std::filesystem::exists(folder / "a.tif"), false);
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.tif"});
  auto reader = open_file(folder / "a.tif").value();
  if (samples > 1) std::rotate(shape.begin(), shape.end() - 1, shape.end());
  EXPECT_EQ(reader->array().shape, shape);
  EXPECT_EQ(reader->array().dtype, array.dtype);
  EXPECT_EQ(values_of<T>(read_all(*reader).value()), planes_of(values, samples));
}

TEST(Tiff, WhatIsWrittenReadsBack) {
  expect_round_trip<std::uint8_t>({9, 13});
  expect_round_trip<std::uint16_t>({4, 9, 13});
  expect_round_trip<float>({4, 9, 13});
  expect_round_trip<std::int64_t>({2, 9, 13});
  expect_round_trip<std::complex<double>>({9, 13});
  expect_round_trip<std::uint8_t>({4, 9, 13, 3}, 3);
  expect_round_trip<std::uint16_t>({9, 13, 4}, 4);
}

TEST(Tiff, SpacingIsWrittenAndReadBack) {
  const Folder folder;
  FileArray array;
  array.shape = {2, 9, 13};
  array.axes = {{.name = "z", .spacing = 3, .unit = "mm"},
                {.name = "y", .spacing = 0.5, .unit = "mm"},
                {.name = "x", .spacing = 0.25, .unit = "mm"}};
  const auto values = pattern_of<std::uint8_t>(2 * 9 * 13);
  auto writer = kTiffFiles.create(folder / "a.tif", array, WriteMode{}).value();
  ASSERT_TRUE(writer->write(0, std::as_bytes(std::span(values))));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(open_file(folder / "a.tif").value()->array().attributes.find("spacing")->dump(), "[3.0,0.5,0.25]");
}

TEST(Tiff, TypesTheFormatCannotStoreAreRefused) {
  const Folder folder;
  FileArray array;
  array.shape = {2, 2};
  array.dtype = DType::bfloat16;
  EXPECT_TRUE(fails(kTiffFiles.create(folder / "a.tif", array, WriteMode{}), ErrorCode::unsupported, "bfloat16"));
  array.dtype = DType::uint8;
  save(folder / "a.tif", "x");
  EXPECT_TRUE(fails(kTiffFiles.create(folder / "a.tif", array, WriteMode{false, true}), ErrorCode::conflict, "exists"));
}

TEST(Tiff, AnAbandonedWriterLeavesNothing) {
  const Folder folder;
  FileArray array;
  array.shape = {9, 13};
  {
    auto writer = kTiffFiles.create(folder / "a.tif", array, WriteMode{}).value();
    const auto values = pattern_of<std::uint8_t>(13);
    ASSERT_TRUE(writer->write(0, std::as_bytes(std::span(values))));
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Tiff, LibtiffPrintsNothingToStandardError) {
  const Folder folder;
  save(folder / "a.tif", "II*\0nonsense");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(refuses(folder / "a.tif", ErrorCode::corrupt, "tiff: "));
  expect_damage_survived("strips.tif");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Tiff, StripsLargerThanTheLimitAreRefused) {
  ImportOptions options;
  options.create.config.limits.chunk_bytes = 27;
  EXPECT_TRUE(refuses(data("strips.tif"), ErrorCode::unsupported, "'chunk_bytes'", options));
  options.create.config.limits.chunk_bytes = 28;
  EXPECT_TRUE(open_file(data("strips.tif"), options));
}

TEST(Tiff, CutAndDamagedFilesAreRefused) {
  for (const char* name :
       {"strips.tif", "bigtiff.tif", "tiles_lzw.tif", "deflate.tif", "planar.tif", "imagej_joined.tif"}) {
    expect_cuts_refused(name);
    expect_damage_survived(name);
  }
}

}  // namespace
}  // namespace sherd
