// Writing TIFF files: what is written reads back, and a writer that is abandoned leaves nothing.
#include "tests/io/tiff_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::tiff_testing {
namespace tiff_write_test {

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

}  // namespace tiff_write_test
}  // namespace sherd::tiff_testing
