// Export: the order of a file's dimensions, within any memory budget.
#include "sherd/group.hpp"
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace export_test {

using namespace files_testing;

Array make(const Folder& folder, Shape shape, std::vector<std::optional<std::string>> names) {
  CreateOptions options;
  options.shape = std::move(shape);
  options.dtype = DType::uint16;
  options.chunks = Shape(options.shape.size(), 3);
  options.dimension_names = std::move(names);
  options.overwrite = true;
  options.config.durable = false;
  Array array = create_array(folder / "a.zarr", options).value();
  const auto values = pattern_of<std::uint16_t>(element_count(options.shape).value());
  array.write(Box{Shape(options.shape.size(), 0), options.shape}, std::span(values)).value();
  return array;
}

TEST(Export, WritesTheSameFileWithinAnyBudget) {
  const Folder folder;
  const Array array = make(folder, {7, 5, 4, 2, 3}, {"x", "y", "z", "channel", "time"});
  for (const std::string name : {"a.nii", "a.nii.gz", "a.tif", "a.npy"}) {
    export_file(array, folder / name).value();
    const std::string whole = load(folder / name);
    Config config = array.config();
    for (const std::uint64_t budget : {1u, 300u, 2000u}) {
      config.memory_budget = budget;
      export_file(array.with_config(config), folder / name).value();
      EXPECT_EQ(load(folder / name), whole) << name << " within " << budget;
    }
  }
}

TEST(Export, PutsXFirstIntoNiftiForAnyOrderOfTheArray) {
  const Folder folder;
  export_file(make(folder, {7, 5, 4}, {"x", "y", "z"}), folder / "a.nii").value();
  auto reader = open_file(folder / "a.nii").value();
  EXPECT_EQ(reader->array().shape, (Shape{4, 5, 7}));
  const auto values = values_of<std::uint16_t>(read_all(*reader).value());
  for (std::uint64_t x = 0; x < 7; ++x)
    for (std::uint64_t y = 0; y < 5; ++y)
      for (std::uint64_t z = 0; z < 4; ++z) ASSERT_EQ(values[(z * 5 + y) * 7 + x], pattern((x * 5 + y) * 4 + z));
}

TEST(Export, KeepsTheOrderOfDimensionsWithoutNames) {
  const Folder folder;
  export_file(make(folder, {7, 5, 4}, {std::nullopt, std::nullopt, std::nullopt}), folder / "a.nii").value();
  auto reader = open_file(folder / "a.nii").value();
  EXPECT_EQ(reader->array().shape, (Shape{7, 5, 4}));
  expect_pattern<std::uint16_t>(*reader);
}

}  // namespace export_test
}  // namespace sherd
