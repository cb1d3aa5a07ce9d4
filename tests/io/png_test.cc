// PNG, PGM and PPM images: every kind of pixel, and what is written reads back.
#include "tests/io/image_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::image_files_testing {
namespace png_test {

TEST(Images, GrayAndColouredPixelsAreRead) {
  expect_image<std::uint8_t>("gray8.png", {9, 13});
  expect_image<std::uint16_t>("gray16.png", {9, 13}, 257);
  expect_image<std::uint8_t>("rgb8.png", {9, 13, 3});
  expect_image<std::uint16_t>("rgba16.png", {9, 13, 4});
  expect_image<std::uint8_t>("gray_alpha.png", {9, 13, 2});
  expect_image<std::uint8_t>("interlaced.png", {9, 13});
  expect_image<std::uint8_t>("gray8.pgm", {9, 13});
  expect_image<std::uint16_t>("gray16.pgm", {9, 13}, 260);
  expect_image<std::uint8_t>("decimal.pgm", {9, 13});
  expect_image<std::uint8_t>("rgb8.ppm", {9, 13, 3});
}

TEST(Images, PalettesBecomeColoursAndBitsBecomeBytes) {
  auto palette = open_file(data("palette.png")).value();
  EXPECT_EQ(palette->array().shape, (Shape{9, 13, 3}));
  const auto colours = values_of<std::uint8_t>(read_all(*palette).value());
  for (std::size_t i = 0; i < colours.size() / 3; ++i) {
    EXPECT_EQ(colours[3 * i], pattern(i));
    EXPECT_EQ(colours[3 * i + 1], 255 - pattern(i));
    EXPECT_EQ(colours[3 * i + 2], pattern(i) / 2);
  }
  auto bits = open_file(data("one_bit.png")).value();
  const auto values = values_of<std::uint8_t>(read_all(*bits).value());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], pattern(i) % 2 * 255);
}

TEST(Images, WhatIsWrittenReadsBack) {
  for (const FileFormat* format : {&kPngFiles, &kPgmFiles}) {
    const std::string suffix(format->suffixes[0]);
    expect_round_trip<std::uint8_t>(*format, "a" + suffix, {9, 13});
    expect_round_trip<std::uint16_t>(*format, "a" + suffix, {9, 13});
    expect_round_trip<std::uint16_t>(*format, "a_%03d" + suffix, {12, 9, 13});
    expect_round_trip<std::uint8_t>(*format, "folder", {12, 9, 13});
  }
  expect_round_trip<std::uint8_t>(kPngFiles, "a.png", {9, 13, 3});
  expect_round_trip<std::uint16_t>(kPngFiles, "folder", {11, 9, 13, 4});
  expect_round_trip<std::uint16_t>(kPgmFiles, "folder", {11, 9, 13, 3});
}

TEST(Images, TypesTheFormatCannotStoreAreRefused) {
  const Folder folder;
  const auto write = [&](const FileFormat& format, const std::string& name, Shape shape,
                         const DType& dtype) -> Result<void> {
    FileArray array;
    array.shape = std::move(shape);
    array.dtype = dtype;
    auto writer = format.create(folder / name, array, WriteMode{false, true});
    if (!writer) return std::move(writer).error();
    std::vector<std::byte> bytes(element_count(array.shape).value() * dtype.size());
    return (*writer)->write(0, bytes);
  };
  EXPECT_TRUE(fails(write(kPngFiles, "a.png", {2, 2}, DType::float32), ErrorCode::unsupported, "float32"));
  EXPECT_TRUE(fails(write(kPgmFiles, "a.pgm", {2, 2, 4}, DType::uint8), ErrorCode::unsupported, "4 channels"));
  EXPECT_TRUE(fails(write(kPngFiles, "a.png", {2}, DType::uint8), ErrorCode::invalid_argument, "two dimensions"));
  EXPECT_TRUE(fails(write(kPngFiles, "a.png", {2, 0}, DType::uint8), ErrorCode::invalid_argument, "no elements"));
  EXPECT_TRUE(fails(write(kPngFiles, "a.png", {5, 2, 2}, DType::uint8), ErrorCode::invalid_argument, "slice_%04d.png"));
  EXPECT_TRUE(folder.names().empty());
  save(folder / "there.png", "x");
  EXPECT_TRUE(fails(write(kPngFiles, "there.png", {2, 2}, DType::uint8), ErrorCode::conflict, "there.png"));
  EXPECT_EQ(load(folder / "there.png"), "x");
}

TEST(Images, RowsLargerThanTheLimitAreRefused) {
  ImportOptions options;
  options.create.config.limits.chunk_bytes = 12;
  EXPECT_TRUE(refuses(data("gray8.png"), ErrorCode::unsupported, "'chunk_bytes'", options));
  options.create.config.limits.chunk_bytes = 20;
  EXPECT_TRUE(refuses(data("interlaced.png"), ErrorCode::unsupported, "decoded whole", options));
}

TEST(Images, CutAndDamagedFilesAreRefused) {
  // Of a decimal image a cut inside the last number cannot be detected.
  for (const char* name : {"gray8.png", "interlaced.png", "rgba16.png", "gray8.pgm"}) expect_cuts_refused(name);
  for (const char* name : {"gray8.png", "interlaced.png", "rgba16.png", "gray8.pgm", "decimal.pgm"})
    expect_damage_survived(name);
  const Folder folder;
  std::string bytes = load(data("gray8.png"));
  bytes[bytes.size() - 20] ^= 1;
  save(folder / "a.png", bytes);
  EXPECT_TRUE(refuses(folder / "a.png", ErrorCode::corrupt, "png: "));
}

}  // namespace png_test
}  // namespace sherd::image_files_testing
