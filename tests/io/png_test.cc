// PNG, PGM and PPM images: every kind of pixel, stacks in natural order, and what is written reads back.
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace {

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

TEST(Images, ADirectoryIsAStackInNaturalOrder) {
  ImportOptions options;
  options.from = "png";
  for (const char* source : {"stack", "stack/slice_*.png", "stack/slice_%d.png", "stack/slice_[0-9]*"}) {
    SCOPED_TRACE(source);
    auto reader = open_file(data(source), options);
    ASSERT_TRUE(reader) << reader.error().text();
    EXPECT_EQ((*reader)->array().shape, (Shape{11, 9, 13}));
    expect_pattern<std::uint8_t>(**reader);
  }
}

TEST(Images, APatternOfFixedWidthMatchesNoOtherFiles) {
  const Folder folder;
  const std::string image = load(data("gray8.png"));
  for (const char* name : {"a_08.png", "a_09.png", "a_10.png", "a_7.png", "a_100.png", "a_x1.png"})
    save(folder / name, image);
  const auto listed = list_images(folder / "a_%02d.png", kPngFiles.suffixes).value().value();
  EXPECT_EQ(listed, (std::vector<std::string>{folder / "a_08.png", folder / "a_09.png", folder / "a_10.png",
                                              folder / "a_100.png"}));
  EXPECT_TRUE(fails(list_images(folder / "b_*.png", kPngFiles.suffixes), ErrorCode::not_found, "b_*.png"));
}

TEST(Images, AStackOfOneFileIsStillAStack) {
  const Folder folder;
  save(folder / "only.png", load(data("gray8.png")));
  auto reader = open_file(folder / "*.png").value();
  EXPECT_EQ(reader->array().shape, (Shape{1, 9, 13}));
}

TEST(Images, AFileWhoseNameLooksLikeAPatternIsThatFile) {
  const Folder folder;
  save(folder / "a[1].png", load(data("gray8.png")));
  EXPECT_EQ(open_file(folder / "a[1].png").value()->array().shape, (Shape{9, 13}));
}

TEST(Images, APlaneOfAnotherKindIsFoundBeforeAnythingIsCreated) {
  const Folder folder;
  save(folder / "1.png", load(data("gray8.png")));
  save(folder / "2.png", load(data("gray8.png")));
  save(folder / "3.png", load(data("gray16.png")));
  EXPECT_TRUE(fails(open_file(folder / "*.png"), ErrorCode::invalid_argument, "3.png': is 13x9 uint16, but the first"));
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

TEST(Images, FilesOfAStackAreNumberedWithLeadingZeros) {
  const Folder folder;
  FileArray array;
  array.shape = {11, 1, 2};
  auto writer = kPngFiles.create(folder / "out", array, WriteMode{}).value();
  const auto values = pattern_of<std::uint8_t>(22);
  ASSERT_TRUE(writer->write(0, std::as_bytes(std::span(values))));
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(std::filesystem::exists(folder / "out/00.png"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/10.png"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/11.png"));
}

// Planes of 1x2 pixels; stops before the end where not all of them are written.
Result<void> write_stack(const std::string& destination, std::uint64_t planes, std::uint64_t written, WriteMode mode) {
  FileArray array;
  array.shape = {planes, 1, 2};
  auto writer = kPngFiles.create(destination, array, mode);
  if (!writer) return std::move(writer).error();
  const auto values = pattern_of<std::uint8_t>(2 * written);
  auto put = (*writer)->write(0, std::as_bytes(std::span(values)));
  return put ? (*writer)->finish() : put;
}

std::vector<std::string> all_below(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Images, OverwritingALongerStackLeavesNoneOfItsPlanes) {
  for (const std::string& name : {std::string(), std::string("/slice_%03d.png")}) {
    const Folder folder;
    std::filesystem::create_directory(folder / "out");
    ASSERT_TRUE(write_stack(folder / ("out" + name), 12, 12, {}));
    save(folder / "out/notes.txt", "mine");
    EXPECT_EQ(all_below(folder / "out").size(), 13U);
    const bool numbered = !name.empty();
    const auto is_private = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    std::filesystem::permissions(folder / (numbered ? "out/slice_000.png" : "out/00.png"), is_private);
    ASSERT_TRUE(write_stack(folder / ("out" + name), 3, 3, {}));
    EXPECT_EQ(all_below(folder / "out"),
              numbered ? (std::vector<std::string>{"notes.txt", "slice_000.png", "slice_001.png", "slice_002.png"})
                       : (std::vector<std::string>{"0.png", "1.png", "2.png", "notes.txt"}));
    if (numbered) {
      EXPECT_EQ(std::filesystem::status(folder / "out/slice_000.png").permissions(), is_private);
    }
    const auto before = all_below(folder / "out");
    for (const std::uint64_t planes : {1, 2, 5})
      EXPECT_TRUE(fails(write_stack(folder / ("out" + name), planes, planes, {.overwrite = false}), ErrorCode::conflict,
                        "exists already"));
    EXPECT_EQ(all_below(folder / "out"), before);
  }
}

TEST(Images, AnIncompleteStackKeepsTheExistingFiles) {
  const Folder folder;
  EXPECT_TRUE(fails(write_stack(folder / "out", 5, 2, {}), ErrorCode::invalid_argument, "2 of 5 planes"));
  EXPECT_TRUE(folder.names().empty());
  ASSERT_TRUE(write_stack(folder / "out", 2, 2, {}));
  const std::string before = load(folder / "out/1.png");
  for (const std::string& destination : {folder / "out", folder / "out/%d.png"}) {
    EXPECT_FALSE(write_stack(destination, 5, 4, {}));
    EXPECT_EQ(all_below(folder / "out"), (std::vector<std::string>{"0.png", "1.png"}));
    EXPECT_EQ(load(folder / "out/1.png"), before);
  }
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

TEST(Images, AnInconsistentPixmapIsRefusedBeforeAnythingIsCreated) {
  const Folder folder;
  const std::pair<const char*, const char*> lies[] = {{"P5 2000000000 2000000000 255\nx", "truncated"},
                                                      {"P5 4 4 255\nx", "truncated"},
                                                      {"P5 0 4 255\n", "no pixels"},
                                                      {"P5 99999999999999999999 4 255\n", "a number is expected"},
                                                      {"P5 -1 4 255\n", "a number is expected"},
                                                      {"P5 1 1 65536\nxx", "65536"},
                                                      {"P5 1 1 0\nxx", "1 to 65535"},
                                                      {"P2 2 1 100\n5 101\n", "exceeds the maximum, 100"},
                                                      {"P2 2 1 100\n5 x\n", "a number is expected at byte"},
                                                      {"P2 2 1 100\n   5\n", "a number is expected at byte"},
                                                      {"P5", "a number is expected"}};
  for (const auto& [bytes, text] : lies) {
    save(folder / "lie.pgm", bytes);
    EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::corrupt, text)) << bytes;
  }
  save(folder / "lie.pgm", "P4 8 1\nx");
  EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::unsupported, "P2, P3, P5 or P6"));
  save(folder / "lie.pgm", "P5 1 1 255\nxP5 1 1 255\nx");
  EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::unsupported, "follow the image"));
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

}  // namespace
}  // namespace sherd
