// Image files, for their tests.
#pragma once

#include "tests/io/files_testing.hpp"

namespace sherd::image_files_testing {

using namespace files_testing;

template <class T>
void expect_image(const std::string& name, const Shape& shape, T factor = T(1)) {
  SCOPED_TRACE(name);
  auto reader = open_file(data(name));
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ((*reader)->array().shape, shape);
  EXPECT_EQ((*reader)->array().dtype, DType::of<T>());
  EXPECT_EQ((*reader)->array().dimension_names.size(), shape.size());
  expect_pattern<T>(**reader, factor);
}

template <class T>
void expect_round_trip(const FileFormat& format, const std::string& name, Shape shape) {
  SCOPED_TRACE(format.name);
  const Folder folder;
  FileArray array;
  array.shape = std::move(shape);
  array.dtype = DType::of<T>();
  const auto values = pattern_of<T>(element_count(array.shape).value(), static_cast<T>(sizeof(T) == 1 ? 1 : 257));
  auto writer = format.create(folder / name, array, WriteMode{});
  ASSERT_TRUE(writer) << writer.error().text();
  const auto bytes = std::as_bytes(std::span(values));
  for (std::size_t at = 0; at < bytes.size(); at += 16 * sizeof(T))
    ASSERT_TRUE((*writer)->write(at / sizeof(T), bytes.subspan(at, std::min(bytes.size() - at, 16 * sizeof(T)))));
  ASSERT_TRUE((*writer)->finish());
  ImportOptions options;
  options.from = format.name;
  auto reader = open_file(folder / name, options);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ((*reader)->array().shape, array.shape);
  EXPECT_EQ(values_of<T>(read_all(**reader).value()), values);
}

// Planes of 1x2 pixels; stops before the end where not all of them are written.
inline Result<void> write_stack(const std::string& destination, std::uint64_t planes, std::uint64_t written,
                                WriteMode mode) {
  FileArray array;
  array.shape = {planes, 1, 2};
  auto writer = kPngFiles.create(destination, array, mode);
  if (!writer) return std::move(writer).error();
  const auto values = pattern_of<std::uint8_t>(2 * written);
  auto put = (*writer)->write(0, std::as_bytes(std::span(values)));
  return put ? (*writer)->finish() : put;
}

inline std::vector<std::string> all_below(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sherd::image_files_testing
