// TIFF files, for their tests.
#pragma once

#include "tests/io/files_testing.hpp"

namespace sherd::tiff_testing {

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

}  // namespace sherd::tiff_testing
