// Elements are read as values of netCDF: chunks that are short, orders, and boxes that do not fit.
#include "tests/netcdf/damaged_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::damaged_testing {
namespace read_test {

TEST(FortranOrder, IsReadInItsOrder) {
  std::string document = zarray("[2, 2]", "|u1");
  document.replace(document.find("\"C\""), 3, "\"F\"");
  const Dataset dataset = open_texts({kGroup, {"v/.zarray", document}, {"v/0.0", "\1\2\3\4"}}).value();
  EXPECT_EQ(dataset.root().variable("v")->read().value(), Values(std::vector<std::uint8_t>{1, 3, 2, 4}));
}

TEST(ShortChunk, IsCorruptWhenItIsRead) {
  const Dataset dataset = open_texts({kGroup, {"v/.zarray", zarray("[2]", "<i4")}, {"v/0", "abc"}}).value();
  EXPECT_EQ(dataset.root().variable("v")->read().error().code(), ErrorCode::corrupt);
}

TEST(Read, OfMoreThanMemoryHoldsIsUnavailable) {
  for (const char* dtype : {"<f8", "<f2", "|S16"}) {
    const Dataset dataset = open_texts({kGroup, {"v/.zarray", sparse("140737488355328", dtype)}}).value();
    EXPECT_EQ(dataset.root().variable("v")->read().error().code(), ErrorCode::unavailable) << dtype;
  }
}

TEST(Blocks, AreBoundedInBytes) {
  Config config;
  config.limits.element_bytes = 100'000'000;
  const auto store = store_of({kGroup,
                               {"large/.zarray", sparse("1048576", "|S65536")},
                               {"largest/.zarray", sparse("2", "|S100000000")},
                               {"numbers/.zarray", sparse("1048576", "<f8")},
                               {"rows/.zarray", sparse("64, 1024", "|S65536", "1, 16")}});
  const Dataset dataset = Dataset::open(store, {.config = config}).value();
  ASSERT_THAT(dataset.warnings(), testing::IsEmpty());
  const auto block = [&](const char* name) {
    ElementStream elements(*dataset.root().variable(name));
    elements.seek(0).value();
    return elements.available();
  };
  EXPECT_EQ(block("large"), 1024U);
  EXPECT_EQ(block("largest"), 1U);
  EXPECT_EQ(block("numbers"), 1048576U);
  EXPECT_EQ(block("rows"), 1024U);
}

TEST(Read, OfABoxBeyondTheVariableIsRefused) {
  const Dataset dataset = open_texts({kGroup, kGood}).value();
  const Variable variable = *dataset.root().variable("good");
  for (const Box& box : {Box{{0}, {3}}, Box{{3}, {0}}, Box{{~0ULL}, {2}}, Box{{0, 0}, {1, 1}}, Box{{}, {}}})
    EXPECT_EQ(variable.read(box).error().code(), ErrorCode::invalid_argument);
}

}  // namespace read_test
}  // namespace sherd::netcdf::damaged_testing
