// TIFF files: strips, tiles and planes of every type that tifffile wrote.
#include "tests/io/tiff_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::tiff_testing {
namespace tiff_test {

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

TEST(Tiff, PagesThatOnlyADescriptionNamesAreRead) { expect_tiff<std::uint16_t>("imagej_joined.tif", {3, 5, 7}); }

}  // namespace tiff_test
}  // namespace sherd::tiff_testing
