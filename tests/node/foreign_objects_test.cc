// Objects below a node that belong to no node: an array owns its documents and what is named like its chunks, a group
// owns its documents and those of its members.
#include "node/foreign_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/location.hpp"
#include "node/claim.hpp"
#include "sherd/sherd.hpp"

namespace sherd {
namespace foreign_objects_test {

class ForeignObjectsOf : public testing::TestWithParam<const char*> {
 protected:
  ForeignObjectsOf() {
    create_group(store_, "", {}, false, {}, GetParam()).value();
    create_group(store_, "g").value();
    const CreateOptions options{
        .shape = {4, 4}, .dtype = DType::uint8, .chunks = {2, 2}, .contents = [](const Array& array) {
          return array.fill(Box{{0, 0}, {4, 4}}, std::vector{std::byte{1}});
        }};
    create_array(store_, "g/a", options).value();
  }
  [[nodiscard]] bool is_v2() const { return std::string_view(GetParam()) == "zarr2"; }
  [[nodiscard]] std::string chunk(const std::string& numbers) const { return (is_v2() ? "g/a/" : "g/a/c/") + numbers; }
  [[nodiscard]] NodeLocation location(const std::string& path) const {
    return new_location(store_, path, GetParam(), {}).value();
  }
  /// The key in the error, or empty.
  [[nodiscard]] std::string refused(const std::string& path) const {
    const auto outcome = refuse_foreign_objects(location(path));
    if (!outcome) {
      EXPECT_EQ(outcome.error().code(), ErrorCode::conflict) << outcome.error().text();
    }
    return outcome ? "" : outcome.error().key();
  }

  const std::shared_ptr<Store> store_ = memory_store();
};
INSTANTIATE_TEST_SUITE_P(Formats, ForeignObjectsOf, testing::Values("zarr2", "zarr3"),
                         [](const auto& format) { return std::string(format.param); });

TEST_P(ForeignObjectsOf, AreNoneInWhatSherdWrote) {
  for (const char* path : {"", "g", "g/a"}) {
    EXPECT_EQ(foreign_objects(location(path)).value().count, 0U) << path;
    EXPECT_EQ(refused(path), "") << path;
  }
}

TEST_P(ForeignObjectsOf, AreCountedAtTheNodeAndAboveIt) {
  store_->set("g/a/notes.txt", "mine").value();
  store_->set("g/a/x/y", "mine").value();
  for (const char* path : {"g", "g/a"}) {
    const ForeignObjects found = foreign_objects(location(path)).value();
    EXPECT_EQ(found.count, 2U) << path;
    EXPECT_EQ(found.first, "g/a/notes.txt") << path;
    EXPECT_EQ(refused(path), "g/a/notes.txt") << path;
  }
}

TEST_P(ForeignObjectsOf, AreNotWhatIsNamedLikeAChunkEvenBeyondTheEnd) {
  store_->set(chunk("9/9"), "beyond").value();
  EXPECT_EQ(refused("g/a"), "");
  store_->set(chunk("0/01"), "two spellings").value();
  EXPECT_EQ(refused("g/a"), chunk("0/01"));
}

TEST_P(ForeignObjectsOf, AreNotObjectsNamedLikeChunksWhereThereIsNoNode) {
  store_->set(is_v2() ? "new/0.0" : "new/c/0/0", "left by an erased array").value();
  EXPECT_EQ(refused("new"), "");
  store_->set("new/readme.md", "mine").value();
  EXPECT_EQ(refused("new"), "new/readme.md");
}

TEST_P(ForeignObjectsOf, AreAllObjectsOfAnArrayWhoseDocumentCannotBeRead) {
  store_->set(is_v2() ? "g/a/.zarray" : "g/a/zarr.json", "{").value();
  EXPECT_NE(refused("g/a"), "");
  EXPECT_NE(refused("g"), "");
}

TEST_P(ForeignObjectsOf, AreNotFilesOfSherd) {
  store_->set(staging_name("g/b") + "/claim", "").value();
  EXPECT_EQ(refused(""), "");
}

}  // namespace foreign_objects_test
}  // namespace sherd
