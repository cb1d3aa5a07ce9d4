// Edits of metadata documents. A store without locks is one where a look costs a round trip: there an edit begins with
// the version that the handle knows, and reads only if that is not the stored one.
#include "node/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace document_test {

using testing::ElementsAre;

class EditedDocuments : public testing::Test {
 protected:
  EditedDocuments() { hooked_->has.locks = false; }

  Array create(const std::string& format) {
    return create_array(hooked_, "a", {.shape = {1}, .dtype = DType::uint8, .chunks = {1}, .format = format}).value();
  }
  Json stored() { return open_array(store_, {.path = "a"}).value().attributes(); }

  const std::shared_ptr<Store> store_ = memory_store();
  const std::shared_ptr<TestStore> hooked_ = std::make_shared<TestStore>(store_);
};

TEST_F(EditedDocuments, AreNotReadIfTheyAreAsTheHandleKnowsThem) {
  Array array = create("zarr3");
  hooked_->forget();
  array.update_attributes(Json::Object{{"x", 1}}).value();
  EXPECT_THAT(hooked_->log(Op::commit), ElementsAre("a/zarr.json"));
  EXPECT_EQ(hooked_->count(Op::open, "a/zarr.json"), 0U);
  array.update_attributes(Json::Object{{"y", 2}}).value();
  EXPECT_EQ(stored(), (Json::Object{{"x", 1}, {"y", 2}}));
}

TEST_F(EditedDocuments, KeepWhatAnotherHandleHasChanged) {
  Array array = create("zarr3");
  open_array(store_, {.path = "a", .writable = true}).value().update_attributes(Json::Object{{"x", 1}}).value();
  array.update_attributes(Json::Object{{"y", 2}}).value();
  EXPECT_EQ(stored(), (Json::Object{{"x", 1}, {"y", 2}}));
}

TEST_F(EditedDocuments, AreReadBeforeAnEditThatWouldChangeNothing) {
  Array array = create("zarr3");
  Array other = open_array(store_, {.path = "a", .writable = true}).value();
  other.update_attributes(Json::Object{{"x", 1}}).value();
  array.set_attributes(Json::Object{}).value();  // what the handle knows
  EXPECT_EQ(stored(), Json(Json::Object{}));
}

class ErasedDocuments : public EditedDocuments, public testing::WithParamInterface<std::string> {};

TEST_P(ErasedDocuments, StayErased) {
  Array array = create(GetParam());
  erase(store_, {.path = "a", .writable = true}).value();
  EXPECT_EQ(array.update_attributes(Json::Object{{"x", 1}}).error().code(), ErrorCode::conflict);
  EXPECT_FALSE(store_->open("a/zarr.json").value());
  EXPECT_FALSE(store_->open("a/.zattrs").value());
}

INSTANTIATE_TEST_SUITE_P(Formats, ErasedDocuments, testing::Values("zarr3", "zarr2"),
                         [](const auto& format) { return format.param; });

TEST_F(EditedDocuments, AreReadWhereThereAreSeveral) {
  Array array = create("zarr2");
  hooked_->forget();
  array.update_attributes(Json::Object{{"x", 1}}).value();
  EXPECT_EQ(hooked_->count(Op::open, "a/.zarray"), 1U);
  EXPECT_EQ(stored(), Json(Json::Object{{"x", 1}}));
}

TEST_F(EditedDocuments, OfGroupsAreNotReadEither) {
  Group group = create_group(hooked_, "g").value();
  hooked_->forget();
  group.update_attributes(Json::Object{{"x", 1}}).value();
  EXPECT_EQ(hooked_->count(Op::open, "g/zarr.json"), 0U);
  EXPECT_EQ(open_group(store_, {.path = "g"}).value().attributes(), Json(Json::Object{{"x", 1}}));
}

TEST_F(EditedDocuments, OfRowsThatAnotherHandleAppendedAreNotWrittenAgain) {
  Array array = create("zarr3");
  Array other = open_array(hooked_, {.path = "a", .writable = true}).value();
  const std::uint8_t mine = 1, others = 2;
  const auto append = [](Array& to, const std::uint8_t& value) {
    return to.append(StridedView<const std::uint8_t>(&value, {1}).untyped()).value();
  };
  EXPECT_EQ(append(other, others), Shape{1});
  EXPECT_EQ(append(array, mine), Shape{2});
  std::vector<std::uint8_t> rows(3);
  open_array(store_, {.path = "a"}).value().read(Box{{0}, {3}}, std::span(rows)).value();
  EXPECT_THAT(rows, ElementsAre(0, others, mine));
}

TEST_F(EditedDocuments, AreReadUnderTheirLockWhereThereAreLocks) {
  hooked_->has.locks = true;
  Array array = create("zarr3");
  hooked_->forget();
  array.update_attributes(Json::Object{{"x", 1}}).value();
  EXPECT_GE(hooked_->count(Op::open, "a/zarr.json"), 1U);
}

}  // namespace document_test
}  // namespace sherd
