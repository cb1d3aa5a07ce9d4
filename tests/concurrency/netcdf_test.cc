// A netCDF dataset that threads read while others write it: a reader finds the values from before or after each write.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::netcdf {
namespace netcdf_test {

constexpr std::int32_t kRounds = 16;

class SharedDataset : public testing::TestWithParam<bool> {
 protected:
  SharedDataset() : store_(GetParam() ? memory_store() : file_store(directory_.path(), quick()).value()) {}
  static Config quick() {
    Config config;
    config.durable = false;
    return config;
  }

  TempDir directory_;
  std::shared_ptr<Store> store_;
};
INSTANTIATE_TEST_SUITE_P(Stores, SharedDataset, testing::Bool());

TEST_P(SharedDataset, IsReadWhileItGrowsAndIsDefined) {
  Writer writer = Writer::create(store_).value();
  writer.define_dimension("/", "t", 0, true).value();
  writer.define_dimension("/", "x", 4).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"t", "x"}, .chunks = {1, 4}}).value();
  writer.sync().value();
  std::atomic<int> at_work{2};
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    for (std::int32_t i = 0; i < kRounds; ++i) {
      writer.write("v", {{static_cast<std::uint64_t>(i), 0}, {1, 4}}, std::vector<std::int32_t>(4, i)).value();
      writer.sync().value();
    }
    --at_work;
  });
  threads.emplace_back([&] {
    for (std::int32_t i = 0; i < kRounds; ++i) {
      const std::string name = "/g" + std::to_string(i);
      writer.define_group(name).value();
      writer.define_variable(name, {.name = "w", .dimensions = {"x"}}).value();
      writer.write(name + "/w", {{0}, {4}}, std::vector<std::int32_t>(4, i)).value();
    }
    writer.sync().value();
    --at_work;
  });
  for (int reader = 0; reader < 2; ++reader)
    threads.emplace_back([&] {
      while (at_work > 0) {
        const auto dataset = Dataset::open(store_);
        if (!dataset) continue;  // another process would read it again, too
        const auto variable = dataset->root().variable("v");
        ASSERT_TRUE(variable);
        const auto read = variable->read();
        if (!read) continue;
        const auto& values = std::get<std::vector<std::int32_t>>(*read);
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_TRUE(values[i] == static_cast<std::int32_t>(i / 4) || values[i] == -2147483647) << i;
      }
    });
  threads.clear();
  const Dataset dataset = Dataset::open(store_).value();
  EXPECT_TRUE(dataset.warnings().empty());
  EXPECT_EQ(dataset.root().dimension("t")->length, static_cast<std::uint64_t>(kRounds));
  EXPECT_EQ(dataset.root().groups().size(), static_cast<std::size_t>(kRounds));
}

TEST_P(SharedDataset, ListsEveryArrayThatOthersMakeInIt) {
  {
    Writer writer = Writer::create(store_, {.consolidated = false}).value();
    writer.define_dimension("/", "x", 4).value();
    writer.sync().value();
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      sherd::Group root = open_group(store_, {.writable = true}).value();
      for (int n = 0; n < 4; ++n) {
        const std::string name = "a" + std::to_string(4 * i + n);
        root.create_array(name, {.shape = {4}, .dtype = DType::int32, .config = quick()}).value();
        if (n % 2 == 1) root.erase(name).value();
      }
    });
  threads.clear();
  const Dataset dataset = Dataset::open(store_).value();
  EXPECT_TRUE(dataset.warnings().empty());
  EXPECT_EQ(dataset.root().variables().size(), 8U);
}

/// Writes `count` records behind the last one. After a conflict with another writer the dataset is opened again.
void append(const std::shared_ptr<Store>& store, std::int32_t first, std::int32_t count) {
  for (std::int32_t written = 0; written < count;) {
    auto writer = Writer::open(store);
    for (bool is_current = writer.has_value(); is_current && written < count;) {
      auto done = writer->write("v", {writer->shape("v").value(), {1}}, std::vector{first + written});
      if (done) ++written;
      if (done && written % 2 == 0) done = writer->sync();
      is_current = done.has_value();
      EXPECT_TRUE(is_current || done.error().code() == ErrorCode::conflict) << done.error().text();
    }
  }
}

TEST_P(SharedDataset, LosesNoRecordOfWritersThatGetConflicts) {
  {
    Writer writer = Writer::create(store_).value();
    writer.define_dimension("/", "t", 0, true).value();
    for (const char* name : {"v", "w"})
      writer.define_variable("/", {.name = name, .dimensions = {"t"}, .chunks = {4}}).value();
    writer.sync().value();
  }
  std::vector<std::jthread> threads;
  for (std::int32_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { append(store_, 100 * i, kRounds); });
  threads.clear();
  Writer::open(store_).value().sync().value();
  const Dataset dataset = Dataset::open(store_).value();
  EXPECT_TRUE(dataset.warnings().empty());
  const auto found = std::get<std::vector<std::int32_t>>(dataset.root().variable("v")->read().value());
  for (std::int32_t i = 0; i < 3; ++i)
    for (std::int32_t n = 0; n < kRounds; ++n) EXPECT_GE(std::ranges::count(found, 100 * i + n), 1) << i << " " << n;
  for (const Variable& each : dataset.root().variables()) EXPECT_EQ(each.shape(), Shape{found.size()});
}

}  // namespace netcdf_test
}  // namespace sherd::netcdf
