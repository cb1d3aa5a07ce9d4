// Pictures: which plane, which range, and that memory does not change what is drawn.
#include <cmath>

#include "sherd/group.hpp"
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace picture_test {

using namespace files_testing;

template <class T>
Array make(const Folder& folder, Shape shape, const std::vector<T>& values,
           std::optional<std::vector<std::optional<std::string>>> names = {}) {
  CreateOptions options;
  options.shape = std::move(shape);
  options.dtype = DType::of<T>();
  options.chunks = Shape(options.shape.size(), 2);
  options.dimension_names = std::move(names);
  options.overwrite = true;
  options.config.durable = false;
  Array array = create_array(folder / "a.zarr", options).value();
  const auto bytes = reinterpret_cast<const std::byte*>(values.data());
  array
      .write(Box{Shape(options.shape.size(), 0), options.shape},
             ConstAnyView::dense(bytes, options.dtype, options.shape))
      .value();
  return array;
}

std::pair<Shape, std::vector<std::uint8_t>> draw(const Folder& folder, const Array& array,
                                                 const PictureOptions& options = {}) {
  picture(array, folder / "a.png", options).value();
  auto reader = open_file(folder / "a.png").value();
  EXPECT_EQ(reader->array().dtype, DType::uint8);
  return {reader->array().shape, values_of<std::uint8_t>(read_all(*reader).value())};
}

using Pixels = std::vector<std::uint8_t>;

std::vector<std::optional<std::string>> names(const std::string& letters) {
  std::vector<std::optional<std::string>> result;
  for (const char letter : letters) result.emplace_back(std::string(1, letter));
  return result;
}

TEST(Picture, CutsAcrossTheAxisAtTheIndex) {
  const Folder folder;
  std::vector<std::uint8_t> values(2 * 3 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(10 * i);
  const Array array = make(folder, {2, 3, 4}, values);
  const auto plane = [&](std::size_t axis, std::uint64_t index) {
    return draw(folder, array, {.axis = axis, .index = index, .range = std::pair(0.0, 255.0)});
  };
  EXPECT_EQ(plane(0, 1),
            std::pair(Shape({3, 4}), Pixels({120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230})));
  EXPECT_EQ(plane(1, 2), std::pair(Shape({2, 4}), Pixels({80, 90, 100, 110, 200, 210, 220, 230})));
  EXPECT_EQ(plane(2, 3), std::pair(Shape({2, 3}), Pixels({30, 70, 110, 150, 190, 230})));
}

TEST(Picture, ScalesTheRangeOfThePlaneFromBlackToWhite) {
  const Folder folder;
  EXPECT_EQ(draw(folder, make<std::int16_t>(folder, {2, 2}, {-100, 0, 100, 0})).second, Pixels({0, 128, 255, 128}));
  EXPECT_EQ(draw(folder, make<float>(folder, {2, 3}, {NAN, 1, 2, INFINITY, -INFINITY, 1})).second,
            Pixels({0, 0, 255, 255, 0, 0}));
  const std::uint64_t large = 1ull << 62;
  EXPECT_EQ(draw(folder, make<std::uint64_t>(folder, {2, 2}, {large, 2 * large, large, large})).second,
            Pixels({0, 255, 0, 0}));
  EXPECT_EQ(draw(folder, make<std::uint16_t>(folder, {2, 2}, {7, 7, 7, 7})).second, Pixels({0, 0, 0, 0}));
  EXPECT_EQ(draw(folder, make<float>(folder, {2, 2}, {NAN, NAN, NAN, NAN})).second, Pixels({0, 0, 0, 0}));
}

TEST(Picture, ClipsToTheGivenRangeWhichMayBeReversed) {
  const Folder folder;
  const Array array = make<std::int32_t>(folder, {2, 2}, {-5, 0, 50, 500});
  EXPECT_EQ(draw(folder, array, {.range = std::pair(0.0, 100.0)}).second, Pixels({0, 0, 128, 255}));
  EXPECT_EQ(draw(folder, array, {.range = std::pair(100.0, 0.0)}).second, Pixels({255, 255, 128, 0}));
}

TEST(Picture, RefusesARangeThatIsNotFinite) {
  const Folder folder;
  const Array array = make<std::int32_t>(folder, {2, 2}, {-5, 0, 50, 500});
  for (const auto& range : {std::pair(NAN, 5.0F), std::pair(0.0F, NAN), std::pair(0.0F, INFINITY)})
    EXPECT_TRUE(fails(picture(array, folder / "a.png", {.range = range}), ErrorCode::invalid_argument, "two finite"));
}

TEST(Picture, RefusesElementsThatAreNotRealNumbers) {
  const Folder folder;
  for (const DType& dtype : {DType::string, DType::complex64}) {
    const CreateOptions options{.shape = {3, 3}, .dtype = dtype, .overwrite = true};
    const Array array = create_array(folder / "a.zarr", options).value();
    EXPECT_TRUE(fails(picture(array, folder / "a.png"), ErrorCode::unsupported, "'" + dtype.name() + "'"));
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.zarr"});
}

TEST(Picture, DrawsFlagsAsBlackAndWhite) {
  const Folder folder;
  CreateOptions options{.shape = {2, 2}, .dtype = DType::bool_};
  Array array = create_array(folder / "b.zarr", options).value();
  const bool values[] = {true, true, true, true};
  array.write(Box{{0, 0}, {2, 2}}, std::span<const bool>(values)).value();
  EXPECT_EQ(draw(folder, array).second, Pixels({255, 255, 255, 255}));
}

TEST(Picture, KeepsColoursAsTheyAre) {
  const Folder folder;
  const auto values = pattern_of<std::uint8_t>(2 * 3 * 4 * 3);
  const Array array = make(folder, {2, 3, 4, 3}, values, std::vector<std::optional<std::string>>{"z", "y", "x", "c"});
  const auto [shape, pixels] = draw(folder, array, {.index = 1});
  EXPECT_EQ(shape, (Shape{3, 4, 3}));
  EXPECT_EQ(pixels, Pixels(values.begin() + 36, values.end()));
}

TEST(Picture, IsTheSameWithinAnyBudget) {
  const Folder folder;
  std::vector<float> values(3 * 37 * 41);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(pattern(i)) - 100;
  const Array array = make(folder, {3, 37, 41}, values);
  const auto whole = draw(folder, array, {.index = 2});
  Config config = array.config();
  for (const std::uint64_t budget : {1u, 500u, 3000u}) {
    config.memory_budget = budget;
    EXPECT_EQ(draw(folder, array.with_config(config), {.index = 2}), whole) << budget;
  }
}

TEST(Picture, ShowsRowsAlongYAndColumnsAlongX) {
  const Folder folder;
  const auto range = std::pair(0.0, 255.0);
  const auto values = pattern_of<std::uint8_t>(2 * 3 * 4);
  const Array array = make(folder, {2, 3, 4}, values, names("xyz"));
  Pixels expected;
  for (std::size_t y = 0; y < 3; ++y)
    for (std::size_t x = 0; x < 2; ++x) expected.push_back(values[(x * 3 + y) * 4 + 3]);
  const auto plane = std::pair(Shape({3, 2}), expected);
  EXPECT_EQ(draw(folder, array, {.axis = "z", .index = 3, .range = range}), plane);
  EXPECT_EQ(draw(folder, array, {.axis = 2, .index = -1, .range = range}), plane);
  EXPECT_EQ(draw(folder, array, {.range = range, .at = {{"z", -1}}}), plane);
  EXPECT_EQ(draw(folder, array, {.axis = "x", .range = range}).first, (Shape{4, 3}));
}

TEST(Picture, IsNeverOnePixelWideOrHigh) {
  const Folder folder;
  const auto refused = [&](Shape shape, const std::string& axes, const PictureOptions& options, std::string_view text) {
    const Array array = make(folder, shape, std::vector<std::uint8_t>(*element_count(shape)),
                             axes.empty() ? std::nullopt : std::optional(names(axes)));
    return fails(picture(array, folder / "a.png", options), ErrorCode::invalid_argument, text);
  };
  const std::string no_others = "no two axes of shape";
  EXPECT_TRUE(refused({100, 1}, "", {}, "axis 1 has length 1, so the picture would be one pixel wide; " + no_others));
  EXPECT_TRUE(refused({1, 100}, "", {}, "axis 0 has length 1, so the picture would be one pixel high; " + no_others));
  EXPECT_TRUE(refused({100, 1}, "yx", {}, "axis x has length 1, so the picture would be one pixel wide; " + no_others));
  EXPECT_TRUE(refused({1, 1}, "", {}, no_others));
  EXPECT_TRUE(refused({1, 100, 3}, "yxc", {}, "axis y has length 1"));
  EXPECT_TRUE(refused({9, 1, 8}, "zyx", {}, "cut across it (--axis y) or fix it (--at y=0) to draw another axis"));
  EXPECT_TRUE(refused({9, 8}, "", {.width = 1}, "width: must be from 2 to 65535 pixels, not 1"));
  EXPECT_TRUE(refused({9, 90}, "", {.width = 4}, "width: is 4, which makes the picture one pixel high"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.zarr"});
  const Array flat = make(folder, {9, 1, 8}, std::vector<std::uint8_t>(72), names("zyx"));
  EXPECT_EQ(draw(folder, flat, {.axis = "y"}).first, (Shape{9, 8}));
  EXPECT_EQ(draw(folder, flat, {.at = {{"y", 0}}}).first, (Shape{9, 8}));
}

TEST(Picture, IgnoresAnUnnamedDimensionOfLengthOne) {
  const Folder folder;
  const Array array = make(folder, {3, 4, 1}, pattern_of<std::uint8_t>(12));
  EXPECT_EQ(draw(folder, array, {.range = std::pair(0.0, 255.0)}),
            std::pair(Shape({3, 4}), pattern_of<std::uint8_t>(12)));
}

TEST(Picture, HasTheRequestedWidth) {
  const Folder folder;
  const Array array = make<std::uint8_t>(folder, {2, 2}, {10, 20, 30, 40});
  EXPECT_EQ(draw(folder, array, {.range = std::pair(0.0, 255.0), .width = 4}),
            std::pair(Shape({4, 4}), Pixels({10, 10, 20, 20, 10, 10, 20, 20, 30, 30, 40, 40, 30, 30, 40, 40})));
}

TEST(Picture, HasAtMostThePixelsOfTheLimitOrOfThePlane) {
  const Folder folder;
  const auto refused = [&](const Array& array, std::uint64_t width, std::string_view text) {
    return fails(picture(array, folder / "a.png", {.width = width}), ErrorCode::invalid_argument, text);
  };
  const Array small = make<std::uint8_t>(folder, {2, 2}, {10, 20, 30, 40});
  EXPECT_TRUE(refused(small, 0, "width: must be from 2 to 65535 pixels, not 0"));
  EXPECT_TRUE(refused(small, 65536, "width: must be from 2 to 65535 pixels, not 65536"));
  const auto empty = [&](Shape shape) {
    return create_array(folder / "a.zarr", {.shape = std::move(shape), .dtype = DType::uint8, .overwrite = true})
        .value();
  };
  EXPECT_EQ(draw(folder, empty({2, 60000}), {.width = 65535}).first, (Shape{2, 65535}));
  EXPECT_TRUE(refused(empty({2, 70000}), 70001, "from 2 to 70000 pixels"));
  EXPECT_EQ(draw(folder, empty({2, 70000}), {.width = 70000}).first, (Shape{2, 70000}));
  EXPECT_TRUE(refused(empty({70000, 2}), 3, "higher than 70000 pixels"));
}

TEST(Picture, DrawsNoAxisThatHasAnIndex) {
  const Folder folder;
  const Array array = make(folder, {3, 2, 4, 5}, pattern_of<std::uint8_t>(120), names("tzyx"));
  EXPECT_TRUE(fails(picture(array, folder / "a.png", {.axis = "y", .at = {{"z", 1}}}), ErrorCode::invalid_argument,
                    "at: is an index on axis z, which is drawn: a picture across y shows x and z"));
  EXPECT_EQ(draw(folder, array, {.at = {{"y", 1}, {"z", 1}}}).first, (Shape{3, 5}));
  EXPECT_EQ(draw(folder, array, {.axis = "y", .at = {{"t", 1}}}).first, (Shape{2, 5}));
}

TEST(Picture, AddsChannelsInTheirColoursWithinAnyBudget) {
  const Folder folder;
  const auto values = pattern_of<std::uint16_t>(2 * 30 * 17);
  const Array array = make(folder, {2, 30, 17}, values, names("cyx"));
  const auto whole = draw(folder, array, {.range = std::pair(0.0, 255.0)});
  EXPECT_EQ(whole.first, (Shape{30, 17, 3}));
  for (std::size_t i = 0; i < 30 * 17; ++i) {
    ASSERT_EQ(whole.second[3 * i], values[i]);
    ASSERT_EQ(whole.second[3 * i + 1], values[30 * 17 + i]);
    ASSERT_EQ(whole.second[3 * i + 2], 0);
  }
  Config config = array.config();
  config.memory_budget = 500;
  EXPECT_EQ(draw(folder, array.with_config(config), {.range = std::pair(0.0, 255.0)}), whole);
}

TEST(Picture, RefusesArraysWithoutAPlane) {
  const Folder folder;
  const auto refused = [&](const Array& array, const PictureOptions& options, std::string_view text) {
    return fails(picture(array, folder / "a.png", options), ErrorCode::invalid_argument, text);
  };
  const Array cube = make(folder, {2, 2, 2}, std::vector<std::uint8_t>(8));
  EXPECT_TRUE(refused(cube, {.axis = 3}, "axis: is 3"));
  EXPECT_TRUE(refused(cube, {.index = 2}, "index: is 2"));
  EXPECT_TRUE(refused(make(folder, {4}, std::vector<std::uint8_t>(4)), {}, "two dimensions"));
  EXPECT_TRUE(refused(make(folder, {0, 4}, std::vector<std::uint8_t>()), {}, "no elements"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.zarr"});
}

}  // namespace picture_test
}  // namespace sherd
