// Files of skeletons and meshes, into and out of a collection.
#include "copy/object_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/io/object_files_testing.hpp"

namespace sherd::object_files_testing {
namespace object_files_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ObjectFile, OfATransformedCollectionIsInNanometres) {
  const TempDir dir;
  const std::string url = dir.path() + "/bones", file = dir.path() + "/7.swc";
  neuroglancer::SkeletonInfo info;
  info.transform = {0, 8, 0, 100, 8, 0, 0, 0, 0, 0, -40, 5};
  info.vertex_attributes = {swc_attributes()[0]};
  const auto bones = neuroglancer::Collection::create(url, info).value();
  Skeleton skeleton;
  skeleton.vertices = {{1, 2, 3}, {4, 5, 6}};
  skeleton.edges = {{0, 1}};
  skeleton.attributes = {{DType::float32, 1, std::vector<std::byte>(8)}};
  bones.write_skeleton(7, skeleton).value();
  EXPECT_THAT(export_object(url, file, {.id = 7, .unit = "nm"}).value().low, ElementsAre(116, 8, -235));
  EXPECT_EQ(import_object(file, url, {.unit = "nm"}).error().code(), ErrorCode::conflict);
  ASSERT_TRUE(bones.erase(7).value());
  EXPECT_EQ(import_object(file, url, {.unit = "nm"}).value().id, 7);
  const Skeleton again = bones.read_skeleton(7).value().value();
  EXPECT_EQ(again.vertices, skeleton.vertices);
}

class ObjectFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name, std::string_view text) const {
    const std::string path = dir_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(dir_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const TempDir dir_;
  const std::string url_ = dir_.path() + "/collection";
};

TEST_F(ObjectFiles, MakeACollectionOfTheirKind) {
  const auto tree = import_object(file("7_axon.swc", kTree), url_, {.unit = "um"}).value();
  EXPECT_EQ(tree.id, 7U);
  EXPECT_TRUE(tree.created && tree.is_skeleton);
  EXPECT_EQ(tree.vertices, 4U);
  EXPECT_EQ(tree.parts, 2U);
  EXPECT_THAT(tree.low, ElementsAre(0, 0, -300'000));  // nanometres
  EXPECT_FALSE(import_object(file("8.swc", kTree), url_, {.unit = "um"}).value().created);
  const auto mesh = import_object(file("9.obj", print_obj(kPyramid).value()), url_ + "2", {.unit = "nm"}).value();
  EXPECT_TRUE(mesh.created && !mesh.is_skeleton);
  EXPECT_EQ(mesh.parts, 3U);
}

TEST_F(ObjectFiles, ReadBackInTheUnitThatWasGiven) {
  import_object(file("1.obj", print_obj(kPyramid).value()), url_, {.unit = "um"}).value();
  for (const char* name : {"out.obj", "out.ply"}) {
    const auto report = export_object(url_, dir_.path() + "/" + name, {.id = 1, .unit = "um"}).value();
    EXPECT_EQ(report.vertices, 5U);
    EXPECT_EQ(report.parts, 3U);
  }
  EXPECT_EQ(parse_obj(read("out.obj")).value(), kPyramid);
  const std::string ply = read("out.ply");
  EXPECT_EQ(parse_ply(as_bytes(ply)).value(), kPyramid);
}

TEST_F(ObjectFiles, NeedAnIdThatTheNameOrTheCallerGives) {
  EXPECT_EQ(import_object(file("axon.swc", kTree), url_, {.unit = "nm"}).error().member(), "id");
  EXPECT_EQ(import_object(file("5x.swc", kTree), url_, {.unit = "nm"}).error().member(), "id");
  EXPECT_EQ(import_object(file("5.swc", kTree), url_, {.id = 6, .unit = "nm"}).value().id, 6U);
  EXPECT_EQ(export_object(url_, dir_.path() + "/out.swc", {.unit = "nm"}).error().member(), "id");
  EXPECT_EQ(export_object(url_, dir_.path() + "/out.swc", {.id = 5, .unit = "nm"}).error().code(),
            ErrorCode::not_found);
}

TEST_F(ObjectFiles, KeepWhatExistsUnlessOverwritten) {
  const std::string tree = file("7.swc", kTree);
  import_object(tree, url_, {.unit = "nm"}).value();
  EXPECT_EQ(import_object(tree, url_, {.unit = "nm"}).error().code(), ErrorCode::conflict);
  import_object(tree, url_, {.unit = "nm", .overwrite = true}).value();
  const std::string kept = file("kept.swc", "mine");
  EXPECT_EQ(export_object(url_, kept, {.id = 7, .unit = "nm"}).error().code(), ErrorCode::conflict);
  EXPECT_EQ(read("kept.swc"), "mine");
}

TEST_F(ObjectFiles, AreRefusedWhereTheyDoNotBelong) {
  import_object(file("7.swc", kTree), url_, {.unit = "nm"}).value();
  EXPECT_THAT(import_object(file("8.obj", print_obj(kPyramid).value()), url_, {.unit = "nm"}).error().text(),
              HasSubstr("does not hold meshes"));
  EXPECT_FALSE(export_object(url_, dir_.path() + "/7.ply", {.id = 7, .unit = "nm"}));
  EXPECT_EQ(import_object(file("1.swc", "# nothing\n"), url_, {.unit = "nm"}).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(import_object(file("1.swc", kTree), url_, {.unit = "second"}).error().member(), "unit");
  EXPECT_FALSE(import_object(file("1.txt", kTree), url_, {.unit = "nm"}));
  const auto large = import_object(file("2.swc", "1 1 3e38 0 0 1 -1\n"), url_, {.unit = "um"});
  EXPECT_THAT(large.error().text(), HasSubstr("does not fit in float32"));
}

}  // namespace object_files_test
}  // namespace sherd::object_files_testing
