// Writing datasets: elements, attributes and unlimited dimensions, and what is read back.
#include "tests/netcdf/writer_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::writer_testing {
namespace writer_test {

using testing::IsEmpty;

TEST(Unlimited, KeepsElementsThatAnotherWriterHasAdded) {
  const auto store = memory_store();
  Writer one = Writer::create(store, {.format = "zarr3"}).value();
  one.define_dimension("/", "t", 0, true).value();
  one.define_variable("/", {.name = "v", .type = Type::int32, .dimensions = {"t"}, .chunks = {1}}).value();
  one.write("v", {{0}, {2}}, std::vector<std::int32_t>{1, 2}).value();
  one.sync().value();
  Writer other = Writer::open(store).value();
  other.write("v", {{2}, {6}}, std::vector<std::int32_t>{3, 4, 5, 6, 7, 8}).value();
  const auto refused = one.write("v", {{2}, {1}}, std::vector<std::int32_t>{99});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  other.sync().value();
  EXPECT_EQ(Dataset::open(store).value().root().variable("v")->read().value(),
            Values(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Unlimited, GrowsWithAllVariablesThatHaveIt) {
  for (const char* format : {"zarr2", "zarr3"}) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = format}).value();
    writer.define_dimension("/", "t", 0, true).value();
    writer.define_dimension("/", "x", 2).value();
    writer.define_variable("/", {.name = "a", .type = Type::int32, .dimensions = {"t", "x"}}).value();
    writer.define_variable("/", {.name = "b", .type = Type::int16, .dimensions = {"t"}}).value();
    writer
        .define_variable("/", {.name = "c",
                               .type = Type::string,
                               .dimensions = {"t"},
                               .attributes = {{"_FillValue", std::vector<std::string>{"none"}}}})
        .value();
    EXPECT_EQ(writer.shape("a").value(), (Shape{0, 2}));
    writer.write("a", {{0, 0}, {1, 2}}, std::vector<std::int32_t>{1, 2}).value();
    EXPECT_EQ(writer.shape("/a").value(), (Shape{1, 2}));
    EXPECT_EQ(writer.shape("none").error().code(), ErrorCode::not_found);
    writer.write("b", {{2}, {1}}, std::vector<std::int16_t>{7}).value();
    writer.sync().value();
    const Group root = Dataset::open(store).value().root();
    EXPECT_EQ(root.dimension("t")->length, 3U);
    EXPECT_EQ(root.variable("a")->read().value(),
              Values(std::vector<std::int32_t>{1, 2, -2147483647, -2147483647, -2147483647, -2147483647}));
    EXPECT_EQ(root.variable("b")->read().value(), Values(std::vector<std::int16_t>{-32767, -32767, 7}));
    EXPECT_EQ(root.variable("c")->read().value(), Values(std::vector<std::string>{"none", "none", "none"}));
  }
}

TEST(FillValue, OfTheArrayIsWhatElementsReadAsThatWereNeverWritten) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.format = "zarr3"}).value();
  writer.define_dimension("/", "x", 2).value();
  NewVariable variable{.name = "v", .dimensions = {"x"}, .array_fill = std::vector<std::int32_t>{7}};
  writer.define_variable("/", variable).value();
  writer.write("v", {{1}, {1}}, std::vector<std::int32_t>{1}).value();
  writer.sync().value();
  const Variable found = *Dataset::open(store).value().root().variable("v");
  EXPECT_EQ(found.read().value(), Values(std::vector<std::int32_t>{7, 1}));
  EXPECT_EQ(found.attribute("_FillValue"), nullptr);
  variable.name = "w";
  for (const Values& wrong : {Values(std::vector<std::int32_t>{1, 2}), Values(std::vector<float>{1})}) {
    variable.array_fill = wrong;
    EXPECT_EQ(writer.define_variable("/", variable).error().code(), ErrorCode::invalid_argument);
  }
  variable.array_fill = std::vector<std::int32_t>{7};
  Writer other = Writer::create(memory_store(), {.format = "zarr2"}).value();
  other.define_dimension("/", "x", 2).value();
  EXPECT_EQ(other.define_variable("/", variable).error().code(), ErrorCode::invalid_argument);
}

TEST(FillValue, OfTextIsInElementsThatWereNeverWritten) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 3).value();
  writer
      .define_variable(
          "/", {.name = "c", .type = Type::character, .dimensions = {"x"}, .attributes = {text("_FillValue", "*")}})
      .value();
  writer.write("c", {{1}, {1}}, std::string("a")).value();
  writer.sync().value();
  EXPECT_EQ(Dataset::open(store).value().root().variable("c")->read().value(), Values("*a*"));
}

TEST(Attributes, AreReplacedAndStoredBySync) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_variable("/", {.name = "v", .attributes = {text("a", "a long text"), text("b", "b")}}).value();
  writer.sync().value();
  writer.set_attribute("v", text("a", "x")).value();
  writer.set_attribute("/", {"n", std::vector<std::int64_t>{1, 2}}).value();
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_EQ(*dataset.root().variable("v")->attribute("a"), Values("x"));
  EXPECT_EQ(*dataset.root().variable("v")->attribute("b"), Values("b"));
  EXPECT_EQ(*dataset.root().attribute("n"), Values(std::vector<std::int64_t>{1, 2}));
  EXPECT_THAT(dataset.warnings(), IsEmpty());
}

