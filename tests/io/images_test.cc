// Stacks of images: which files are one, in which order, and that a stack appears whole.
#include "tests/io/image_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::image_files_testing {
namespace images_test {

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

}  // namespace images_test
}  // namespace sherd::image_files_testing
