// A group's appender in a dataset of NCZarr: after each flush the unlimited dimension has the length of its variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace stream_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Ints = std::vector<std::int32_t>;

/// A dataset with an unlimited dimension t, its coordinate, and variables along it, one of them in a group.
class StreamedDataset : public testing::TestWithParam<const char*> {
 protected:
  StreamedDataset() {
    Writer writer = Writer::create(store_, {.format = GetParam()}).value();
    writer.define_dimension("/", "t", 0, true).value();
    writer.define_dimension("/", "x", 2).value();
    writer.define_group("/g").value();
    writer.define_variable("/", {.name = "t", .dimensions = {"t"}, .chunks = {1}}).value();
    writer.define_variable("/", {.name = "v", .dimensions = {"t", "x"}, .chunks = {1, 2}}).value();
    writer.define_variable("/g", {.name = "w", .dimensions = {"t"}, .chunks = {1}}).value();
    const Attribute fill{"_FillValue", Ints{-7}};
    writer.define_variable("/g", {.name = "other", .dimensions = {"t"}, .attributes = {fill}, .chunks = {1}}).value();
    writer.sync().value();
  }

  Appender stream() { return open_group(store_, {.writable = true}).value().appender({{"t"}, {"v"}, {"g/w"}}).value(); }
  static void append(Appender& appender, std::int32_t first, std::uint64_t count) {
    Ints one(count), two(2 * count);
    std::iota(one.begin(), one.end(), first);
    std::iota(two.begin(), two.end(), 2 * first);
    const auto slices = StridedView<const std::int32_t>(one.data(), {count}).untyped();
    appender.append({slices, StridedView<const std::int32_t>(two.data(), {count, 2}).untyped(), slices}).value();
  }
  void expect_length(std::uint64_t length) {
    const Dataset dataset = Dataset::open(store_).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_EQ(dataset.root().dimension("t")->length, length);
    Ints one(length), two(2 * length);
    std::iota(one.begin(), one.end(), 0);
    std::iota(two.begin(), two.end(), 0);
    EXPECT_EQ(std::get<Ints>(dataset.root().variable("t")->read().value()), one);
    EXPECT_EQ(std::get<Ints>(dataset.root().variable("v")->read().value()), two);
    EXPECT_EQ(std::get<Ints>(dataset.root().variable("g/w")->read().value()), one);
    EXPECT_EQ(std::get<Ints>(dataset.root().variable("g/other")->read().value()), Ints(length, -7));
    EXPECT_THAT(sherd::check(store_).value().faults, IsEmpty());
  }

  const std::shared_ptr<Store> store_ = memory_store();
};
INSTANTIATE_TEST_SUITE_P(Formats, StreamedDataset, testing::Values("zarr2", "zarr3"));

TEST_P(StreamedDataset, HasTheLengthOfItsVariablesAfterEachFlush) {
  std::int32_t length = 0;
  for (int i = 0; i < 2; ++i) {
    Appender appender = stream();
    for (const std::uint64_t count : {1, 4, 2}) {
      append(appender, length, count);
      length += static_cast<std::int32_t>(count);
      appender.flush().value();
      expect_length(static_cast<std::uint64_t>(length));
    }
    append(appender, length++, 1);
    appender.close().value();
    expect_length(static_cast<std::uint64_t>(length));
  }
}

TEST_P(StreamedDataset, IsContinuedAfterItsArraysHaveGrownAlone) {
  {
    Appender appender = stream();
    append(appender, 0, 3);
    appender.close().value();
  }
  // As if a stream had been killed after the shape of the first array.
  Array array = open_array(store_, {.path = "g/w", .writable = true}).value();
  const Ints one{3};
  array.append(StridedView<const std::int32_t>(one.data(), {1}).untyped()).value();
  Appender appender = stream();
  EXPECT_EQ(appender.stats().length, 4U);
  EXPECT_EQ(Dataset::open(store_).value().root().dimension("t")->length, 4U);
  append(appender, 4, 1);
  appender.close().value();
  EXPECT_EQ(Dataset::open(store_).value().root().dimension("t")->length, 5U);
  EXPECT_THAT(sherd::check(store_).value().faults, IsEmpty());
}

TEST_P(StreamedDataset, ConflictsWithAnotherWriterThatMakesTheDimensionLonger) {
  sherd::OpenOptions options{.writable = true};
  options.config.lock_timeout = 0.1;
  Appender appender = open_group(store_, options).value().appender({{"t"}, {"v"}, {"g/w"}}).value();
  append(appender, 0, 1);
  appender.flush().value();
  const Ints three{1, 2, 3};
  Array other = open_array(store_, {.path = "g/other", .writable = true}).value();
  other.append(StridedView<const std::int32_t>(three.data(), {3}).untyped()).value();
  // Extending the dataset waits for the stream's own locks or, on the thread that holds them, extends its arrays.
  Result<void> flushed;
  for (std::int32_t i = 1; i <= 2 && flushed; ++i) {
    append(appender, i, 1);
    flushed = appender.flush();
  }
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code(), ErrorCode::conflict) << flushed.error().message();
}

}  // namespace stream_test
}  // namespace sherd::netcdf