TEST(Writes, ThatDoNotFitAreRefused) {
  Writer writer = Writer::create(memory_store()).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  writer
      .define_variable("/", {.name = "s",
                             .type = Type::string,
                             .dimensions = {"x"},
                             .attributes = {{"_nczarr_maxstrlen", std::vector<std::int32_t>{4}}}})
      .value();
  const auto code = [&](const char* name, const Box& box, const Values& values) {
    return writer.write(name, box, values).error().code();
  };
  const std::vector<std::int32_t> one{1};
  EXPECT_EQ(code("w", {{0}, {1}}, one), ErrorCode::not_found);
  EXPECT_EQ(code("v", {{2}, {1}}, one), ErrorCode::invalid_argument);
  EXPECT_EQ(code("v", {{0}, {2}}, one), ErrorCode::invalid_argument);
  EXPECT_EQ(code("v", {{0, 0}, {1, 1}}, one), ErrorCode::invalid_argument);
  EXPECT_EQ(code("v", {{0}, {1}}, std::vector<double>{1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("s", {{0}, {1}}, std::vector<std::string>{"12345"}), ErrorCode::invalid_argument);
}

TEST(Unlimited, KeepsItsLengthAfterARefusedWrite) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "t", 1, true).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .type = Type::int32, .dimensions = {"t", "x"}}).value();
  writer.define_variable("/", {.name = "w", .type = Type::int32, .dimensions = {"t"}}).value();
  const auto code = [&](const char* name, const Box& box, std::size_t count) {
    return writer.write(name, box, std::vector<std::int32_t>(count)).error().code();
  };
  EXPECT_EQ(code("v", {{0, 0}, {5, 3}}, 15), ErrorCode::invalid_argument);
  EXPECT_EQ(code("w", {{std::uint64_t{1} << 62U}, {1}}, 1), ErrorCode::invalid_argument);
  EXPECT_EQ(code("w", {{~std::uint64_t{0}}, {1}}, 1), ErrorCode::invalid_argument);
  writer.write("w", {{0}, {1}}, std::vector<std::int32_t>{7}).value();
  writer.sync().value();
  const Group root = Dataset::open(store).value().root();
  EXPECT_EQ(root.dimension("t")->length, 1U);
  EXPECT_EQ(root.variable("v")->array().shape(), (Shape{1, 2}));
  EXPECT_EQ(root.variable("w")->read().value(), Values(std::vector<std::int32_t>{7}));
}

TEST(Unlimited, KeepsItsLengthIfAnotherVariableCannotGrow) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "t", 1, true).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "a", .type = Type::int32, .dimensions = {"t"}}).value();
  writer.define_variable("/", {.name = "b", .type = Type::int32, .dimensions = {"t", "x"}}).value();
  writer.sync().value();
  const std::string document = *store->get("b/.zarray").value();
  store->set("b/.zarray", "damaged").value();
  const std::vector<std::int32_t> one{7};
  EXPECT_FALSE(writer.write("a", {{4}, {1}}, one).has_value());
  store->set("b/.zarray", document).value();
  {
    const Group root = Dataset::open(store).value().root();
    EXPECT_EQ(root.variable("a")->array().shape(), Shape{1});
  }
  writer.write("a", {{2}, {1}}, one).value();
  writer.sync().value();
  const Group root = Dataset::open(store).value().root();
  EXPECT_EQ(root.dimension("t")->length, 3U);
  EXPECT_EQ(root.variable("a")->array().shape(), Shape{3});
  EXPECT_EQ(root.variable("b")->array().shape(), (Shape{3, 2}));
}

TEST(Attributes, OfTextStayTextInPureMode) {
  for (const char* format : {"zarr2", "zarr3"}) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = format, .mode = {.pure = true}}).value();
    writer.set_attribute("/", text("list", "[1,2]")).value();
    writer.sync().value();
    const Dataset dataset = Dataset::open(store, {.mode = {.pure = true}}).value();
    EXPECT_EQ(*dataset.root().attribute("list"), Values("[1,2]")) << format;
  }
}

TEST(Threads, WriteOneDatasetTogether) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "t", 0, true).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"t"}, .chunks = {4}}).value();
  std::vector<std::jthread> threads;
  for (std::int32_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::int32_t i = thread; i < 32; i += 4)
        writer.write("v", {{static_cast<std::uint64_t>(i)}, {1}}, std::vector<std::int32_t>{i}).value();
    });
  threads.clear();
  writer.sync().value();
  std::vector<std::int32_t> expected(32);
  for (std::int32_t i = 0; i < 32; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(Dataset::open(store).value().root().variable("v")->read().value(), Values(expected));
}

}  // namespace writer_test
}  // namespace sherd::netcdf::writer_testing
