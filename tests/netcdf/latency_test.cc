// Datasets in a store whose requests have latency: the same objects are stored, and the number of round trips that a
// writer waits for does not grow with the number of variables.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace latency_test {

using Ints = std::vector<std::int32_t>;

constexpr std::chrono::milliseconds kLatency(10);
constexpr unsigned kParallel = 32;  ///< requests at a time

std::shared_ptr<Store> slow(std::shared_ptr<Store> store, std::chrono::microseconds latency = kLatency) {
  return delayed_store(std::move(store), latency, kParallel);
}

class SlowStore : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, SlowStore, testing::Values("zarr2", "zarr3"),
                         [](const auto& format) { return std::string(format.param); });

std::map<std::string, std::string> objects_of(Store& store) {
  std::map<std::string, std::string> objects;
  store
      .list("",
            [&](const std::string& key, std::uint64_t) {
              objects[key] = store.get(key).value().value();
              return true;
            })
      .value();
  return objects;
}

void make_dataset(const std::shared_ptr<Store>& store, const std::string& format) {
  Writer writer = Writer::create(store, {.format = format}).value();
  writer.set_attribute("/", {"title", std::string("records")}).value();
  writer.define_dimension("/", "t", 0, true).value();
  writer.define_dimension("/", "n", 3).value();
  writer.define_group("/g", {{"level", Ints{1}}}).value();
  writer.define_group("/g/h").value();
  const auto define = [&](const char* group, const char* name, Type type, std::vector<std::string> dimensions) {
    writer.define_variable(group, {.name = name, .type = type, .dimensions = std::move(dimensions)}).value();
  };
  define("/", "t", Type::int32, {"t"});
  define("/g", "v", Type::int32, {"t", "n"});
  define("/g/h", "words", Type::string, {"n"});
  define("/", "scalar", Type::float64, {});
  writer.write("t", {{0}, {2}}, Ints{10, 20}).value();
  writer.write("/g/v", {{0, 0}, {2, 3}}, Ints{1, 2, 3, 4, 5, 6}).value();
  writer.write("/g/h/words", {{0}, {3}}, std::vector<std::string>{"a", "", "ü"}).value();
  writer.write("scalar", {}, std::vector{2.5}).value();
  writer.sync().value();
}

void extend_dataset(const std::shared_ptr<Store>& store) {
  Writer writer = Writer::open(store).value();
  writer.set_attribute("/g/v", {"units", std::string("K")}).value();
  writer.define_variable("/g", {.name = "late", .dimensions = {"t"}}).value();
  writer.write("/g/v", {{2, 1}, {2, 2}}, Ints{7, 8, 9, 10}).value();
  writer.rename_dimension("/n", "m").value();
  writer.sync().value();
}

TEST_P(SlowStore, HasTheObjectsThatAFastOneHas) {
  const auto fast = memory_store(), behind = memory_store(), delayed = slow(behind, std::chrono::microseconds(50));
  const auto expect_same = [&] {
    EXPECT_EQ(objects_of(*behind), objects_of(*fast));
    EXPECT_EQ(text_of(Dataset::open(delayed).value()), text_of(Dataset::open(fast).value()));
  };
  for (const auto& store : {fast, delayed}) make_dataset(store, GetParam());
  expect_same();
  for (const auto& store : {fast, delayed}) extend_dataset(store);
  expect_same();
  const Dataset dataset = Dataset::open(delayed).value();
  EXPECT_TRUE(dataset.warnings().empty());
  EXPECT_EQ(dataset.root().variable("/g/v")->shape(), (Shape{4, 3}));
  EXPECT_EQ(dataset.root().variable("/g/late")->shape(), (Shape{4}));
  const std::int32_t fill = std::get<Ints>(default_fill(Type::int32)).front();
  EXPECT_EQ(dataset.root().variable("/t")->read().value(), Values(Ints{10, 20, fill, fill}));
}

/// The number of sequential requests that take as long as a call.
template <class Call>
double waits(const Call& call) {
  const auto before = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before) / kLatency;
}

struct Waits {
  double create = 0, open = 0, set = 0, grow = 0;
};

std::string variable(std::size_t number) { return "v" + std::to_string(number); }

Waits measure(const std::string& format, std::size_t variables) {
  Waits waited;
  const auto store = slow(memory_store());
  waited.create = waits([&] {
    Writer writer = Writer::create(store, {.format = format}).value();
    writer.define_dimension("/", "t", 1, true).value();
    for (std::size_t i = 0; i < variables; ++i)
      writer.define_variable("/", {.name = variable(i), .dimensions = {"t"}}).value();
    writer.sync().value();
  });
  std::optional<Writer> writer;
  waited.open = waits([&] { writer = Writer::open(store).value(); });
  waited.set = waits([&] {
    for (std::size_t i = 0; i < variables; ++i) writer->set_attribute(variable(i), {"a", Ints{1}}).value();
    writer->sync().value();
  });
  waited.grow = waits([&] {
    writer->write(variable(0), {{3}, {1}}, Ints{7}).value();
    writer->sync().value();
  });
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_EQ(dataset.root().variables().size(), variables);
  for (const Variable& each : dataset.root().variables()) EXPECT_EQ(each.shape(), Shape{4});
  return waited;
}

/// The minimum of a few attempts if a busy machine adds to the measurement.
Waits least(const Waits& a, const Waits& b) {
  return {std::min(a.create, b.create), std::min(a.open, b.open), std::min(a.set, b.set), std::min(a.grow, b.grow)};
}

TEST_P(SlowStore, IsWaitedForAsOftenForManyVariablesAsForOne) {
  const std::pair<const char*, double Waits::*> steps[] = {
      {"create", &Waits::create}, {"open", &Waits::open}, {"set", &Waits::set}, {"grow", &Waits::grow}};
  const Waits one = least(measure(GetParam(), 1), measure(GetParam(), 1));
  const auto is_alike = [&](const Waits& many, double Waits::* step) { return many.*step <= one.*step * 1.5 + 6; };
  Waits many = measure(GetParam(), 24);
  for (int more = 4; more > 0; --more)
    if (!std::ranges::all_of(steps, [&](const auto& step) { return is_alike(many, step.second); }))
      many = least(many, measure(GetParam(), 24));
  for (const auto& [name, step] : steps) {
    EXPECT_TRUE(is_alike(many, step)) << name << ": " << many.*step << " instead of " << one.*step;
    RecordProperty(name, std::to_string(one.*step) + " and " + std::to_string(many.*step));
  }
}

}  // namespace latency_test
}  // namespace sherd::netcdf
