// Handles of arrays that are made when they are first used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace lazy_array_test {

const std::pair<std::string, std::string> kGroup{".zgroup", R"({"zarr_format": 2})"};

std::string array_of(int length, const std::string& chunk, const std::string& dtype = "|i1") {
  return R"({"zarr_format": 2, "shape": [)" + std::to_string(length) + R"(], "chunks": [)" + chunk +
         R"(], "dtype": ")" + dtype + R"(", "fill_value": 7, "order": "C", "compressor": null, "filters": null})";
}

/// Variables v0, v1 and so on with one chunk of two bytes, which are their numbers, and an attribute with the same.
Texts alike(int count) {
  Texts texts{kGroup};
  for (int i = 0; i < count; ++i) {
    const std::string prefix = "v" + std::to_string(i) + "/";
    texts.emplace_back(prefix + ".zarray", array_of(2, "2"));
    texts.emplace_back(prefix + ".zattrs", R"({"number": )" + std::to_string(i) + "}");
    texts.emplace_back(prefix + "0", std::string(2, static_cast<char>(i)));
  }
  return texts;
}

Variable variable(const Dataset& dataset, int number) {
  return dataset.root().variable("v" + std::to_string(number)).value();
}

TEST(LazyArrays, BelongToTheirVariables) {
  constexpr int kCount = 40;
  const Dataset dataset = open_texts(alike(kCount)).value();
  for (int i = 0; i < kCount; ++i) {
    const Variable each = variable(dataset, i);
    const auto number = static_cast<std::int8_t>(i);
    EXPECT_EQ(each.read().value(), Values(std::vector<std::int8_t>(2, number)));
    EXPECT_EQ(each.array().path(), "v" + std::to_string(i));
    EXPECT_EQ(each.array().attributes().find("number")->as_int(), i);
    EXPECT_EQ(each.storage().chunks, Shape{2});
  }
}

TEST(LazyArrays, HaveTheirOwnShapesTypesAndFillValues) {
  Texts texts{kGroup};
  for (int i = 0; i < 20; ++i)
    texts.emplace_back("v" + std::to_string(i) + "/.zarray",
                       array_of(i, std::to_string(i % 10 + 1), i % 2 == 0 ? "|i1" : "<i2"));
  const Dataset dataset = open_texts(texts).value();
  for (int i = 0; i < 20; ++i) {
    const Variable each = variable(dataset, i);
    const auto length = static_cast<std::size_t>(i);
    const auto chunk = static_cast<std::uint64_t>(i % 10 + 1);
    EXPECT_EQ(each.storage().chunks, Shape{chunk});
    EXPECT_EQ(each.array().chunks(), Shape{chunk});
    EXPECT_EQ(each.array().shape(), Shape{length});
    EXPECT_EQ(each.read().value(),
              i % 2 == 0 ? Values(std::vector<std::int8_t>(length, 7)) : Values(std::vector<std::int16_t>(length, 7)));
  }
}

TEST(LazyArrays, AreAsTheyWereWhenTheDatasetWasOpened) {
  const auto store = store_of(alike(3));
  const Dataset dataset = Dataset::open(store).value();
  for (int i = 0; i < 3; ++i) {
    Array other = open_array(store, {.path = "v" + std::to_string(i), .writable = true}).value();
    other.set_attributes(Json(Json::Object{{"number", "another"}})).value();
    EXPECT_EQ(variable(dataset, i).array().attributes().find("number")->as_int(), i);
  }
}

TEST(LazyArrays, AreMadeOnce) {
  const Dataset dataset = open_texts(alike(9)).value();
  std::array<std::vector<const Array*>, 4> found;
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (auto& list : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 9; ++i) list.push_back(&variable(dataset, i).array());
    });
  for (std::thread& each : threads) each.join();
  for (const auto& list : found) EXPECT_EQ(list, found.front());
}

/// The array v in a store with consolidated metadata.
std::shared_ptr<Store> consolidated(const std::string& format) {
  const auto store = memory_store();
  create_group(store, "", {}, false, {}, format).value();
  const sherd::CreateOptions options{.shape = {4}, .dtype = DType::int32, .chunks = {2}};
  const std::vector<std::int32_t> values{1, 2, 3, 4};
  create_array(store, "v", options).value().write(Box{{0}, {4}}, std::span(values)).value();
  open_group(store, {.writable = true}).value().consolidate().value();
  return store;
}

class ConsolidatedVariable : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Formats, ConsolidatedVariable, testing::Values("zarr2", "zarr3"),
                         [](const auto& format) { return format.param; });

TEST_P(ConsolidatedVariable, WhoseArrayIsGoneIsAConflictAndNotFillValues) {
  const auto store = consolidated(GetParam());
  const Variable variable = Dataset::open(store).value().root().variable("v").value();
  EXPECT_EQ(variable.read().value(), Values(std::vector<std::int32_t>{1, 2, 3, 4}));
  store->erase_prefix("v/").value();
  EXPECT_EQ(variable.read().error().code(), ErrorCode::conflict);
}

TEST_P(ConsolidatedVariable, OfOtherChunksIsAConflictAndNotDamage) {
  const auto store = consolidated(GetParam());
  const Variable variable = Dataset::open(store).value().root().variable("v").value();
  const std::vector<std::int32_t> values{5, 6, 7, 8};
  const Array other =
      create_array(store, "v", {.shape = {4}, .dtype = DType::int32, .chunks = {4}, .overwrite = true}).value();
  other.write(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_EQ(variable.read().error().code(), ErrorCode::conflict);
}

TEST_P(ConsolidatedVariable, ReadsAsTheFillValueWhereNothingWasWritten) {
  const auto store = consolidated(GetParam());
  const Variable variable = Dataset::open(store).value().root().variable("v").value();
  store->erase(GetParam() == "zarr2" ? "v/0" : "v/c/0").value();
  EXPECT_EQ(variable.read().value(), Values(std::vector<std::int32_t>{0, 0, 3, 4}));
  EXPECT_EQ(variable.read().value(), Values(std::vector<std::int32_t>{0, 0, 3, 4}));
}

}  // namespace lazy_array_test
}  // namespace sherd::netcdf
