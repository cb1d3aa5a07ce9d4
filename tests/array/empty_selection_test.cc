// Selections without elements, of arrays that are very long in another dimension.
#include <gtest/gtest.h>

#include "tests/array/nodes_testing.hpp"

namespace sherd {
namespace empty_selection_test {

constexpr std::uint64_t kLong = std::uint64_t{1} << 40;

class EmptySelection : public testing::TestWithParam<Shape> {
 protected:
  EmptySelection() {
    CreateOptions options{.shape = {5, kLong}, .dtype = DType::uint8, .chunks = {1, 4}, .shards = GetParam()};
    array_ = create_array(store_, "", options).value();
  }
  std::shared_ptr<Store> store_ = memory_store();
  std::optional<Array> array_;
};

TEST_P(EmptySelection, IsReadAndWrittenForNothing) {
  std::uint8_t none = 0;
  const Range all{0, kLong, 1}, some{0, kLong / 2, 2}, few{0, 5, 1};
  const Selection selections[] = {
      Selection::orthogonal({Range{0, 0, 1}, all}), Selection::orthogonal({Range{0, 0, 1}, some}),
      Selection::orthogonal({Indices{}, all}), Selection::orthogonal({few, Range{0, 0, 1}})};
  for (const Selection& selection : selections) {
    const Shape shape = selection.shape();
    EXPECT_TRUE(array_->read(selection, AnyView{reinterpret_cast<std::byte*>(&none), DType::uint8, shape, {0, 0}}));
    EXPECT_TRUE(
        array_->write(selection, ConstAnyView{reinterpret_cast<std::byte*>(&none), DType::uint8, shape, {0, 0}}));
  }
  EXPECT_EQ(array_->stored().value().objects, 0U);
}

TEST_P(EmptySelection, IsStillCheckedAgainstTheArray) {
  std::uint8_t none = 0;
  const Selection beyond = Selection::orthogonal({Range{0, 0, 1}, Range{kLong, 1, 1}});
  const ConstAnyView view{reinterpret_cast<std::byte*>(&none), DType::uint8, {0, 1}, {0, 0}};
  EXPECT_EQ(code_of(array_->write(beyond, view)), ErrorCode::invalid_argument);
  const Selection nothing = Selection::orthogonal({Range{0, 0, 1}, Range{0, 1, 1}});
  const Array reading = open_array(store_, {}).value();
  EXPECT_EQ(code_of(reading.write(nothing, view)), ErrorCode::invalid_argument) << "it was opened for reading";
}

INSTANTIATE_TEST_SUITE_P(Of, EmptySelection, testing::Values(Shape{}, Shape{5, 8}),
                         [](const auto& shards) { return shards.param.empty() ? "Chunks" : "Shards"; });

}  // namespace empty_selection_test
}  // namespace sherd
