// Small datasets, written and read back, for the tests of writers.
#pragma once

#include "sherd/netcdf_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sherd/group.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf::writer_testing {

inline Attribute text(const char* name, const char* value) { return {name, std::string(value)}; }

/// A dataset with every type, a scalar, a group, an unlimited dimension and attributes.
inline void write_all(Writer& writer, bool unlimited) {
  writer.set_attribute("/", text("title", "größe")).value();
  writer.define_dimension("/", "t", 2, unlimited).value();
  writer.define_dimension("/", "n", 3).value();
  writer.define_group("/g", {{"about", std::vector<double>{0.12345678901234}}}).value();
  writer.define_dimension("/g", "n", 2).value();
  const auto numbers = [&]<class T>(const char* name, Type type, std::vector<T> values) {
    writer.define_variable("/", {.name = name, .type = type, .dimensions = {"n"}}).value();
    writer.write(name, {{0}, {3}}, values).value();
  };
  numbers("int8", Type::int8, std::vector<std::int8_t>{-1, 0, 127});
  numbers("int16", Type::int16, std::vector<std::int16_t>{-32768, 0, 1});
  numbers("int32", Type::int32, std::vector<std::int32_t>{-5, 0, 1});
  numbers("int64", Type::int64, std::vector<std::int64_t>{-5, 0, 9007199254740993});
  numbers("uint8", Type::uint8, std::vector<std::uint8_t>{0, 1, 255});
  numbers("uint16", Type::uint16, std::vector<std::uint16_t>{0, 1, 65535});
  numbers("uint32", Type::uint32, std::vector<std::uint32_t>{0, 1, 4294967295U});
  numbers("uint64", Type::uint64, std::vector<std::uint64_t>{0, 1, 18446744073709551615U});
  numbers("float32", Type::float32, std::vector<float>{0.5F, 0.1F, 1e30F});
  numbers("float64", Type::float64, std::vector<double>{0.5, 0.1, 1e300});
  numbers("texts", Type::string, std::vector<std::string>{"one", "", "größe"});
  writer.define_variable("/", {.name = "letters", .type = Type::character, .dimensions = {"t", "n"}}).value();
  writer.write("letters", {{0, 0}, {2, 3}}, std::string("abcde\0", 6)).value();
  writer.define_variable("/", {.name = "scalar", .type = Type::float64, .attributes = {text("units", "K")}}).value();
  writer.write("scalar", {}, std::vector<double>{3.5}).value();
  writer
      .define_variable("/g", {.name = "packed",
                              .type = Type::int16,
                              .dimensions = {"t", "n"},
                              .chunks = {1, 2},
                              .deflate_level = 5,
                              .shuffle = true})
      .value();
  writer.write("/g/packed", {{0, 0}, {2, 2}}, std::vector<std::int16_t>{1, 2, 3, 4}).value();
  writer.define_variable("/g", {.name = "big", .type = Type::int32, .dimensions = {"/n"}, .big_endian = true}).value();
  writer.write("/g/big", {{0}, {3}}, std::vector<std::int32_t>{1, 2, 3}).value();
  writer.sync().value();
}

inline std::string written(const NewDataset& options, bool unlimited) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, options).value();
  write_all(writer, unlimited);
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), testing::IsEmpty());
  return text_of(dataset);
}

}  // namespace sherd::netcdf::writer_testing
